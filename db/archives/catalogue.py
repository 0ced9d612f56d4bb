"""The tables of a database as its catalogue has them, in an order in which they can be filled."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import asyncpg

from ..sql import statements

CATALOGUE = statements("operations/catalogue")
REVISION_TABLE = "alembic_version"
TENANT = "tenant_id"


class Table(NamedTuple):
    """A table: its columns without generated ones, its primary key, and the tables that it refers to."""

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
        """Return the query for all rows, or those of a condition, in an order that no locale changes."""
        names = ", ".join(map(quoted, columns or self.columns))
        key = self.key or self.columns
        order = ", ".join(f'{quoted(one)} COLLATE "C"' if one in self.collated else quoted(one) for one in key)
        condition = f" WHERE {where}" if where else ""
        return f"SELECT {names} FROM {quoted(self.name)}{condition} ORDER BY {order}"  # noqa: S608 - names are quoted


def quoted(name: str) -> str:
    """Return a name as an identifier of SQL."""
    return '"{}"'.format(name.replace('"', '""'))


async def list_tables(connection: asyncpg.Connection) -> list[Table]:
    """Return the tables of the current schema, each after those that it refers to; Alembic's own is none of them."""
    rows = await connection.fetch(CATALOGUE["list_tables"].sql)
    return in_order([table_of(row) for row in rows if row["name"] != REVISION_TABLE])


def table_of(row: Any) -> Table:
    return Table(
        row["name"], row["size"], tuple(row["columns"]), tuple(row["key"]), frozenset(row["collated"]),
        frozenset(row["refers"]),
    )  # fmt: skip


def in_order(tables: Iterable[Table]) -> list[Table]:
    """Return the tables so that each follows those that it refers to; in a circle, by their names."""
    left, found = {table.name: table for table in tables}, list[Table]()
    while left:
        free = [table for table in left.values() if not table.refers & left.keys()]
        for table in free or [min(left.values(), key=lambda table: table.name)]:
            found.append(left.pop(table.name))
    return found


async def list_indexes(connection: asyncpg.Connection) -> dict[str, str]:
    """Return how each index is made that belongs to no constraint, by its name."""
    return {row["name"]: row["definition"] for row in await connection.fetch(CATALOGUE["list_indexes"].sql)}


async def describe_server(connection: asyncpg.Connection) -> Any:
    """Return the name of the database and of its schema, the server's version, and what this role may do."""
    return await connection.fetchrow(CATALOGUE["describe_server"].sql)
