"""Connections to Postgres: acquired for a block, with a transaction or without, and statements by parameter names."""

from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any
from uuid import UUID

import asyncpg
import orjson

from observability.trace import span

from .committing import committing
from .pool import Pool, acquire
from .sql import Statement, statements

Row = Mapping[str, Any]
Attempt = tuple[Statement, Mapping[str, Any]]
# asyncpg asks about each type of array when it first meets it: better of all, and before anybody waits for a write.
SELECT_ARRAYS = "SELECT $1::uuid[], $2::text[], $3::integer[], $4::smallint[], $5::float8[], $6::tsquery[], $7::jsonb[]"
WARMING = statements("operations/warming")


class transacting:
    """Acquire a connection with a transaction in it for the length of a block."""

    __slots__ = ("acquired", "committing", "first")

    def __init__(self, pool: Pool | None, first: str = "") -> None:
        self.acquired, self.first = acquire(pool), first

    async def __aenter__(self) -> "Connection":
        connection = await self.acquired.__aenter__()
        self.committing = committing(connection, self.first)
        try:
            last = await self.committing.__aenter__()
            return Connection(connection, last, self.committing.begun)
        except BaseException as error:
            await self.acquired.__aexit__(type(error), error, error.__traceback__)
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        try:
            await self.committing.__aexit__(kind, error, at)
        except BaseException as failed:
            await self.acquired.__aexit__(type(failed), failed, failed.__traceback__)
            raise
        await self.acquired.__aexit__(kind, error, at)


class Connection:
    """Runs statements by their parameter names."""

    known: Mapping[str, Any] = {}
    """Values that each statement is given besides its own."""
    restrict: "Callable[[Statement, Mapping[str, Any]], Iterable[Attempt]] | None" = None
    """What makes of a statement those that read only what the caller may, each for where the one before has no row."""

    def __init__(self, raw: asyncpg.Connection, last: list[str] | None = None, begun: str = "") -> None:
        """Wrap a connection. In a transaction, `last` is what will be sent along with the COMMIT, and `begun` how its
        first statement ended, as Postgres says it: `SELECT 1`."""
        self.raw, self.last, self.begun = raw, last, begun

    def arguments(self, statement: Statement, values: Mapping[str, Any]) -> list[Any]:
        return statement.arguments({**self.known, **values})

    def attempts(self, statement: Statement, values: Mapping[str, Any]) -> "Iterable[Attempt]":
        """Return what to send until there is a row: a statement with its values, as the caller may have it answered."""
        return ((statement, values),) if self.restrict is None else self.restrict(statement, values)

    async def all(self, statement: Statement, **given: Any) -> list[Row]:
        rows: list[Row] = []
        for attempt, values in self.attempts(statement, given):
            with span("sql", attempt.sql):
                rows = await self.raw.fetch(attempt.sql, *self.arguments(attempt, values))
            if rows:
                break
        return rows

    async def one(self, statement: Statement, **given: Any) -> Row | None:
        row: Row | None = None
        for attempt, values in self.attempts(statement, given):
            with span("sql", attempt.sql):
                row = await self.raw.fetchrow(attempt.sql, *self.arguments(attempt, values))
            if row is not None:
                break
        return row

    async def all_of_each(self, statement: Statement, each: Iterable[Mapping[str, Any]]) -> list[Row]:
        """Return the rows of the same statement for many values, in one round trip."""
        read = [(*self.attempts(statement, values),)[-1] for values in each]  # the one that always answers
        statement = read[0][0] if read else statement
        with span("sql", statement.sql):
            rows: list[Row] = await self.raw.fetchmany(
                statement.sql, [self.arguments(statement, values) for _, values in read]
            )
        return rows

    async def value(self, statement: Statement, **given: Any) -> Any:
        row = await self.one(statement, **given)
        return None if row is None else next(iter(row.values()))

    async def run(self, statement: Statement, **values: Any) -> int:
        """Run a statement and return the number of rows it touched."""
        with span("sql", statement.sql):
            status: str = await self.raw.execute(statement.sql, *self.arguments(statement, values))
        return int(status.rpartition(" ")[2])

    def finally_run(self, statement: Statement, **values: str) -> None:
        """Send a statement along with the COMMIT, without a round trip of its own. Only inside of a transaction."""
        if self.last is None:
            raise RuntimeError("there is no transaction to end")
        self.last.append(statement.render(values))

    async def each(self, statement: Statement, rows: Iterable[Mapping[str, Any]]) -> None:
        """Run the same statement for many rows, in one round trip."""
        with span("sql", statement.sql):
            await self.raw.executemany(statement.sql, [self.arguments(statement, row) for row in rows])


async def prepare_connection(connection: asyncpg.Connection) -> None:
    """Set the codecs: json comes as bytes to be passed on; jsonb is a document to be looked at."""
    await connection.set_type_codec("json", schema="pg_catalog", encoder=bytes, decoder=bytes, format="binary")
    await connection.set_type_codec("jsonb", schema="pg_catalog", encoder=document, decoder=orjson.loads)
    await connection.fetchval(SELECT_ARRAYS, *[[]] * 7)


async def warm(connection: asyncpg.Connection) -> None:
    """Run what takes a connection to Citus long for the first time: it loads the catalogue and calls the workers."""
    for statement in WARMING.values():
        await connection.execute(statement.sql, *statement.arguments({"tenant_id": UUID(int=0)}))


def document(value: Any) -> str:
    return orjson.dumps(value, default=json_default).decode()


def json_default(value: Any) -> str:
    """Return the text of an id, which the driver returns in a class of its own."""
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"{type(value).__name__} is no JSON")
