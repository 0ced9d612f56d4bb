"""A database seen through one transaction: what an operation writes and reads in it is committed as a whole."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import asyncpg

from .committing import savepoint
from .connection import Connection, Row
from .database import Database
from .pool import MAY_STILL_RUN


class Undone(Exception):
    """A signal that ends a transaction without a commit."""


class OneTransaction(Database):
    """Until the first write everything goes to the pool. The first write begins the transaction, later ones are parts
    of it that fail by themselves, and reads from then on see what was written.

    `begun` is called inside the new transaction: what it raises is raised for this and every later write. As a context
    manager it undoes at its end what was not committed.
    """

    stores_answers = True

    def __init__(self, database: Database, begun: Callable[[Connection], Awaitable[None]] | None = None) -> None:
        self.database, self.begun = database, begun
        self.pool, self.read_pool = database.pool, database.read_pool
        self.inside: Connection | None = None
        self.refused: Exception | None = None
        self.writes = 0
        self.is_broken = False
        self.ending = AsyncExitStack()
        self.reading = asyncio.Lock()

    async def __aenter__(self) -> "OneTransaction":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.undo()

    async def row(self, sql: str, arguments: Sequence[Any], *, anew: bool = False) -> Row | None:
        """Return the row of a compiled read. Inside of the transaction Postgres chooses the plan of one that is to be
        planned `anew`: the setting would hold for later writes."""
        if self.inside is None:
            return await self.database.row(sql, arguments, anew=anew)
        async with self.share() as connection:
            row: Row | None = await connection.raw.fetchrow(sql, *arguments)
            return row

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        async with self.share() if self.inside else self.database.connection() as connection:
            yield connection

    @asynccontextmanager
    async def searching(self) -> AsyncIterator[Connection]:
        async with self.share() if self.inside else self.database.searching() as connection:
            yield connection

    @asynccontextmanager
    async def transaction(self, first: str = "") -> AsyncIterator[Connection]:
        connection = self.inside or await self.begin()
        whole = savepoint(connection.raw, first)
        async with whole as last:
            yield Connection(connection.raw, last, whole.begun)
        self.writes += 1

    @asynccontextmanager
    async def share(self) -> AsyncIterator[Connection]:
        """Share the connection, one at a time. After a failure outside of a write, Postgres refuses all statements."""
        assert self.inside is not None
        async with self.reading:
            try:
                yield self.inside
            except (asyncpg.PostgresError, *MAY_STILL_RUN, asyncio.CancelledError):
                self.is_broken = True
                raise

    async def begin(self) -> Connection:
        if self.refused is not None:
            raise self.refused
        connection = await self.ending.enter_async_context(self.database.transaction())
        try:
            if self.begun is not None:
                await self.begun(connection)
        except Exception as error:
            self.refused = error
            await self.undo()
            raise
        self.inside = connection
        return connection

    async def commit(self) -> None:
        """Commit; what follows goes to the pool again."""
        self.inside = None
        await self.ending.aclose()

    async def undo(self) -> None:
        """Undo all of it, unless it is committed."""
        self.inside = None
        await self.ending.__aexit__(Undone, Undone(), None)
