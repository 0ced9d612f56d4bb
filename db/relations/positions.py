"""The changes of a wiki in their order: of each page the last."""

from typing import Any

from sqlalchemy import ColumnElement, Select, func, literal_column, select

from selection import in_tenant
from selection.declare.rows import OuterRow

from ..tables import page_positions, pages
from .references import referred

page = referred(pages, "page_id")


def changes() -> Select[Any]:
    position = page_positions.alias()
    return select(position).order_by(position.c.position)


def state(position: OuterRow) -> ColumnElement[Any]:
    """What became of the page; one without a row is gone for good."""
    changed = pages.alias()
    status = in_tenant(select(changed.c.status).where(changed.c.id == position.c.page_id)).scalar_subquery()
    return func.coalesce(status, literal_column("'deleted'"))
