"""Following a reference: the commonest relation, and what reads by id start from."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import FromClause, Select, Table, select

from selection.rows import OuterRow


def referred(table: Table, by: str) -> Callable[[OuterRow], Select[Any]]:
    """The row of a table whose id stands in a column of the row that one comes from."""

    def query(row: OuterRow) -> Select[Any]:
        target = table.alias()
        return select(target).where(target.c.id == getattr(row.c, by))

    return query


def found(table: Table) -> Callable[[FromClause], Select[Any]]:
    """The rows of a table whose ids a step has found, whatever their status: an id is asked for on purpose."""

    def query(ids: FromClause) -> Select[Any]:
        target = table.alias()
        return select(target).join(ids, target.c.id == ids.c.id)

    return query
