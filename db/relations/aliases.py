"""The other names of a page."""

from typing import Any

from sqlalchemy import Select, select

from selection.declare.rows import OuterRow

from ..tables import aliases, pages
from .references import referred

page = referred(pages, "page_id")


def texts(page: OuterRow) -> Select[Any]:
    alias = aliases.alias()
    return select(alias.c.alias).where(alias.c.page_id == page.c.id).order_by(alias.c.alias)


def of_page(page: OuterRow) -> Select[Any]:
    alias = aliases.alias()
    return select(alias).where(alias.c.page_id == page.c.id).order_by(alias.c.alias, alias.c.id)
