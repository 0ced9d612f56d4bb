"""Two states of a page compared, as rows: a comparison holds hunks, they hold lines, and these hold parts."""

from typing import Any

from sqlalchemy import Boolean, FromClause, Integer, Select, Text, Uuid, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeEngine

from selection.declare.rows import OuterRow

from .kept import kept_rows
from .revisions import of_version
from .search import owner_of_page

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
"""`lists` holds the hunks: one document, as an array of arrays would be another array."""
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


def compared(found: FromClause) -> Select[Any]:
    """Whose page it is decides who may see it."""
    comparison = select(*found.c, owner_of_page(found)).subquery()
    return select(comparison)


def hunks(comparison: OuterRow) -> Select[Any]:
    return select(kept_rows(comparison.c.lists["hunks"], **HUNK))


def lines(hunk: OuterRow) -> Select[Any]:
    return select(kept_rows(hunk.c.lines, **LINE))


def parts(line: OuterRow) -> Select[Any]:
    return select(kept_rows(line.c.parts, **PART))


def from_revision(comparison: OuterRow) -> Select[Any]:
    return of_version(comparison.c.page_id, comparison.c.from_version)


def to_revision(comparison: OuterRow) -> Select[Any]:
    return of_version(comparison.c.page_id, comparison.c.to_version)
