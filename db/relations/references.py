"""Relations by id: the row to which a column refers, rows among some ids, and rows of ids that a step found."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import ColumnElement, FromClause, Select, Table, any_, func, select, union_all

from selection import in_tenant
from selection.declare.mapping import OuterRow


def foreign_row(table: Table, by: str) -> Callable[[OuterRow], Select[Any]]:
    """Return a relation to the row of a table whose id is in this column of the outer row."""

    def query(row: OuterRow) -> Select[Any]:
        target = table.alias()
        return select(target).where(target.c.id == getattr(row.c, by))

    return query


def id_among(row: FromClause, *ids: Select[Any], limit: ColumnElement[int] | None = None) -> ColumnElement[bool]:
    """Return a condition that is true if the row's id is among the first `limit` ids of these selects.

    The ids are an array, because an index scan with a sorted array is faster than hashing and joining them.
    """
    found = union_all(*map(in_tenant, ids)) if len(ids) > 1 else in_tenant(ids[0])
    return row.c.id == any_(func.array(found.limit(limit).scalar_subquery()))


def rows_by_id(table: Table) -> Callable[[FromClause], Select[Any]]:
    """Return a query of the rows of a table whose ids a step has found, with any status."""

    def query(ids: FromClause) -> Select[Any]:
        target = table.alias()
        return select(target).join(ids, target.c.id == ids.c.id)

    return query
