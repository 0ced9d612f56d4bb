"""Postgres is told of rows that it has not noticed, and asked for nothing where it has."""

from collections.abc import AsyncIterator
from uuid import UUID

import asyncpg
import pytest

from db.database import Database
from db.table_statistics import analyze_tables

FIRST, SECOND = UUID(int=1), UUID(int=2)
KNOWN = "SELECT reltuples FROM pg_class WHERE relname = 'notes'"
FILL = "INSERT INTO notes SELECT $1, n FROM generate_series(1, $2) AS n"


@pytest.fixture
async def database(dsn: str) -> AsyncIterator[Database]:
    found = Database(dsn, size=1)
    await found.open()
    yield found
    await found.close()


@pytest.fixture
async def notes(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(dsn)
    await connection.execute("CREATE TABLE notes (owner_id uuid, n integer) WITH (autovacuum_enabled = false)")
    yield connection
    await connection.close()


async def test_a_table_that_was_never_looked_at_is_looked_at(database: Database, notes: asyncpg.Connection) -> None:
    await notes.execute(FILL, FIRST, 500)
    assert await notes.fetchval(KNOWN) == -1
    await analyze_tables(database, ["notes"], FIRST, 500)
    assert await notes.fetchval(KNOWN) == 500


async def test_so_is_one_that_knows_another_owner_alone(database: Database, notes: asyncpg.Connection) -> None:
    await notes.execute(FILL, FIRST, 500)
    await notes.execute("ANALYZE notes")
    await notes.execute(FILL, SECOND, 50)
    await analyze_tables(database, ["notes"], SECOND, 50)
    assert await notes.fetchval(KNOWN) == 550


async def test_one_that_knows_the_owner_is_left_alone(database: Database, notes: asyncpg.Connection) -> None:
    await notes.execute(FILL, FIRST, 500)
    await notes.execute("ANALYZE notes")
    await notes.execute(FILL, FIRST, 100)
    await analyze_tables(database, ["notes"], FIRST, 600)
    assert await notes.fetchval(KNOWN) == 500, "as good as 600"
    await notes.execute(FILL, FIRST, 5000)
    await analyze_tables(database, ["notes"], FIRST, 5600)
    assert await notes.fetchval(KNOWN) == 5600


async def test_one_that_is_large_beside_what_was_written_is_left_alone(
    database: Database, notes: asyncpg.Connection
) -> None:
    await notes.execute(FILL, FIRST, 20_000)
    await notes.execute("ANALYZE notes")
    await notes.execute(FILL, SECOND, 10)
    await analyze_tables(database, ["notes"], SECOND, 10)
    assert await notes.fetchval(KNOWN) == 20_000
