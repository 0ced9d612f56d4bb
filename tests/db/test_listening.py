"""The listening connection is reopened when it is lost, and reports that notifications may have been missed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import asyncpg
import pytest

from db import listening, pool
from db.database import Database
from db.listening import CHANNEL, Listener
from tests.waiting import within

SOON = 30.0


class Notifications:
    """The notifications of a listener in order, with `<resumed>` where some may have been missed."""

    def __init__(self, database: Database, dsn: str | None) -> None:
        self.queue: asyncio.Queue[str] = asyncio.Queue()
        self.listener = Listener(database, self.queue.put_nowait, lambda: self.queue.put_nowait("<resumed>"), dsn)

    async def next(self) -> str:
        async with asyncio.timeout(SOON):
            return await self.queue.get()


@asynccontextmanager
async def listening_to(dsn: str, other: str | None = None) -> AsyncIterator[Notifications]:
    """Listen to the database at `dsn`, connecting by `other` if it is given."""
    database = Database(dsn, size=1)
    await database.open()
    notifications = Notifications(database, other)
    running = asyncio.create_task(notifications.listener.run())
    try:
        yield notifications
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        await database.close()


async def notify(dsn: str, text: str) -> None:
    connection = await asyncpg.connect(dsn)
    await connection.execute("SELECT pg_notify($1, $2)", CHANNEL, text)
    await connection.close()


async def test_committed_notifications_arrive_in_order(dsn: str) -> None:
    async with listening_to(dsn) as notifications:
        assert await notifications.next() == "<resumed>"
        for text in "abc":
            await notify(dsn, text)
        assert [await notifications.next() for _ in range(3)] == ["a", "b", "c"]


async def test_a_lost_connection_is_reopened_and_the_gap_is_reported(dsn: str) -> None:
    async with listening_to(dsn) as notifications:
        assert await notifications.next() == "<resumed>"
        admin = await asyncpg.connect(dsn)
        await admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cairn listening' "
            "AND datname = current_database()"
        )
        await admin.close()
        assert await notifications.next() == "<resumed>"
        await notify(dsn, "again")
        assert await notifications.next() == "again"


async def test_a_connection_without_notifications_is_reopened(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pooler that accepts LISTEN and loses it is such a connection."""
    monkeypatch.setattr(listening, "TIMEOUT", 0.2)
    monkeypatch.setattr(listening, "BEAT", 0.05)
    async with listening_to(dsn) as notifications:
        assert await notifications.next() == "<resumed>"
        notifications.listener.own_channel, own = "elsewhere", notifications.listener.own_channel
        async with within("the listener still listened"):
            while notifications.listener.listening.is_set():
                await asyncio.sleep(0.01)
        notifications.listener.own_channel = own
        assert await notifications.next() == "<resumed>"


async def test_a_busy_pool_does_not_end_the_listening(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "BEAT", 0.01)
    monkeypatch.setattr(pool, "POOL_TIMEOUT", 0.01)
    async with listening_to(dsn) as notifications:
        assert await notifications.next() == "<resumed>"
        busy = notifications.listener.database.pool
        assert busy is not None
        async with pool.acquire(busy):
            refused = busy.refused
            async with within("no check was refused"):
                while busy.refused < refused + 2:
                    await asyncio.sleep(0.01)
            await notify(dsn, "heard")
            assert await notifications.next() == "heard"


async def test_a_listen_url_of_another_database_is_detected(
    dsn: str, server_dsn: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(listening, "TIMEOUT", 0.2)
    async with listening_to(dsn, server_dsn) as notifications:
        async with asyncio.timeout(SOON):
            while "CAIRN_LISTEN_URL" not in caplog.text:
                await asyncio.sleep(0.01)
        assert notifications.queue.empty()


async def test_the_listener_waits_for_a_server_that_is_not_up_yet(dsn: str) -> None:
    async with listening_to(dsn, dsn.replace("cairn_test", "cairn_later")) as notifications:
        await asyncio.sleep(0.3)
        assert notifications.queue.empty()
        notifications.listener.dsn = dsn
        assert await notifications.next() == "<resumed>"
