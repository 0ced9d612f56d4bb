"""Reads the tables of a database from its catalogue, in an order in which they can be filled."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import asyncpg

from ..sql import statements

CATALOGUE = statements("operations/catalogue")
REVISION_TABLE = "alembic_version"
TENANT = "tenant_id"


class Table(NamedTuple):
    """A table of a database.

    `columns` are without generated ones, `key` is the primary key, `collated` are the columns with a collation, and
    `refers` the tables to which its foreign keys refer.
    """

    name: str
    size: int
    columns: tuple[str, ...]
    key: tuple[str, ...]
    collated: frozenset[str]
    refers: frozenset[str]

    @property
    def is_of_tenant(self) -> bool:
        return TENANT in self.columns

    def select(self, columns: Iterable[str] | None = None, where: str = "") -> str:
        """Return the query for all rows, or those of a condition, in an order that does not depend on the locale."""
        names = ", ".join(map(quoted, columns or self.columns))
        key = self.key or self.columns
        order = ", ".join(f'{quoted(name)} COLLATE "C"' if name in self.collated else quoted(name) for name in key)
        condition = f" WHERE {where}" if where else ""
        return f"SELECT {names} FROM {quoted(self.name)}{condition} ORDER BY {order}"  # noqa: S608 - names are quoted


def quoted(name: str) -> str:
    """Return a name as a quoted SQL identifier."""
    return '"{}"'.format(name.replace('"', '""'))


async def list_tables(connection: asyncpg.Connection) -> list[Table]:
    """Return the tables of the current schema except Alembic's, each after the tables that it refers to."""
    rows = await connection.fetch(CATALOGUE["list_tables"].sql)
    return in_order([table_of(row) for row in rows if row["name"] != REVISION_TABLE])


def table_of(row: Any) -> Table:
    return Table(
        row["name"], row["size"], tuple(row["columns"]), tuple(row["key"]), frozenset(row["collated"]),
        frozenset(row["refers"]),
    )  # fmt: skip


def in_order(tables: Iterable[Table]) -> list[Table]:
    """Return the tables in an order in which each follows those that it refers to. A cycle is broken by name."""
    remaining, ordered = {table.name: table for table in tables}, list[Table]()
    while remaining:
        free = [table for table in remaining.values() if not table.refers & remaining.keys()]
        for table in free or [min(remaining.values(), key=lambda table: table.name)]:
            ordered.append(remaining.pop(table.name))
    return ordered


async def list_indexes(connection: asyncpg.Connection) -> dict[str, str]:
    """Return the definition of each index that belongs to no constraint, by name."""
    return {row["name"]: row["definition"] for row in await connection.fetch(CATALOGUE["list_indexes"].sql)}


async def describe_server(connection: asyncpg.Connection) -> Any:
    """Return a row of the names of the database and its schema, the server's version, and the rights of this role."""
    return await connection.fetchrow(CATALOGUE["describe_server"].sql)
