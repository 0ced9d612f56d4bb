"""The pool: what it gives back, and what happens when there is none left."""

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


async def test_a_cancelled_write_leaves_nothing_behind(database: Database) -> None:
    """The connection comes back outside any transaction, and usable."""

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


async def test_a_request_does_not_wait_for_a_connection_for_ever(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
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


async def test_json_comes_as_postgres_wrote_it(database: Database) -> None:
    sql = """SELECT '{"b" :  1, "a": "é"}'::json AS answer, 20 AS size"""
    assert await database.json(sql, ()) == '{"b" :  1, "a": "é"}'.encode()
    async with database.connection() as connection:
        assert await connection.raw.fetchval("SELECT '{\"b\": [1, null]}'::jsonb") == {"b": [1, None]}
    await database.close()


async def test_ids_in_a_document_are_texts_and_what_is_no_json_is_refused(database: Database) -> None:
    made = UUID(int=1)
    async with database.connection() as connection:
        found = await connection.raw.fetchval("SELECT $1::uuid", made)
        shown = await connection.raw.fetchval("SELECT $1::jsonb", {"made": made, "found": [found]})
        with pytest.raises(asyncpg.DataError):
            await connection.raw.fetchval("SELECT $1::jsonb", {"a": {1, 2}})
    assert shown == {"made": str(made), "found": [str(made)]}
    await database.close()
