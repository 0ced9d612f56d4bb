"""Revisions of pages, and the differences between two revisions."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import (
    Boolean,
    ColumnElement,
    FromClause,
    Integer,
    Select,
    Text,
    Uuid,
    case,
    column,
    func,
    literal,
    literal_column,
    select,
    true,
)
from sqlalchemy.dialects.postgresql import JSONB, aggregate_order_by
from sqlalchemy.types import TypeEngine

from selection import in_tenant
from selection.declare.mapping import OuterRow

from ..tables import pages, revisions
from .access import owners
from .json_rows import json_rows
from .references import foreign_row
from .search import owner_of_page

ONE = literal(1, Integer)
STATE: dict[str, TypeEngine[Any]] = {"page_id": Uuid(), "version": Integer()}

page = foreign_row(pages, "page_id")


def author_name(revision: OuterRow) -> ColumnElement[Any]:
    return owners.author_name(revision.c.author_id)


def of_page(page: OuterRow) -> Select[Any]:
    revision = revisions.alias()
    return select(revision).where(revision.c.page_id == page.c.id).order_by(revision.c.version.desc())


def at(page: OuterRow, version: Any) -> Select[Any]:
    return of_version(page.c.id, version)


def of_version(page_id: Any, version: Any) -> Select[Any]:
    revision = revisions.alias()
    return select(revision).where(revision.c.page_id == page_id, revision.c.version == version)


def written_revision(found: FromClause) -> Select[Any]:
    """Select the revision that a write has created, which the step identifies by page and version."""
    revision = revisions.alias()
    return select(revision).join(
        found, (revision.c.page_id == found.c.page_id) & (revision.c.version == found.c.version)
    )


def body(revision: OuterRow) -> ColumnElement[Any]:
    """Return the text of a revision: its own, or composed of bytes of the base revision and texts of its own."""
    base = revisions.alias()
    base_body = select(func.convert_to(base.c.body_md, "UTF8").label("bytes")).where(
        base.c.page_id == revision.c.page_id, base.c.version == revision.c.base_version
    )
    whole = in_tenant(base_body).subquery()
    piece = (
        func.unnest(revision.c.base_starts, revision.c.base_lengths, revision.c.base_texts)
        .table_valued(column("start", Integer), column("length", Integer), column("own", Text), with_ordinality="n")
        .render_derived()
    )
    shared = func.substring(whole.c.bytes, piece.c.start + ONE, piece.c.length)
    joined = shared.concat(func.convert_to(piece.c.own, "UTF8"))
    restored = select(
        func.convert_from(func.string_agg(joined, aggregate_order_by(literal_column("''::bytea"), piece.c.n)), "UTF8")
    ).select_from(whole.join(piece, true()))
    return case((revision.c.base_version.is_(None), revision.c.body_md), else_=restored.scalar_subquery())


def fact(name: str) -> Callable[[OuterRow], ColumnElement[Any]]:
    """Return an expression for a fact of a revision besides its text, such as the slug.

    A fact that has not changed is stored in the earlier revision `facts_version` only.
    """

    def value(revision: OuterRow) -> ColumnElement[Any]:
        earlier = revisions.alias()
        earlier_value = select(earlier.c[name]).where(
            earlier.c.page_id == revision.c.page_id, earlier.c.version == revision.c.facts_version
        )
        own = getattr(revision.c, name)
        return case((revision.c.facts_version.is_(None), own), else_=in_tenant(earlier_value).scalar_subquery())

    return value


slug, aliases, metadata = map(fact, ("slug", "aliases", "metadata"))


Columns = dict[str, TypeEngine[Any]]

COMPARED: Columns = {
    "page_id": Uuid(),
    "from_version": Integer(),
    "to_version": Integer(),
    "unified": Text(),
    "lines_removed": Integer(),
    "lines_added": Integer(),
    "is_truncated": Boolean(),
    "lists": JSONB(),
}
"""The columns of a comparison from a step. `lists` is a JSON document of the hunks (see jobs.REPORTED)."""
HUNK: Columns = {
    "old_start": Integer(),
    "old_count": Integer(),
    "new_start": Integer(),
    "new_count": Integer(),
    "lines": JSONB(),
}
LINE: Columns = {
    "kind": Text(),
    "text": Text(),
    "old_line": Integer(),
    "new_line": Integer(),
    "parts": JSONB(),
    "is_ended": Boolean(),
}
PART: Columns = {"start": Integer(), "length": Integer()}


def comparison_rows(found: FromClause) -> Select[Any]:
    """Select the comparison with the owner of its page, for the access rule."""
    comparison = select(*found.c, owner_of_page(found)).subquery()
    return select(comparison)


def hunks(comparison: OuterRow) -> Select[Any]:
    return select(json_rows(comparison.c.lists["hunks"], **HUNK))


def lines(hunk: OuterRow) -> Select[Any]:
    return select(json_rows(hunk.c.lines, **LINE))


def parts(line: OuterRow) -> Select[Any]:
    return select(json_rows(line.c.parts, **PART))


def from_revision(comparison: OuterRow) -> Select[Any]:
    return of_version(comparison.c.page_id, comparison.c.from_version)


def to_revision(comparison: OuterRow) -> Select[Any]:
    return of_version(comparison.c.page_id, comparison.c.to_version)
