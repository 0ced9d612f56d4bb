"""Share links without their secrets, for callers who may write in the wiki."""

from typing import Any

from sqlalchemy import ColumnElement, FromClause, Select, case, func, select

from selection.declare.mapping import OuterRow

from ...tables import pages, share_links
from ..references import foreign_row
from ..review.proposals import may_write
from . import owners

page = foreign_row(pages, "page_id")


def listed(page_id: Any = None) -> Select[Any]:
    """Select the links of a wiki, including expired and withdrawn ones, the newest first."""
    link = share_links.alias()
    query = select(link).where(may_write(link.c.owner_id)).order_by(link.c.id.desc())
    return query if page_id is None else query.where(link.c.page_id == page_id)


def by_ids(ids: FromClause) -> Select[Any]:
    link = share_links.alias()
    return select(link).join(ids, link.c.id == ids.c.id).where(may_write(link.c.owner_id))


def author_name(link: OuterRow) -> ColumnElement[Any]:
    return owners.author_name(link.c.author_id)


def is_open(link: OuterRow) -> ColumnElement[Any]:
    """Return whether the link is neither withdrawn nor expired."""
    return case((link.c.withdrawn_at.is_not(None), False), else_=link.c.expires_at > func.now())
