"""Where reads by id start: a row for each id that is asked for, and what it may be the id of."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import ARRAY, Select, Table, Text, Uuid, cast, column, func, select

from selection.declare.rows import OuterRow

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


def represented(representations: Any) -> Select[Any]:
    """For each pair of a type's name and an id a row, in their order."""
    kinds = representations.derive(lambda pairs: [kind for kind, _ in pairs])
    ids = representations.derive(lambda pairs: [id for _, id in pairs])
    asked: list[Any] = [column("kind", Text), column("id", Uuid)]
    row = func.unnest(kinds, cast(ids, ARRAY(Uuid))).table_valued(*asked, with_ordinality="ordinality").render_derived()
    return select(row).order_by(row.c.ordinality)


def of_kind(kind: str, table: Table) -> Callable[[OuterRow], Select[Any]]:
    """The row of a table that is represented, when its type is the one that the representation names."""
    same = referred(table, "id")
    return lambda row: same(row).where(row.c.kind == kind)


ENTITIES = {kind: of_kind(kind, table) for kind, table in TABLES.items()}
