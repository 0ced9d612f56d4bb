"""A row seen from inside a sub-select.

SQLAlchemy adds every table that a select mentions to its FROM, unless it is told to correlate it; forgetting that
gives a silent cross join. A column of an outer row therefore mentions nothing: it is rendered and that is all.
"""

from typing import Any

from sqlalchemy import ColumnElement, FromClause
from sqlalchemy.ext.compiler import compiles


class OuterColumn(ColumnElement[Any]):
    """A column that brings no FROM with it."""

    __visit_name__ = "outer_column"
    inherit_cache = False
    _from_objects: list[FromClause] = []  # noqa: RUF012  SQLAlchemy's own name and shape

    def __init__(self, column: ColumnElement[Any]) -> None:
        self.column, self.type = column, column.type


@compiles(OuterColumn)
def render(outer: OuterColumn, compiler: Any, **options: Any) -> str:
    text: str = compiler.process(outer.column, **options)
    return text


class Columns:
    """The columns of an outer row, as `row.c`."""

    def __init__(self, row: FromClause) -> None:
        self._row = row

    def __getattr__(self, name: str) -> OuterColumn:
        return OuterColumn(self._row.c[name])

    def __contains__(self, name: str) -> bool:
        return name in self._row.c


class OuterRow:
    """The row that declarations are given: page.c.id."""

    def __init__(self, row: FromClause) -> None:
        self.c = Columns(row)
