"""The product's database, and what it sends to Postgres."""

from typing import Any, NamedTuple

import asyncpg

from db.database import Database


class Sent(NamedTuple):
    """One statement with its values."""

    sql: str
    arguments: tuple[Any, ...]


class ListeningDatabase(Database):
    """A pool of one connection that notes every statement in the order in which they are sent."""

    def __init__(self, dsn: str) -> None:
        super().__init__(dsn, size=1)
        self.sent: list[Sent] = []

    async def open(self) -> None:
        await super().open()
        async with self.acquire() as connection:
            # The driver asks once what arrays consist of: that is not of the product.
            await connection.fetchrow("SELECT $1::uuid[], $2::text[], $3::float8[]", [], [], [])
            connection.add_query_logger(self.note)

    def note(self, record: asyncpg.connection.LoggedQuery) -> None:
        self.sent.append(Sent(record.query, tuple(record.args or ())))
