"""The pool, and the two ways to use it: one read whose answer is JSON bytes, and a transaction."""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import orjson

from .sql import Statement

Row = Mapping[str, Any]
ONE_PLAN = {"plan_cache_mode": "force_generic_plan"}
PATIENCE = 10.0  # seconds that a request waits for a connection before it is told to come back


class Database:
    """Pools on one server: one for search, whose long statements are planned once, and one for everything else.

    Reads never open a transaction; writes always do.
    """

    def __init__(self, dsn: str, *, size: int = 8, statement_timeout: float = 10.0, statement_cache: int = 512) -> None:
        """`statement_timeout` in seconds. `statement_cache` 0 is for poolers that forget prepared statements."""
        self.dsn = dsn
        self.options: dict[str, Any] = {
            "min_size": 1,
            "max_size": size,
            "max_queries": 10**9,
            "max_inactive_connection_lifetime": 0,
            "statement_cache_size": statement_cache,
            "max_cached_statement_lifetime": 0,
            "server_settings": {
                "application_name": "cairn",
                "statement_timeout": str(int(statement_timeout * 1000)),
                "jit": "off",
            },
        }
        self.pool: asyncpg.Pool | None = None
        self.search_pool: asyncpg.Pool | None = None

    async def open(self) -> None:
        self.pool = await asyncpg.create_pool(self.dsn, init=prepare_connection, reset=clean, **self.options)
        planned_once = self.options | {"server_settings": self.options["server_settings"] | ONE_PLAN}
        self.search_pool = await asyncpg.create_pool(self.dsn, init=prepare_connection, reset=clean, **planned_once)

    async def close(self) -> None:
        for pool in filter(None, (self.pool, self.search_pool)):
            await pool.close()
        self.pool = self.search_pool = None

    async def json(self, sql: str, arguments: Iterable[Any]) -> bytes | None:
        """The one JSON value of a compiled read, as Postgres wrote it."""
        async with acquire(self.pool) as connection:
            value: bytes | None = await connection.fetchval(sql, *arguments)
            return value

    async def ping(self) -> None:
        """Raise when Postgres does not answer."""
        async with acquire(self.pool) as connection:
            await connection.fetchval("SELECT 1")

    @asynccontextmanager
    async def connection(self) -> AsyncIterator["Connection"]:
        """For single statements; each commits by itself."""
        async with acquire(self.pool) as connection:
            yield Connection(connection)

    @asynccontextmanager
    async def searching(self) -> AsyncIterator["Connection"]:
        """For statements whose plan does not depend on their values, and would take longer to make than to run."""
        async with acquire(self.search_pool) as connection:
            yield Connection(connection)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator["Connection"]:
        """All of it or nothing."""
        async with acquire(self.pool) as connection, connection.transaction():
            yield Connection(connection)


def acquire(pool: asyncpg.Pool | None) -> Any:
    if pool is None:
        raise RuntimeError("the database is not open")
    return pool.acquire(timeout=None if pool.get_idle_size() else PATIENCE)


class Connection:
    """Runs statements by their parameter names."""

    def __init__(self, raw: asyncpg.Connection) -> None:
        self.raw = raw

    async def all(self, statement: Statement, **values: Any) -> list[Row]:
        rows: list[Row] = await self.raw.fetch(statement.sql, *statement.arguments(values))
        return rows

    async def one(self, statement: Statement, **values: Any) -> Row | None:
        row: Row | None = await self.raw.fetchrow(statement.sql, *statement.arguments(values))
        return row

    async def value(self, statement: Statement, **values: Any) -> Any:
        return await self.raw.fetchval(statement.sql, *statement.arguments(values))

    async def run(self, statement: Statement, **values: Any) -> int:
        """The number of rows it touched."""
        status: str = await self.raw.execute(statement.sql, *statement.arguments(values))
        return int(status.rpartition(" ")[2])

    async def each(self, statement: Statement, rows: Iterable[Mapping[str, Any]]) -> None:
        """The same statement for many rows, in one round trip."""
        await self.raw.executemany(statement.sql, [statement.arguments(row) for row in rows])


async def prepare_connection(connection: asyncpg.Connection) -> None:
    """json comes as bytes to be passed on; jsonb is a document to be looked at."""
    await connection.set_type_codec("json", schema="pg_catalog", encoder=bytes, decoder=bytes, format="binary")
    await connection.set_type_codec(
        "jsonb", schema="pg_catalog", encoder=lambda value: orjson.dumps(value).decode(), decoder=orjson.loads
    )


async def clean(connection: asyncpg.Connection) -> None:
    """Nothing here leaves session state behind, so the usual reset would be a round trip for nothing.

    Only a connection given back in the middle of a transaction, by a cancelled task, needs one.
    """
    if connection.is_in_transaction():
        await connection.execute("ROLLBACK")
