"""What a search found, as pages."""

from typing import Any

from sqlalchemy import ARRAY, ColumnElement, FromClause, Select, Text, cast, literal, select

from selection import in_tenant
from selection.rows import OuterRow

from ..tables import pages


def hits(found: FromClause) -> Select[Any]:
    """In the order of the search; a page that has gone meanwhile is left out, and so is one of another wiki."""
    page = pages.alias()
    still = (
        select(found.c.page_id, found.c.score, found.c.matched_alias, found.c.ordinality, page.c.owner_id)
        .join(page, page.c.id == found.c.page_id)
        .where(page.c.status == "active")
    )
    hit = in_tenant(still).subquery()
    return select(hit).order_by(hit.c.ordinality)


def page(hit: OuterRow) -> Select[Any]:
    found = pages.alias()
    return select(found).where(found.c.id == hit.c.page_id)


def no_memories(hit: OuterRow) -> ColumnElement[Any]:
    return cast(literal("{}"), ARRAY(Text))
