"""Tables whose statistics lack an owner's rows are analysed, and other tables are not."""

from collections.abc import AsyncIterator
from uuid import UUID

import asyncpg
import pytest

from db.database import Database
from db.table_statistics import analyze_tables

FIRST, SECOND = UUID(int=1), UUID(int=2)
ROW_ESTIMATE = "SELECT reltuples FROM pg_class WHERE relname = 'notes'"
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


async def test_a_table_without_statistics_is_analysed(database: Database, notes: asyncpg.Connection) -> None:
    await notes.execute(FILL, FIRST, 500)
    assert await notes.fetchval(ROW_ESTIMATE) == -1
    await analyze_tables(database, ["notes"], FIRST, 500)
    assert await notes.fetchval(ROW_ESTIMATE) == 500


async def test_a_table_with_statistics_of_another_owner_only_is_analysed(
    database: Database, notes: asyncpg.Connection
) -> None:
    await notes.execute(FILL, FIRST, 500)
    await notes.execute("ANALYZE notes")
    await notes.execute(FILL, SECOND, 50)
    await analyze_tables(database, ["notes"], SECOND, 50)
    assert await notes.fetchval(ROW_ESTIMATE) == 550


async def test_a_table_with_statistics_of_the_owner_is_analysed_after_growth(
    database: Database, notes: asyncpg.Connection
) -> None:
    await notes.execute(FILL, FIRST, 500)
    await notes.execute("ANALYZE notes")
    await notes.execute(FILL, FIRST, 100)
    await analyze_tables(database, ["notes"], FIRST, 600)
    assert await notes.fetchval(ROW_ESTIMATE) == 500, "as good as 600"
    await notes.execute(FILL, FIRST, 5000)
    await analyze_tables(database, ["notes"], FIRST, 5600)
    assert await notes.fetchval(ROW_ESTIMATE) == 5600


async def test_a_table_much_larger_than_the_new_rows_is_not_analysed(
    database: Database, notes: asyncpg.Connection
) -> None:
    await notes.execute(FILL, FIRST, 20_000)
    await notes.execute("ANALYZE notes")
    await notes.execute(FILL, SECOND, 10)
    await analyze_tables(database, ["notes"], SECOND, 10)
    assert await notes.fetchval(ROW_ESTIMATE) == 20_000
