"""What a search found, as pages."""

from typing import Any

from sqlalchemy import ARRAY, ColumnElement, FromClause, Select, Text, cast, literal, select

from selection import in_tenant
from selection.rows import OuterRow

from ..tables import pages
from .references import referred

page = referred(pages, "page_id")


def hits(found: FromClause) -> Select[Any]:
    """In the order of the search; a page that has gone meanwhile has no owner, so that nobody may see it.

    Not a join: how many were found is unknown to a plan, and it would rather read all pages of the wiki.
    """
    hit_page = pages.alias()
    here = select(hit_page.c.owner_id).where(hit_page.c.id == OuterRow(found).c.page_id, hit_page.c.status == "active")
    columns = (found.c.page_id, found.c.score, found.c.matched_alias, found.c.ordinality)
    hit = select(*columns, in_tenant(here).scalar_subquery().label("owner_id")).subquery()
    return select(hit).order_by(hit.c.ordinality)


def no_memories(hit: OuterRow) -> ColumnElement[Any]:
    return cast(literal("{}"), ARRAY(Text))
