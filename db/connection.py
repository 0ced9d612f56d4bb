"""A connection to Postgres that runs named statements (db.sql) with their parameters by name."""

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
"""A statement and the values of its parameters."""
# asyncpg queries each array type when it first uses it. This loads all of them when the connection is opened.
SELECT_ARRAYS = "SELECT $1::uuid[], $2::text[], $3::integer[], $4::smallint[], $5::float8[], $6::tsquery[], $7::jsonb[]"
WARMING = statements("operations/warming")


class transacting:
    """Acquires a connection and begins a transaction for a `with` block.

    `first` is a statement without parameters that is sent together with the BEGIN.
    """

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
    """Runs named statements on a connection."""

    known: Mapping[str, Any] = {}
    """Values of parameters that every statement may use, besides the values that it is given."""
    restrict: "Callable[[Statement, Mapping[str, Any]], Iterable[Attempt]] | None" = None
    """A function that returns the statements which read only the rows that the caller may read (db.sensitivity).

    They are run in order until one returns a row.
    """

    def __init__(self, raw: asyncpg.Connection, last: list[str] | None = None, begun: str = "") -> None:
        """Wrap a connection of asyncpg.

        In a transaction, `last` are the statements to send together with the COMMIT, and `begun` is the status of the
        statement that was sent with the BEGIN, like `SELECT 1`.
        """
        self.raw = raw
        self.last = last
        self.begun = begun

    def arguments(self, statement: Statement, values: Mapping[str, Any]) -> list[Any]:
        """Return the values of a statement's parameters in order."""
        return statement.arguments({**self.known, **values})

    def attempts(self, statement: Statement, values: Mapping[str, Any]) -> "Iterable[Attempt]":
        """Return the statements to run in order until one returns a row: one, unless the connection is restricted."""
        return ((statement, values),) if self.restrict is None else self.restrict(statement, values)

    async def all(self, statement: Statement, **given: Any) -> list[Row]:
        """Return all rows of a statement."""
        rows: list[Row] = []
        for attempt, values in self.attempts(statement, given):
            with span("sql", attempt.sql):
                rows = await self.raw.fetch(attempt.sql, *self.arguments(attempt, values))
            if rows:
                break
        return rows

    async def one(self, statement: Statement, **given: Any) -> Row | None:
        """Return the first row of a statement, or None."""
        row: Row | None = None
        for attempt, values in self.attempts(statement, given):
            with span("sql", attempt.sql):
                row = await self.raw.fetchrow(attempt.sql, *self.arguments(attempt, values))
            if row is not None:
                break
        return row

    async def all_of_each(self, statement: Statement, each: Iterable[Mapping[str, Any]]) -> list[Row]:
        """Return the rows of one statement for many sets of values, in one round trip."""
        attempts = [(*self.attempts(statement, values),)[-1] for values in each]  # the last one is unconditional
        statement = attempts[0][0] if attempts else statement
        with span("sql", statement.sql):
            rows: list[Row] = await self.raw.fetchmany(
                statement.sql, [self.arguments(statement, values) for _, values in attempts]
            )
        return rows

    async def value(self, statement: Statement, **given: Any) -> Any:
        """Return the first value of the first row, or None."""
        row = await self.one(statement, **given)
        return None if row is None else next(iter(row.values()))

    async def run(self, statement: Statement, **values: Any) -> int:
        """Run a statement and return the number of affected rows."""
        with span("sql", statement.sql):
            status: str = await self.raw.execute(statement.sql, *self.arguments(statement, values))
        return int(status.rpartition(" ")[2])

    def run_with_commit(self, statement: Statement, **values: str) -> None:
        """Send a statement with the COMMIT, without a round trip. Raises RuntimeError if there is no transaction."""
        if self.last is None:
            raise RuntimeError("there is no transaction to end")
        self.last.append(statement.render(values))

    async def each(self, statement: Statement, rows: Iterable[Mapping[str, Any]]) -> None:
        """Run a statement for many rows of values, in one round trip."""
        with span("sql", statement.sql):
            await self.raw.executemany(statement.sql, [self.arguments(statement, row) for row in rows])


async def prepare_connection(connection: asyncpg.Connection) -> None:
    """Set the codecs of a new connection: json values are bytes, to be passed on, and jsonb values Python objects."""
    await connection.set_type_codec("json", schema="pg_catalog", encoder=bytes, decoder=bytes, format="binary")
    await connection.set_type_codec("jsonb", schema="pg_catalog", encoder=document, decoder=orjson.loads)
    await connection.fetchval(SELECT_ARRAYS, *[[]] * 7)


async def warm(connection: asyncpg.Connection) -> None:
    """Run the statements that are slow at first on a connection to Citus, which loads its catalogue and connects to
    its workers."""
    for statement in WARMING.values():
        await connection.execute(statement.sql, *statement.arguments({"tenant_id": UUID(int=0)}))


def document(value: Any) -> str:
    return orjson.dumps(value, default=json_default).decode()


def json_default(value: Any) -> str:
    """Return a UUID as text: asyncpg returns its own class of UUID, which orjson cannot serialize."""
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"{type(value).__name__} is no JSON")
