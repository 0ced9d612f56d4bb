"""Sources, the pages and sections that cite them, and citations."""

from typing import Any

from sqlalchemy import ColumnElement, FromClause, Integer, Select, Text, all_, any_, case, func, literal, select
from sqlalchemy.dialects.postgresql import ARRAY

from selection import in_tenant
from selection.declare.mapping import OuterRow

from ..tables import (
    blobs,
    links,
    mentions,
    pages,
    section_sources,
    sections,
    sightings,
    source_originals,
    sources,
)
from .json_rows import json_rows
from .references import foreign_row, id_among, rows_by_id

# -- where reads start

by_ids = rows_by_id(sources)


def by_id(source_id: Any) -> Select[Any]:
    source = sources.alias()
    return select(source).where(source.c.id == source_id)


def listed(kinds: Any = None) -> Select[Any]:
    """Select every version of every source, newest evidence first."""
    source = sources.alias()
    query = select(source).order_by(source.c.captured_at.desc(), source.c.id.desc())
    return query if kinds is None else query.where(source.c.kind == any_(kinds))


def by_ref(kind: Any, ref: Any, version: Any = None) -> Select[Any]:
    """Select the source with this version, or its newest version."""
    source = sources.alias()
    query = select(source).where(source.c.kind == kind, source.c.ref == ref)
    if version is not None:
        query = query.where(source.c.version == version)
    return query.order_by(source.c.version.desc()).limit(1)


# -- of a source

supersedes = foreign_row(sources, "supersedes_id")


def checksum(source: OuterRow) -> ColumnElement[Any]:
    return func.encode(source.c.checksum, "hex")


def superseded_by(source: OuterRow) -> Select[Any]:
    newer = sources.alias()
    return select(newer).where(newer.c.supersedes_id == source.c.id).order_by(newer.c.id).limit(1)


def original(source: OuterRow) -> Select[Any]:
    """Select the record of the file from which a source was read."""
    original = source_originals.alias()
    return select(original).where(original.c.source_id == source.c.id)


def original_hash(original: OuterRow) -> ColumnElement[Any]:
    return func.encode(original.c.hash, "hex")


def original_size(original: OuterRow) -> ColumnElement[Any]:
    blob = blobs.alias()
    of_file = (blob.c.owner_id == original.c.owner_id) & (blob.c.hash == original.c.hash)
    return in_tenant(select(blob.c.size).where(of_file)).scalar_subquery()


def flags(original: OuterRow) -> Select[Any]:
    """Select the flagged sentences of the file, which address agents, in order."""
    return select(json_rows(original.c.flags, line=Integer(), text=Text()))


def citations(source: OuterRow) -> Select[Any]:
    cited = section_sources.alias()
    return select(cited).where(cited.c.source_id == source.c.id).order_by(cited.c.created_at.desc(), cited.c.id.desc())


def citing_pages(source: OuterRow) -> Select[Any]:
    """Select the pages that cite the source, including archived ones, each once."""
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


# -- everything that depends on any version of a source, because a section cites a version until it is written again


def itself(source: OuterRow) -> Select[Any]:
    """Select the source itself, as the row of an object that groups its dependents."""
    same = sources.alias()
    return select(same).where(same.c.id == source.c.id)


def versions(source: OuterRow) -> ColumnElement[Any]:
    """Return the ids of all versions of the source as an array, which Postgres evaluates before it finds citations."""
    version = sources.alias()
    of_ref = (version.c.owner_id == source.c.owner_id) & (version.c.kind == source.c.kind)
    return func.array(in_tenant(select(version.c.id).where(of_ref, version.c.ref == source.c.ref)).scalar_subquery())


def citing(source: OuterRow, column: str) -> Select[Any]:
    """Select this column of the citations of any version of the source."""
    cited = section_sources.alias()
    return select(cited.c[column]).where(cited.c.source_id == any_(versions(source)))


def resting_sections(source: OuterRow) -> Select[Any]:
    section = sections.alias()
    query = select(section).where(id_among(section, citing(source, "section_id")))
    return query.order_by(section.c.page_id, section.c.id)


def resting_on_it_alone(source: OuterRow) -> Select[Any]:
    """Select the sections that cite no other source."""
    section, other = sections.alias(), section_sources.alias()
    foreign = other.c.source_id != all_(versions(source))
    others = in_tenant(select(literal(1)).where(other.c.section_id == OuterRow(section).c.id, foreign))
    query = select(section).where(id_among(section, citing(source, "section_id")), ~others.exists())
    return query.order_by(section.c.page_id, section.c.id)


def resting_pages(source: OuterRow) -> Select[Any]:
    page = pages.alias()
    return select(page).where(id_among(page, citing(source, "page_id"))).order_by(page.c.title, page.c.id)


def showing_pages(source: OuterRow) -> Select[Any]:
    """Select the other pages that link to a page which cites the source."""
    page, link = pages.alias(), links.alias()
    cited_by = func.array(in_tenant(citing(source, "page_id")).scalar_subquery())
    showing = select(link.c.from_page_id).where(link.c.to_page_id == any_(cited_by))
    query = select(page).where(id_among(page, showing), page.c.id != all_(cited_by))
    return query.order_by(page.c.title, page.c.id)


def naming_mentions(source: OuterRow) -> Select[Any]:
    """Select the mentions that were seen in any version of the source."""
    mention, seen = mentions.alias(), sightings.alias()
    ids = select(seen.c.mention_id).where(seen.c.source_id == any_(versions(source)))
    query = select(mention).where(id_among(mention, ids))
    return query.order_by(mention.c.last_seen_at.desc(), mention.c.id.desc())


# -- sources and citations of a page or a section


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


# -- fields of a citation

citation_source = foreign_row(sources, "source_id")
citation_section = foreign_row(sections, "section_id")
citation_page = foreign_row(pages, "page_id")
QUOTE_MAX = 600  # characters


def quote(citation: OuterRow) -> ColumnElement[Any]:
    """Return the cited lines, or the beginning of the source if the citation names no lines."""
    source = sources.alias()
    lines = func.string_to_array(source.c.content, "\n", type_=ARRAY(Text))
    cited = func.array_to_string(lines[citation.c.line_start : citation.c.line_end], "\n")
    named = case((citation.c.line_start.is_(None), source.c.content), else_=cited)
    query = select(func.left(named, QUOTE_MAX)).where(source.c.id == citation.c.source_id)
    return in_tenant(query).scalar_subquery()


def one_citation(found: FromClause) -> Select[Any]:
    """Select the citation of a source by a section, which a step has found."""
    cited = section_sources.alias()
    pair = (cited.c.section_id == found.c.section_id) & (cited.c.source_id == found.c.source_id)
    return select(cited).join(found, pair)
