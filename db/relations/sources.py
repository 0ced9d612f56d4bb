"""Evidence: sources, what cites them, and what each text was written from."""

from typing import Any

from sqlalchemy import ColumnElement, FromClause, Select, any_, func, select

from selection import in_tenant
from selection.rows import OuterRow

from ..tables import pages, section_sources, sections, sources
from .references import found, referred

# -- where reads start

by_ids = found(sources)


def listed(kinds: Any = None) -> Select[Any]:
    """Every version of every source, newest evidence first."""
    source = sources.alias()
    query = select(source).order_by(source.c.captured_at.desc(), source.c.id.desc())
    return query if kinds is None else query.where(source.c.kind == any_(kinds))


def by_ref(kind: Any, ref: Any, version: Any = None) -> Select[Any]:
    """The version asked for, or the newest."""
    source = sources.alias()
    query = select(source).where(source.c.kind == kind, source.c.ref == ref)
    if version is not None:
        query = query.where(source.c.version == version)
    return query.order_by(source.c.version.desc()).limit(1)


# -- of a source

supersedes = referred(sources, "supersedes_id")


def checksum(source: OuterRow) -> ColumnElement[Any]:
    return func.encode(source.c.checksum, "hex")


def superseded_by(source: OuterRow) -> Select[Any]:
    newer = sources.alias()
    return select(newer).where(newer.c.supersedes_id == source.c.id).order_by(newer.c.id).limit(1)


def citations(source: OuterRow) -> Select[Any]:
    cited = section_sources.alias()
    return select(cited).where(cited.c.source_id == source.c.id).order_by(cited.c.created_at.desc(), cited.c.id.desc())


def citing_pages(source: OuterRow) -> Select[Any]:
    """Reverse lookup: each page once, archived ones too, because evidence does not go away."""
    page, cited = pages.alias(), section_sources.alias()
    citing = select(cited.c.page_id).where(cited.c.source_id == source.c.id)
    return select(page).where(page.c.id.in_(in_tenant(citing))).order_by(page.c.title, page.c.id)


def citing_sections(source: OuterRow) -> Select[Any]:
    section, cited = sections.alias(), section_sources.alias()
    citing = select(cited.c.section_id).where(cited.c.source_id == source.c.id)
    return select(section).where(section.c.id.in_(in_tenant(citing))).order_by(section.c.page_id, section.c.id)


def citing_page_count(source: OuterRow) -> ColumnElement[Any]:
    cited = section_sources.alias()
    query = select(func.count(func.distinct(cited.c.page_id))).where(cited.c.source_id == source.c.id)
    return in_tenant(query).scalar_subquery()


# -- of a page or a section


def of_page(page: OuterRow) -> Select[Any]:
    source, cited = sources.alias(), section_sources.alias()
    ids = select(cited.c.source_id).where(cited.c.page_id == page.c.id)
    query = select(source).where(source.c.id.in_(in_tenant(ids)))
    return query.order_by(source.c.captured_at.desc(), source.c.id.desc())


def of_section(section: OuterRow) -> Select[Any]:
    source, cited = sources.alias(), section_sources.alias()
    ids = select(cited.c.source_id).where(cited.c.section_id == section.c.id)
    query = select(source).where(source.c.id.in_(in_tenant(ids)))
    return query.order_by(source.c.captured_at.desc(), source.c.id.desc())


def page_citations(page: OuterRow) -> Select[Any]:
    cited = section_sources.alias()
    return select(cited).where(cited.c.page_id == page.c.id).order_by(cited.c.created_at.desc(), cited.c.id.desc())


def section_citations(section: OuterRow) -> Select[Any]:
    cited = section_sources.alias()
    query = select(cited).where(cited.c.section_id == section.c.id)
    return query.order_by(cited.c.created_at.desc(), cited.c.id.desc())


# -- of a citation

citation_source = referred(sources, "source_id")
citation_section = referred(sections, "section_id")
citation_page = referred(pages, "page_id")


def cited_by(found: FromClause) -> Select[Any]:
    """The one citation of a source for a section."""
    cited = section_sources.alias()
    pair = (cited.c.section_id == found.c.section_id) & (cited.c.source_id == found.c.source_id)
    return select(cited).join(found, pair)
