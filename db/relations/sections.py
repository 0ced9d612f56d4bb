"""Sections of pages."""

from typing import Any

from sqlalchemy import ColumnElement, Select, func, select, tuple_

from selection import in_tenant
from selection.declare.mapping import OuterRow

from ..tables import pages, section_sources, sections, sources
from .references import foreign_row

page = foreign_row(pages, "page_id")


def of_page(page: OuterRow) -> Select[Any]:
    section = sections.alias()
    return select(section).where(section.c.page_id == page.c.id).order_by(section.c.position, section.c.id)


def by_slug(page: OuterRow, slug: Any) -> Select[Any]:
    section = sections.alias()
    return select(section).where(section.c.page_id == page.c.id, section.c.section_slug == slug)


def count(page: OuterRow) -> ColumnElement[Any]:
    section = sections.alias()
    return in_tenant(select(func.count()).select_from(section).where(section.c.page_id == page.c.id)).scalar_subquery()


def promoted_page(section: OuterRow) -> Select[Any]:
    grown = pages.alias()
    return select(grown).where(grown.c.id == section.c.promoted_page_id, grown.c.status == "active")


def source_count(section: OuterRow) -> ColumnElement[Any]:
    """Return the number of sources that the section cites. Several versions of a source count once."""
    cited, source = section_sources.alias(), sources.alias()
    query = (
        select(func.count(func.distinct(tuple_(source.c.kind, source.c.ref))))
        .join(cited, cited.c.source_id == source.c.id)
        .where(cited.c.section_id == section.c.id)
    )
    return in_tenant(query).scalar_subquery()
