"""The pool on a real Postgres: broken, cancelled and restarted connections recover, and waiting ends."""

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import asyncpg
import pytest

from db.database import Database
from db.embedded import EmbeddedServer
from db.pool import Pool
from db.waiters import Exhausted
from resolvers.errors import Unavailable
from resolvers.transactions.db_errors import translated_db_errors
from tests.waiting import within

BACKEND_PID = "SELECT pg_backend_pid()"
LONG = "SELECT pg_sleep(60)"


async def cancel_after(task: "asyncio.Task[None]", after: float = 0.1) -> None:
    await asyncio.sleep(after)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_the_pool_grows_on_demand_and_keeps_its_connections(pool: Pool) -> None:
    assert (pool.total, len(pool.idle)) == (1, 1)
    async with pool.acquire() as one, pool.acquire() as other:
        assert await one.fetchval(BACKEND_PID) != await other.fetchval(BACKEND_PID)
    assert (pool.total, len(pool.idle), pool.opened) == (2, 2, 2)


async def test_acquiring_a_connection_costs_no_round_trip(pool: Pool) -> None:
    async with pool.acquire() as connection:
        sent: list[str] = []
        connection.add_query_logger(lambda record: sent.append(record.query))
    for _ in range(3):
        async with pool.acquire() as connection:
            await connection.fetchval(BACKEND_PID)
    await asyncio.sleep(0)
    assert sent == [BACKEND_PID] * 3


async def test_a_cancelled_statement_is_ended_before_its_connection_is_lent_again(pool: Pool) -> None:
    long = f"{LONG} /* of this test alone */"

    async def ask() -> None:
        async with pool.acquire() as connection:
            await connection.fetchval(long)

    for _ in range(3):
        await cancel_after(asyncio.create_task(ask()), after=0.05)
    async with asyncio.timeout(10), pool.acquire() as one, pool.acquire() as other:
        assert await one.fetchval("SELECT 1") == await other.fetchval("SELECT 1") == 1
        count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query = $1"
        assert await one.fetchval(count, long) == 0


@pytest.mark.parametrize("moment", range(8))
async def test_a_transaction_cancelled_at_any_moment_leaves_a_clean_connection(pool: Pool, moment: int) -> None:
    """It is cancelled while it begins, runs or commits."""

    async def write() -> None:
        async with pool.acquire() as connection, connection.transaction():
            await connection.execute("SELECT 1")
            await connection.execute("SELECT 2")

    task = asyncio.create_task(write())
    for _ in range(moment):
        await asyncio.sleep(0)
    await cancel_after(task, after=0)
    async with pool.acquire() as one, pool.acquire() as other:
        for connection in (one, other):
            assert not connection.is_in_transaction()
            async with connection.transaction():
                assert await connection.fetchval("SELECT 1") == 1


async def test_a_connection_is_reused_after_a_postgres_error(pool: Pool) -> None:
    async with pool.acquire() as connection:
        backend = await connection.fetchval(BACKEND_PID)
    with pytest.raises(asyncpg.DivisionByZeroError):
        async with pool.acquire() as connection:
            await connection.fetchval("SELECT 1 / 0")
    assert not pool.tasks
    async with pool.acquire() as connection:
        assert await connection.fetchval(BACKEND_PID) == backend


async def test_session_settings_are_reset_after_a_cancelled_task(pool: Pool) -> None:
    async def change() -> None:
        async with pool.acquire() as connection:
            await connection.execute("SET statement_timeout = 1234567")
            await connection.fetchval(LONG)

    await cancel_after(asyncio.create_task(change()))
    async with pool.acquire() as one, pool.acquire() as other:
        for connection in (one, other):
            assert await connection.fetchval("SHOW statement_timeout") == "10s"


async def test_a_connection_is_reset_and_not_replaced_after_a_cancelled_task(pool: Pool) -> None:
    async def run_long() -> None:
        async with pool.acquire() as connection:
            backends.append(await connection.fetchval(BACKEND_PID))
            await connection.fetchval(LONG)

    backends: list[int] = []
    opened = pool.opened
    await cancel_after(asyncio.create_task(run_long()))
    async with within("the connection was not reset"):
        await asyncio.gather(*pool.tasks)
    async with pool.acquire() as connection:
        assert [await connection.fetchval(BACKEND_PID)] == backends
    assert pool.opened == opened


async def test_terminated_backends_are_replaced(pool: Pool) -> None:
    end = "SELECT pg_terminate_backend($1, 10000)"  # and wait until it has ended
    async with pool.acquire() as one, pool.acquire() as other:
        assert await other.fetchval(end, await one.fetchval(BACKEND_PID))
        with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)):
            await one.fetchval(BACKEND_PID)
    async with pool.acquire() as one, pool.acquire() as other:  # and one that dies while it is idle
        backend = await one.fetchval(BACKEND_PID)
        await other.fetchval(BACKEND_PID)
    async with pool.acquire() as connection:
        if await connection.fetchval(BACKEND_PID) != backend:
            await connection.fetchval(end, backend)
    await asyncio.sleep(0.1)
    for _ in range(4):
        async with pool.acquire() as one, pool.acquire() as other:
            assert await one.fetchval("SELECT 1") == await other.fetchval("SELECT 1") == 1
    assert pool.total == 2


