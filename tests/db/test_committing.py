"""A cancelled transaction is committed or rolled back, and a commit that was sent is counted."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import asyncpg
import pytest

from db.committing import COUNTED, Commits, committing

SLOW = """
CREATE TABLE notes (text text);
CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.3); RETURN NULL; END';
CREATE CONSTRAINT TRIGGER dawdle AFTER INSERT ON notes DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION dawdle();
"""


@pytest.fixture
async def connection(empty_dsn: str) -> AsyncIterator[asyncpg.Connection]:
    """Return a connection whose COMMIT takes 0.3 seconds."""
    connection = await asyncpg.connect(empty_dsn)
    await connection.execute(SLOW)
    yield connection
    await connection.close()


async def notes(connection: asyncpg.Connection) -> int:
    found: int = await connection.fetchval("SELECT count(*) FROM notes")
    return found


async def write(connection: asyncpg.Connection, written: asyncio.Event, pause: float) -> None:
    async with committing(connection):
        await connection.execute("INSERT INTO notes VALUES ('x')")
        written.set()
        await asyncio.sleep(pause)


@contextmanager
def counting() -> Iterator[Commits]:
    """Count the commits of a block."""
    commits = Commits()
    before = COUNTED.set(commits)
    yield commits
    COUNTED.reset(before)


async def test_a_commit_in_progress_is_awaited_and_counted_on_cancellation(connection: asyncpg.Connection) -> None:
    written = asyncio.Event()
    with counting() as commits:
        task = asyncio.create_task(write(connection, written, 0))
        await written.wait()
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert (commits.done, await notes(connection)) == (1, 1)


async def test_a_commit_in_progress_is_awaited_and_counted_on_repeated_cancellation(
    connection: asyncpg.Connection,
) -> None:
    written = asyncio.Event()
    with counting() as commits:
        task = asyncio.create_task(write(connection, written, 0))
        await written.wait()
        await asyncio.sleep(0.1)
        for _ in range(3):
            task.cancel()
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (commits.done, await notes(connection)) == (1, 1)


async def test_a_commit_that_fails_after_a_cancellation_is_not_counted(connection: asyncpg.Connection) -> None:
    written = asyncio.Event()

    async def commit_with_error() -> None:
        async with committing(connection) as last:
            last.append("SELECT pg_sleep(0.2), 1 / 0")
            written.set()

    with counting() as commits:
        task = asyncio.create_task(commit_with_error())
        await written.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert commits.done == 0
    await connection.execute("ROLLBACK")


async def test_a_cancellation_at_the_end_of_the_block_does_not_stop_the_commit(connection: asyncpg.Connection) -> None:
    async def cancel_at_the_end() -> None:
        async with committing(connection):
            await connection.execute("INSERT INTO notes VALUES ('x')")
            task.cancel()

    with counting() as commits:
        task = asyncio.create_task(cancel_at_the_end())
        with pytest.raises(asyncio.CancelledError):
            await task
    assert (commits.done, await notes(connection)) == (1, 1)


async def test_a_transaction_cancelled_before_its_commit_is_rolled_back(connection: asyncpg.Connection) -> None:
    written = asyncio.Event()
    with counting() as commits:
        task = asyncio.create_task(write(connection, written, 60))
        await written.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert (commits.done, await notes(connection)) == (0, 0)
    assert not connection.is_in_transaction()


async def test_commits_outside_the_counting_block_are_not_counted(connection: asyncpg.Connection) -> None:
    with counting() as outer:
        with counting() as inner:
            await write(connection, asyncio.Event(), 0)
        assert (inner.done, outer.done) == (1, 0)
    await write(connection, asyncio.Event(), 0)
    assert outer.done == 0


async def test_final_statements_are_sent_with_the_commit_and_not_on_rollback(connection: asyncpg.Connection) -> None:
    sent: list[str] = []
    connection.add_query_logger(lambda record: sent.append(record.query))
    async with committing(connection) as last:
        last += ["INSERT INTO notes VALUES ('one')", "INSERT INTO notes VALUES ('two')"]
    await asyncio.sleep(0)
    assert sent == ["BEGIN;", "INSERT INTO notes VALUES ('one');INSERT INTO notes VALUES ('two');COMMIT;"]
    with pytest.raises(ZeroDivisionError):
        await failing(connection)
    assert await notes(connection) == 2


async def failing(connection: asyncpg.Connection) -> None:
    async with committing(connection) as last:
        last.append("INSERT INTO notes VALUES ('x')")
        raise ZeroDivisionError


async def test_a_failed_commit_raises_and_is_not_counted(connection: asyncpg.Connection) -> None:
    async def commit_with_error() -> None:
        async with committing(connection) as last:
            await connection.execute("INSERT INTO notes VALUES ('x')")
            last.append("SELECT 1 / 0")

    with counting() as commits, pytest.raises(asyncpg.DivisionByZeroError):
        await commit_with_error()
    assert commits.done == 0
    await connection.execute("ROLLBACK")
    assert await notes(connection) == 0
