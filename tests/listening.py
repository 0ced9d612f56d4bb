"""The product's database, and what it sends to Postgres."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import asyncpg

from db.database import Database
from db.pool import acquire

OF_THE_DRIVER = ("typeinfo_tree", "current_setting('jit')")
"""It asks once what arrays and records consist of: that is not of the product."""


STATEMENT_TIMEOUT = 60.0
"""Seconds for a statement in tests that are about something else: machines are busy at times."""


class Sent(NamedTuple):
    """One statement with its values."""

    sql: str
    arguments: tuple[Any, ...]


class ListeningDatabase(Database):
    """Pools of one connection that note every statement in the order in which they are sent."""

    def __init__(self, dsn: str) -> None:
        super().__init__(dsn, size=1, statement_timeout=STATEMENT_TIMEOUT)
        self.sent: list[Sent] = []

    async def open(self) -> None:
        await super().open()
        for pool in (self.pool, self.read_pool):
            async with acquire(pool) as connection:
                connection.add_query_logger(self.note)

    async def heard(self) -> list[Sent]:
        """All that was sent: the driver tells of it in the loop's next turn."""
        await asyncio.sleep(0)
        return self.sent

    def note(self, record: asyncpg.connection.LoggedQuery) -> None:
        if not any(mark in record.query for mark in OF_THE_DRIVER):
            self.sent.append(Sent(record.query, tuple(record.args or ())))


@asynccontextmanager
async def listening(dsn: str) -> AsyncIterator[ListeningDatabase]:
    """Open a database that notes what it sends, and close it."""
    database = ListeningDatabase(dsn)
    await database.open()
    try:
        yield database
    finally:
        await database.close()
