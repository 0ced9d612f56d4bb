"""A database whose writes all go into one transaction, so that several writes are committed as a whole."""

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
    """The error with which a transaction is ended to roll it back."""


class OneTransaction(Database):
    """A database that runs all writes in one transaction.

    The first write begins the transaction. Each write is a savepoint in it, so that a failed write is undone alone.
    Reads use the pools before the first write, and the transaction afterwards, so that they see what was written.

    `begun` is called in the new transaction. If it raises an error, this and every later write raise it. At its end,
    the context manager rolls back what was not committed.
    """

    stores_answers = True

    def __init__(self, database: Database, begun: Callable[[Connection], Awaitable[None]] | None = None) -> None:
        self.database = database
        self.begun = begun
        self.pool, self.read_pool = database.pool, database.read_pool
        self.inside: Connection | None = None
        """The connection of the transaction, after the first write."""
        self.refused: Exception | None = None
        """The error of `begun`, which every further write raises."""
        self.writes = 0
        """The number of successful writes."""
        self.is_broken = False
        """Whether a read failed in the transaction: Postgres then refuses all further statements."""
        self.ending = AsyncExitStack()
        self.reading = asyncio.Lock()

    async def __aenter__(self) -> "OneTransaction":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.undo()

    async def row(self, sql: str, arguments: Sequence[Any], *, anew: bool = False) -> Row | None:
        """Return the row of a compiled read.

        Inside the transaction `anew` is ignored, because the setting would also apply to later writes.
        """
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
        part = savepoint(connection.raw, first)
        async with part as last:
            yield Connection(connection.raw, last, part.begun)
        self.writes += 1

    @asynccontextmanager
    async def share(self) -> AsyncIterator[Connection]:
        """Use the transaction's connection for a read, one at a time. An error breaks the whole transaction."""
        assert self.inside is not None
        async with self.reading:
            try:
                yield self.inside
            except (asyncpg.PostgresError, *MAY_STILL_RUN, asyncio.CancelledError):
                self.is_broken = True
                raise

    async def begin(self) -> Connection:
        """Begin the transaction, and call `begun` in it."""
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
        """Commit the transaction. Later statements use the pools again."""
        self.inside = None
        await self.ending.aclose()

    async def undo(self) -> None:
        """Roll back the transaction, unless it is committed."""
        self.inside = None
        await self.ending.__aexit__(Undone, Undone(), None)
