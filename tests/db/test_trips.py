"""Reads that wait for a connection share the one that comes, and each fares as if it had gone alone."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from db import pool as pools
from db import trips as module
from db.database import Database
from db.pool import Exhausted, Pool
from db.trips import LOAD, MOST, OTHERWISE
from selection.trail import TRAIL, Trail

DIVIDE = "SELECT to_json(60 / $1::int)"
SLEEP = "SELECT to_json(pg_sleep($1)::text)"
Read = asyncio.Task[bytes | None]


@pytest.fixture
async def database(shared_dsn: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Database]:
    """With one connection for reads. A busy machine makes no read a slow one."""
    monkeypatch.setattr(module, "LONG", 5)
    database = Database(shared_dsn, size=1, queue=20)
    await database.open()
    yield database
    await database.close()


def pool_of(database: Database) -> Pool:
    assert database.read_pool is not None
    return database.read_pool


def reads(database: Database, sql: str, values: Sequence[object], rows: int | None = 1) -> list[Read]:
    """Each a task of its own, begun in this order."""
    return [asyncio.create_task(database.json(sql, [value], rows)) for value in values]


async def waiting(database: Database, sql: str, values: Sequence[object], rows: int | None = 1) -> list[Read]:
    begun = reads(database, sql, values, rows)
    await asyncio.sleep(0)
    return begun


@contextmanager
def busy(database: Database) -> Iterator[None]:
    """No connection is idle meanwhile."""
    connection = pool_of(database).take_idle()
    assert connection is not None
    try:
        yield
    finally:
        pool_of(database).give(connection)


def trips(database: Database) -> int:
    """How often a connection was lent so far."""
    return pool_of(database).acquired


async def test_reads_that_wait_go_together_and_each_gets_its_own(database: Database) -> None:
    with busy(database):
        before = trips(database)
        begun = await waiting(database, DIVIDE, [1, 2, 3, 4, 5])
    assert await asyncio.gather(*begun) == [b"60", b"30", b"20", b"15", b"12"]
    assert trips(database) - before == 1


async def test_who_need_not_wait_goes_at_once(database: Database) -> None:
    before = trips(database)
    assert await database.json(DIVIDE, [3], 1) == b"20"
    assert trips(database) - before == 1


async def test_other_statements_go_on_trips_of_their_own(database: Database) -> None:
    with busy(database):
        before = trips(database)
        begun = await waiting(database, DIVIDE, [1, 2])
        begun += await waiting(database, "SELECT to_json(7 * $1::int)", [1, 2])
    assert await asyncio.gather(*begun) == [b"60", b"30", b"7", b"14"]
    assert trips(database) - before == 2


@pytest.mark.parametrize(
    ("rows", "together"),
    [
        (1, MOST),
        (LOAD // MOST, MOST),
        (LOAD // 3, 3),
        (LOAD // 2, 2),
        (LOAD // 2 + 1, 1),
        (LOAD + 1, 1),
        (None, LOAD // OTHERWISE),
    ],
)
async def test_a_trip_has_so_much_room(database: Database, rows: int | None, together: int) -> None:
    with busy(database):
        before = trips(database)
        begun = await waiting(database, DIVIDE, [1] * (2 * together), rows)
    assert await asyncio.gather(*begun) == [b"60"] * (2 * together)
    assert trips(database) - before == 2


@pytest.mark.parametrize("bad", range(3))
async def test_what_fails_fails_alone(database: Database, bad: int) -> None:
    values = [2, 2, 2]
    values[bad] = 0
    with busy(database):
        begun = await waiting(database, DIVIDE, values)
    found = await asyncio.gather(*begun, return_exceptions=True)
    assert isinstance(found.pop(bad), asyncpg.DivisionByZeroError)
    assert found == [b"30"] * 2


@pytest.mark.parametrize("gone", range(3))
async def test_who_leaves_while_all_wait_leaves_alone(database: Database, gone: int) -> None:
    with busy(database):
        begun = await waiting(database, DIVIDE, [2, 2, 2])
        begun[gone].cancel()
        await asyncio.sleep(0)
    found = await asyncio.gather(*begun, return_exceptions=True)
    assert isinstance(found.pop(gone), asyncio.CancelledError)
    assert found == [b"30"] * 2


async def test_who_left_is_not_read_for(database: Database) -> None:
    with busy(database):
        before = trips(database)
        begun = await waiting(database, DIVIDE, [2, 0, 3])
        begun[1].cancel()
        await asyncio.sleep(0)
    assert [await begun[0], await begun[2]] == [b"30", b"20"]
    assert trips(database) - before == 1


@pytest.mark.parametrize("gone", range(3))
async def test_who_leaves_on_the_way_leaves_alone(database: Database, gone: int) -> None:
    with busy(database):
        begun = await waiting(database, SLEEP, [0.1, 0.1, 0.1])
    await asyncio.sleep(0.05)
    begun[gone].cancel()
    async with asyncio.timeout(10):
        found = await asyncio.gather(*begun, return_exceptions=True)
    assert isinstance(found.pop(gone), asyncio.CancelledError)
    assert found == [b'""'] * 2
    assert await database.json(DIVIDE, [6], 1) == b"10"


async def test_a_slow_read_holds_up_nobody_else(shared_dsn: str) -> None:
    database = Database(shared_dsn, size=2)
    await database.open()
    pool = pool_of(database)
    async with pool.lend(), pool.lend():
        slow, quick = await waiting(database, SLEEP, [30, 0])
    async with asyncio.timeout(10):
        assert await quick == b'""'
    assert not slow.done()
    slow.cancel()
    await asyncio.gather(slow, return_exceptions=True)
    await database.close()


async def test_what_took_long_is_not_shared_for_a_while(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    async def gone(values: Sequence[float]) -> int:
        with busy(database):
            before = trips(database)
            begun = await waiting(database, SLEEP, values)
        assert await asyncio.gather(*begun) == [b'""'] * len(values)
        return trips(database) - before

    assert await gone([0, 0]) == 1
    monkeypatch.setattr(module, "LONG", 0.05)
    monkeypatch.setattr(module, "APART", 2)
    assert await gone([0.2, 0]) == 2, "the second goes again, alone"
    assert await gone([0, 0]) == 2
    await asyncio.sleep(2)
    monkeypatch.setattr(module, "LONG", 5)
    assert await gone([0, 0]) == 1


async def test_each_has_the_time_of_a_statement(shared_dsn: str) -> None:
    database = Database(shared_dsn, size=1, statement_timeout=0.5)
    await database.open()
    with busy(database):
        begun = await waiting(database, SLEEP, [0.3, 0.3, 0.3, 5])
    found = await asyncio.gather(*begun, return_exceptions=True)
    assert found[:3] == [b'""'] * 3
    assert isinstance(found[3], asyncpg.QueryCanceledError)
    await database.close()


async def test_a_backend_that_dies_on_the_way_is_told_to_each(database: Database, shared_dsn: str) -> None:
    with busy(database):
        begun = await waiting(database, SLEEP, [30, 30, 30])
    look = await asyncpg.connect(shared_dsn)
    async with asyncio.timeout(10):
        while not all(read.done() for read in begun):
            await look.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = $1 AND state = 'active'", SLEEP
            )
            await asyncio.sleep(0.02)
    await look.close()
    found = await asyncio.gather(*begun, return_exceptions=True)
    assert all(isinstance(one, asyncpg.PostgresError | asyncpg.PostgresConnectionError | OSError) for one in found)
    assert await database.json(DIVIDE, [6], 1) == b"10"


async def test_what_was_committed_before_a_read_began_is_seen_by_it(database: Database, shared_dsn: str) -> None:
    name = "trips_seen"
    look = await asyncpg.connect(shared_dsn)
    await look.execute(f"CREATE TABLE IF NOT EXISTS {name} (n int)")
    await look.execute(f"TRUNCATE {name}")
    count = f"SELECT to_json(count(*)) FROM {name} WHERE $1::int = 0"
    try:
        with busy(database):
            (first,) = await waiting(database, count, [0])
            await look.execute(f"INSERT INTO {name} VALUES (1)")
            (second,) = await waiting(database, count, [0])
        assert await first in (b"0", b"1")
        assert await second == b"1"
    finally:
        await look.execute(f"DROP TABLE {name}")
        await look.close()


async def test_all_who_wait_count(database: Database) -> None:
    with busy(database):
        begun = await waiting(database, DIVIDE, [1] * 20)
        assert database.pools()["reads"].waiting == 20
        with pytest.raises(Exhausted):
            await database.json(DIVIDE, [1], 1)
        with pytest.raises(Exhausted):
            await database.json("SELECT to_json($1::int)", [1], 1)
    await asyncio.gather(*begun)
    assert database.pools()["reads"].waiting == 0


async def test_all_have_waited_too_long_with_who_began(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "PATIENCE", 0.05)
    with busy(database):
        begun = await waiting(database, DIVIDE, [1, 2, 3])
        found = await asyncio.gather(*begun, return_exceptions=True)
    assert [type(one) for one in found] == [Exhausted] * 3
    assert (pool_of(database).refused, database.pools()["reads"].waiting) == (3, 0)


async def test_a_pool_that_closes_says_so_to_all(shared_dsn: str) -> None:
    database = Database(shared_dsn, size=1)
    await database.open()
    pool = pool_of(database)
    connection = pool.take_idle()
    assert connection is not None
    begun = await waiting(database, DIVIDE, [1, 2, 3])
    closing = asyncio.create_task(database.close())
    found = await asyncio.gather(*begun, return_exceptions=True)
    assert [type(one) for one in found] == [asyncpg.InterfaceError] * 3
    pool.give(connection)
    await closing


async def test_each_notes_its_own_wait_and_statement(database: Database) -> None:
    async def noting(value: int) -> list[tuple[str, str]]:
        trail = Trail("x")
        TRAIL.set(trail)
        await database.json(DIVIDE, [value], 1)
        assert all(part.ended >= part.began for part in trail.parts)
        return [(part.what, part.sql) for part in trail.parts]

    with busy(database):
        begun = [asyncio.create_task(noting(value)) for value in (1, 2)]
        await asyncio.sleep(0)
    assert await asyncio.gather(*begun) == [[("wait", ""), ("sql", DIVIDE)]] * 2
    assert await asyncio.create_task(noting(3)) == [("sql", DIVIDE)]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.sampled_from([0, 1, 2, 3]), st.sampled_from([None, 1, 400]), st.booleans()), max_size=20),
    st.integers(0, 5),
)
async def test_whatever_is_read_and_given_up_each_fares_as_if_alone(
    database: Database, asked: list[tuple[int, int | None, bool]], after: int
) -> None:
    with busy(database):
        begun = [read for value, rows, _ in asked for read in reads(database, DIVIDE, [value], rows)]
        await asyncio.sleep(0)
    for _ in range(after):
        await asyncio.sleep(0)
    for read, (_, _, gives_up) in zip(begun, asked, strict=True):
        if gives_up:
            read.cancel()
    async with asyncio.timeout(20):
        found = await asyncio.gather(*begun, return_exceptions=True)
    for one, (value, _, gives_up) in zip(found, asked, strict=True):
        if not (gives_up and isinstance(one, asyncio.CancelledError)):
            assert isinstance(one, asyncpg.DivisionByZeroError) if value == 0 else one == b"%d" % (60 // value)
    assert database.pools()["reads"].waiting == 0
    assert await database.json(DIVIDE, [5], 1) == b"12"
