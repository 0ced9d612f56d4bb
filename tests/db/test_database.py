"""A database: cancelled writes, waiting for a connection, and JSON values."""

import asyncio
from uuid import UUID

import asyncpg
import pytest

from db.database import Database
from db.ids import new_id
from resolvers.errors import Unavailable
from resolvers.transactions.db_errors import translated_db_errors


@pytest.fixture
async def database(dsn: str) -> Database:
    database = Database(dsn, size=1)
    await database.open()
    return database


async def test_a_cancelled_write_is_rolled_back(database: Database) -> None:
    """The connection is returned outside any transaction, and is usable."""

    async def write() -> None:
        async with database.transaction() as connection:
            sql = "INSERT INTO tenants (tenant_id, slug, name) VALUES ($1, 'a', 'A')"
            await connection.raw.execute(sql, new_id())
            await connection.raw.execute("SELECT pg_sleep(60)")

    running = asyncio.create_task(write())
    await asyncio.sleep(0.2)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    async with database.connection() as connection:
        assert not connection.raw.is_in_transaction()
        assert await connection.raw.fetchval("SELECT count(*) FROM tenants") == 0
    await database.close()


async def test_waiting_for_a_connection_times_out(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("db.pool.POOL_TIMEOUT", 0.2)
    database = Database(dsn, size=1)
    await database.open()
    async with database.connection():
        with pytest.raises(Unavailable), translated_db_errors():
            await database.ping()
        async with database.searching():  # reads have connections of their own
            pass
    await database.ping()
    await database.close()


async def test_json_is_returned_as_postgres_wrote_it(database: Database) -> None:
    sql = """SELECT '{"b" :  1, "a": "é"}'::json AS answer, 20 AS size"""
    assert await database.json(sql, ()) == '{"b" :  1, "a": "é"}'.encode()
    async with database.connection() as connection:
        assert await connection.raw.fetchval("SELECT '{\"b\": [1, null]}'::jsonb") == {"b": [1, None]}
    await database.close()


async def test_ids_in_json_parameters_are_texts_and_other_types_are_refused(database: Database) -> None:
    own_id = UUID(int=1)
    async with database.connection() as connection:
        found = await connection.raw.fetchval("SELECT $1::uuid", own_id)
        shown = await connection.raw.fetchval("SELECT $1::jsonb", {"made": own_id, "found": [found]})
        with pytest.raises(asyncpg.DataError):
            await connection.raw.fetchval("SELECT $1::jsonb", {"a": {1, 2}})
    assert shown == {"made": str(own_id), "found": [str(own_id)]}
    await database.close()