async def test_requests_beyond_the_queue_limit_are_refused_at_once(database: Database, pool: Pool) -> None:
    async with pool.acquire(), pool.acquire():
        waiting = [asyncio.create_task(database.ping()) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(Unavailable, match="busy"), translated_db_errors():
            await database.ping()
        assert (len(pool.waiting), pool.refused) == (3, 1)
    await asyncio.gather(*waiting)
    assert (len(pool.waiting), len(pool.idle)) == (0, 2)


async def test_waiting_for_a_connection_ends_at_the_timeout(shared_dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("db.pool.POOL_TIMEOUT", 0.2)
    database = Database(shared_dsn, size=1)
    await database.open()
    async with database.connection():
        ends = await asyncio.gather(*(database.ping() for _ in range(3)), return_exceptions=True)
        assert [type(end) for end in ends] == [Exhausted] * 3
        later = asyncio.create_task(database.ping())
        await asyncio.sleep(0.05)
    await later
    await database.close()


async def test_waiting_tasks_reuse_connections_when_the_server_refuses_more(shared_dsn: str) -> None:
    """A server or a pooler that allows fewer connections than the pool size slows it down, and refuses no request."""
    opened = list[asyncpg.Connection]()

    async def connect() -> asyncpg.Connection:
        if opened:
            raise asyncpg.TooManyConnectionsError("sorry, too many clients already")
        opened.append(await asyncpg.connect(shared_dsn))
        return opened[0]

    pool = Pool(connect, size=4, queue=20)
    await pool.open()

    async def ask() -> int:
        async with pool.acquire() as connection:
            found: int = await connection.fetchval("SELECT 1 FROM pg_sleep(0.01)")
            return found

    assert await asyncio.gather(*(ask() for _ in range(12))) == [1] * 12
    opened[0].terminate()
    with pytest.raises(asyncpg.TooManyConnectionsError):
        await asyncio.wait_for(ask(), 5)
    opened.clear()
    assert await asyncio.wait_for(ask(), 5) == 1
    assert pool.total == 1
    await pool.close()


async def test_statements_are_prepared_anew_after_a_table_changed(dsn: str) -> None:
    """The driver cannot retry within a transaction: it fails once, and no second connection has to fail."""
    database = Database(dsn, size=3)
    await database.open()
    read = "SELECT * FROM tenants"
    async with database.connection() as one, database.connection() as two, database.connection() as three:
        for connection in (one, two, three):
            await connection.raw.fetch(read)
    migrating = await asyncpg.connect(dsn)
    await migrating.execute("ALTER TABLE tenants ADD COLUMN more text")
    await migrating.close()
    async with database.connection():  # one is lent, one is idle, and the third finds out
        with pytest.raises(asyncpg.InvalidCachedStatementError):
            async with database.transaction() as connection:
                await connection.raw.fetch(read)
    async with database.transaction() as one, database.transaction() as two, database.transaction() as three:
        for connection in (one, two, three):
            assert await connection.raw.fetch(read) == []
    await database.close()


async def test_without_a_statement_cache_nothing_is_prepared(dsn: str) -> None:
    """Behind some poolers, prepared statements are lost."""
    database = Database(dsn, size=1, statement_cache=0)
    await database.open()
    for _ in range(3):
        assert await database.json("SELECT json_build_array($1::int) AS answer, 3 AS size", [7]) == b"[7]"
    async with database.connection() as connection:
        assert await connection.raw.fetchval("SELECT count(*) FROM pg_prepared_statements") == 0
    await database.close()


async def test_closing_waits_for_running_work_and_refuses_waiting_requests(shared_dsn: str) -> None:
    database = Database(shared_dsn, size=1)
    await database.open()
    begun = asyncio.Event()

    async def work() -> int:
        async with database.connection() as connection:
            begun.set()
            return int(await connection.raw.fetchval("SELECT 1 FROM pg_sleep(0.1)"))

    working = asyncio.create_task(work())
    await begun.wait()
    waiting = asyncio.create_task(database.ping())
    await asyncio.sleep(0)
    await database.close()
    assert await working == 1
    with pytest.raises(asyncpg.InterfaceError, match="closed"):
        await waiting


async def test_closing_terminates_connections_after_the_timeout(
    shared_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(shared_dsn, size=1)
    await database.open()
    pool = database.pool
    assert pool is not None

    begun = asyncio.Event()

    async def hold() -> None:
        async with pool.acquire() as connection:
            begun.set()
            await connection.fetchval(LONG)

    holding = asyncio.create_task(hold())
    await begun.wait()
    await asyncio.sleep(0)
    monkeypatch.setattr("db.pool.POOL_TIMEOUT", 0.1)
    await database.close()
    with pytest.raises(asyncpg.ConnectionDoesNotExistError):
        await holding
    assert pool.total == 0


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="cairn-test-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


async def test_the_pool_reconnects_after_a_server_restart(folder: Path) -> None:
    server = EmbeddedServer(folder, durable=False)
    dsn = await asyncio.to_thread(server.start)
    database = Database(dsn, size=3)
    await database.open()
    async with database.connection(), database.connection(), database.connection():
        pass
    await asyncio.to_thread(server.stop)
    for _ in range(4):
        with pytest.raises(Unavailable), translated_db_errors():
            await database.ping()
    await asyncio.to_thread(server.start)
    await asyncio.gather(*(database.ping() for _ in range(20)))
    assert database.pool is not None
    assert database.pool.total <= 3
    await database.close()
    await asyncio.to_thread(server.stop)
