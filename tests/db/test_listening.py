"""The connection that hears: made again when it is lost, and honest about being deaf."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import asyncpg
import pytest

from db import listening
from db.database import Database
from db.listening import CHANNEL, Listener
from tests.waiting import within

SOON = 30.0


class Heard:
    """What a listener was told, as it comes; `<resumed>` where something may have been missed."""

    def __init__(self, database: Database, dsn: str | None) -> None:
        self.queue: asyncio.Queue[str] = asyncio.Queue()
        self.listener = Listener(database, self.queue.put_nowait, lambda: self.queue.put_nowait("<resumed>"), dsn)

    async def next(self) -> str:
        async with asyncio.timeout(SOON):
            return await self.queue.get()


@asynccontextmanager
async def listening_to(dsn: str, other: str | None = None) -> AsyncIterator[Heard]:
    """To the database at `dsn`, by another way where one is given."""
    database = Database(dsn, size=1)
    await database.open()
    heard = Heard(database, other)
    running = asyncio.create_task(heard.listener.run())
    try:
        yield heard
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        await database.close()


async def say(dsn: str, text: str) -> None:
    connection = await asyncpg.connect(dsn)
    await connection.execute("SELECT pg_notify($1, $2)", CHANNEL, text)
    await connection.close()


async def test_what_is_committed_is_heard_in_order(dsn: str) -> None:
    async with listening_to(dsn) as heard:
        assert await heard.next() == "<resumed>"
        for text in "abc":
            await say(dsn, text)
        assert [await heard.next() for _ in range(3)] == ["a", "b", "c"]


async def test_a_lost_connection_is_made_again_and_said_to_have_been_lost(dsn: str) -> None:
    async with listening_to(dsn) as heard:
        assert await heard.next() == "<resumed>"
        admin = await asyncpg.connect(dsn)
        await admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cairn listening' "
            "AND datname = current_database()"
        )
        await admin.close()
        assert await heard.next() == "<resumed>"
        await say(dsn, "again")
        assert await heard.next() == "again"


async def test_a_connection_that_brings_nothing_is_given_up(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As through a pooler that takes LISTEN and forgets it."""
    monkeypatch.setattr(listening, "TIMEOUT", 0.2)
    monkeypatch.setattr(listening, "BEAT", 0.05)
    async with listening_to(dsn) as heard:
        assert await heard.next() == "<resumed>"
        heard.listener.own_channel, own = "elsewhere", heard.listener.own_channel
        async with within("the listener still listened"):
            while heard.listener.listening.is_set():
                await asyncio.sleep(0.01)
        heard.listener.own_channel = own
        assert await heard.next() == "<resumed>"


async def test_a_way_to_another_database_is_found_out(
    dsn: str, server_dsn: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(listening, "TIMEOUT", 0.2)
    async with listening_to(dsn, server_dsn) as heard:
        async with asyncio.timeout(SOON):
            while "CAIRN_LISTEN_URL" not in caplog.text:
                await asyncio.sleep(0.01)
        assert heard.queue.empty()


async def test_a_server_that_is_not_there_yet_is_waited_for(dsn: str) -> None:
    async with listening_to(dsn, dsn.replace("cairn_test", "cairn_later")) as heard:
        await asyncio.sleep(0.3)
        assert heard.queue.empty()
        heard.listener.dsn = dsn
        assert await heard.next() == "<resumed>"
