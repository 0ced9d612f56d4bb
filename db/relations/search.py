"""What a search found, as pages."""

from typing import Any

from sqlalchemy import ARRAY, ColumnElement, FromClause, Select, Text, cast, literal, select

from selection import in_tenant
from selection.rows import OuterRow

from ..tables import pages
from .references import referred

page = referred(pages, "page_id")


def hits(found: FromClause) -> Select[Any]:
    """In the order of the search; a page that has gone meanwhile is left out, and so is one of another wiki."""
    hit_page = pages.alias()
    still = (
        select(found.c.page_id, found.c.score, found.c.matched_alias, found.c.ordinality, hit_page.c.owner_id)
        .join(hit_page, hit_page.c.id == found.c.page_id)
        .where(hit_page.c.status == "active")
    )
    hit = in_tenant(still).subquery()
    return select(hit).order_by(hit.c.ordinality)


def no_memories(hit: OuterRow) -> ColumnElement[Any]:
    return cast(literal("{}"), ARRAY(Text))
