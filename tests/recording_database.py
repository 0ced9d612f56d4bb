"""A database that records what it sends to Postgres."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import asyncpg

from db.database import Database
from db.pool import acquire

DRIVER_QUERIES = ("typeinfo_tree", "current_setting('jit')")
"""Queries of the driver: it reads once how arrays and records are composed. They are not the product's."""


STATEMENT_TIMEOUT = 60.0
"""The statement timeout in seconds for tests of other things, as machines are busy at times."""


class SentStatement(NamedTuple):
    """One statement with its values."""

    sql: str
    arguments: tuple[Any, ...]


class RecordingDatabase(Database):
    """A database with pools of one connection that records every statement in the order of sending."""

    def __init__(self, dsn: str) -> None:
        super().__init__(dsn, size=1, statement_timeout=STATEMENT_TIMEOUT)
        self.sent: list[SentStatement] = []

    async def open(self) -> None:
        await super().open()
        for pool in (self.pool, self.read_pool):
            async with acquire(pool) as connection:
                connection.add_query_logger(self.record_statement)

    async def sent_statements(self) -> list[SentStatement]:
        """Return all statements that were sent. The driver reports the last one in the loop's next turn."""
        await asyncio.sleep(0)
        return self.sent

    def record_statement(self, record: asyncpg.connection.LoggedQuery) -> None:
        if not any(mark in record.query for mark in DRIVER_QUERIES):
            self.sent.append(SentStatement(record.query, tuple(record.args or ())))


@asynccontextmanager
async def recording_database(dsn: str) -> AsyncIterator[RecordingDatabase]:
    """Open a database that records what it sends, and close it afterwards."""
    database = RecordingDatabase(dsn)
    await database.open()
    try:
        yield database
    finally:
        await database.close()
