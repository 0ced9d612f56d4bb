"""Following a reference: the commonest relation, and what reads by id start from."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import ColumnElement, FromClause, Select, Table, any_, func, select, union_all

from selection import in_tenant
from selection.declare.mapping import OuterRow


def foreign_row(table: Table, by: str) -> Callable[[OuterRow], Select[Any]]:
    """The row of a table whose id stands in a column of the row that one comes from."""

    def query(row: OuterRow) -> Select[Any]:
        target = table.alias()
        return select(target).where(target.c.id == getattr(row.c, by))

    return query


def id_among(row: FromClause, *ids: Select[Any], most: ColumnElement[int] | None = None) -> ColumnElement[bool]:
    """Return whether its id is one of the first `most` that these find. As an array they are sorted and met once each
    by a scan of the index, which takes less than to hash and to join them."""
    found = union_all(*map(in_tenant, ids)) if len(ids) > 1 else in_tenant(ids[0])
    return row.c.id == any_(func.array(found.limit(most).scalar_subquery()))


def rows_by_id(table: Table) -> Callable[[FromClause], Select[Any]]:
    """The rows of a table whose ids a step has found, whatever their status: an id is asked for on purpose."""

    def query(ids: FromClause) -> Select[Any]:
        target = table.alias()
        return select(target).join(ids, target.c.id == ids.c.id)

    return query
