"""The results of a search of sources as rows: passages that were found, and the result as a whole."""

from typing import Any

from sqlalchemy import (
    ColumnElement,
    Double,
    FromClause,
    Integer,
    Select,
    SmallInteger,
    Text,
    Uuid,
    or_,
    select,
    true,
)
from sqlalchemy.dialects.postgresql import JSONB

from selection import in_tenant
from selection.declare.mapping import OuterRow

from ..access import readable
from ..tables import search_passages, section_sources, sections, sources
from .json_rows import json_rows
from .references import foreign_row
from .search import Columns

EDGE: Columns = {
    "source_id": Uuid(),
    "position": Integer(),
    "analyser": SmallInteger(),
    "score": Double(),
    "snippet": JSONB(),
    "place": Integer(),
    "cursor": Text(),
    "newer_source_id": Uuid(),
    "newer_position": Integer(),
}
source = foreign_row(sources, "source_id")


def edges(results: OuterRow) -> Select[Any]:
    """Select the edges whose source exists and may be read, looked up one by one like the pages in search.py."""
    found = json_rows(results.c.lists["edges"], **EDGE)
    hit = select(*found.c, owner_of_source(found)).subquery()
    return select(hit).where(hit.c.owner_id.is_not(None), readable(hit.c.owner_id)).order_by(hit.c.place)


def nodes(results: OuterRow) -> Select[Any]:
    """Select the passages of the edges, which are looked up one by one."""
    hit, target = json_rows(results.c.lists["edges"], **EDGE), search_passages.alias()
    found = in_tenant(select(target).where(*is_of(target, OuterRow(hit))))
    passage = found.limit(1).lateral()
    query = select(passage).select_from(hit.join(passage, true()))
    return query.where(readable(passage.c.owner_id)).order_by(hit.c.place)


def node(edge: OuterRow) -> Select[Any]:
    passage = search_passages.alias()
    return select(passage).where(*is_of(passage, edge))


def superseded_by(edge: OuterRow) -> Select[Any]:
    """Select the newer passage that supersedes the passage of the edge."""
    newer = search_passages.alias()
    return select(newer).where(
        newer.c.source_id == edge.c.newer_source_id,
        newer.c.position == edge.c.newer_position,
        newer.c.analyser == edge.c.analyser,
        readable(newer.c.owner_id),
    )


def is_of(passage: FromClause, hit: OuterRow) -> list[ColumnElement[bool]]:
    return [getattr(passage.c, name) == getattr(hit.c, name) for name in ("source_id", "position", "analyser")]


def owner_of_source(hit: FromClause) -> ColumnElement[Any]:
    target = sources.alias()
    owner = select(target.c.owner_id).where(target.c.id == OuterRow(hit).c.source_id)
    return in_tenant(owner).scalar_subquery().label("owner_id")


def citing_sections(passage: OuterRow) -> Select[Any]:
    """Select the sections that cite lines of the passage, or the whole source of the passage."""
    section, cited = sections.alias(), section_sources.alias()
    lines = (cited.c.line_start <= passage.c.line_end) & (cited.c.line_end >= passage.c.line_start)
    citing = select(cited.c.section_id).where(
        cited.c.source_id == passage.c.source_id, or_(cited.c.line_start.is_(None), lines)
    )
    return select(section).where(section.c.id.in_(in_tenant(citing))).order_by(section.c.page_id, section.c.id)
