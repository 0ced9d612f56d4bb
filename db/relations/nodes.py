"""Where reads by id start: a row for each id that is asked for, and what it may be the id of."""

from typing import Any

from sqlalchemy import Select, Uuid, column, func, select

from ..tables import aliases, links, mentions, owners, pages, revisions, section_sources, sections, sources
from .references import referred

TABLES = {
    "WikiPage": pages,
    "WikiSection": sections,
    "WikiSource": sources,
    "WikiMention": mentions,
    "WikiAlias": aliases,
    "WikiLink": links,
    "WikiCitation": section_sources,
    "WikiRevision": revisions,
    "WikiOwner": owners,
}
VARIANTS = {type_: referred(table, "id") for type_, table in TABLES.items()}


def one(id: Any) -> Select[Any]:
    row = select(id.label("id")).subquery()
    return select(row)


def many(ids: Any) -> Select[Any]:
    """In the order they were asked for."""
    asked: Any = column("id", Uuid)
    row = func.unnest(ids).table_valued(asked, with_ordinality="ordinality").render_derived()
    return select(row).order_by(row.c.ordinality)
