"""Tests that two replicas share the reads, and that the primary answers them if both fail."""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator
from pathlib import Path

import asyncpg
import pytest

from db.embedded import EmbeddedServer
from tests.app.operations.replicas.replication import (
    READ,
    ReadCounter,
    pause_replay,
    read_titles,
    token_of,
    wait_for_metric,
    write_page,
)
from tests.app.service import Service, serving
from tests.standby import Pair, another_standby, kill, running_pair
from tests.waiting import within
from tests.wiki import Wiki, close_wiki, open_wiki

NAMES = ("replica-1", "replica-2")


@pytest.fixture(scope="module")
def pair(migrated_server_dir: Path) -> Iterator[Pair]:
    with running_pair(migrated_server_dir, is_synchronous=False) as servers:
        yield servers


@pytest.fixture(scope="module")
def standbys(pair: Pair) -> Iterator[tuple[EmbeddedServer, EmbeddedServer]]:
    with another_standby(pair) as third:
        yield pair.second, third


@pytest.fixture
async def wiki(pair: Pair) -> AsyncIterator[Wiki]:
    wiki = await open_wiki(pair.dsn(pair.sockets()[0]))
    yield wiki
    await close_wiki(wiki)


@pytest.fixture
async def late(pair: Pair, standbys: tuple[EmbeddedServer, EmbeddedServer]) -> AsyncIterator[asyncpg.Connection]:
    """Return a connection to the first standby, whose WAL replay is resumed when the test ends."""
    connection = await asyncpg.connect(pair.dsn(standbys[0].postmaster()[4]))
    yield connection
    await connection.execute("SELECT pg_wal_replay_resume()")
    await connection.close()


@pytest.fixture
async def service(
    pair: Pair, standbys: tuple[EmbeddedServer, EmbeddedServer], wiki: Wiki, tmp_path: Path, max_lag: float
) -> AsyncIterator[Service]:
    primary, *sockets = (server.postmaster()[4] for server in (pair.first, *standbys))
    given = {"read_database_urls": ",".join(map(pair.dsn, sockets)), "metrics": "local", "read_wait": 0.05}
    async with serving(pair.dsn(primary), tmp_path, read_max_lag=max_lag, **given) as running:
        for name in NAMES:
            await wait_for_metric(running, ("cairn_replicas_aside", name), 0)
        yield running


@pytest.fixture
def max_lag() -> float:
    return 600


async def seen_by(service: Service, token: str, position: str, names: Collection[str] = NAMES) -> None:
    """Wait until these replicas answer reads with a position, and none of these reads goes to the primary."""
    async with within(f"{names} do not have the position {position}"):
        while True:
            async with ReadCounter(service) as spread:
                await asyncio.gather(*(read_titles(service, token, position) for _ in range(8)))
            if set(spread.by) == set(names):
                return
            await asyncio.sleep(0.1)


async def test_sequential_and_concurrent_reads_are_spread_over_the_replicas(service: Service, wiki: Wiki) -> None:
    token = token_of(service, wiki)
    await seen_by(service, token, await write_page(service, token, "Ash"))
    async with ReadCounter(service) as alone:
        for _ in range(10):
            assert await read_titles(service, token) == ["Ash"]
    assert (alone.by, alone.fallbacks) == (dict.fromkeys(NAMES, 5), {})
    async with ReadCounter(service) as together:
        await asyncio.gather(*(read_titles(service, token) for _ in range(40)))
    assert sum(together.by.values()) == 40
    assert all(together.by[name] >= 10 for name in NAMES)


async def test_a_read_goes_to_the_replica_that_has_its_position(
    service: Service, wiki: Wiki, late: asyncpg.Connection
) -> None:
    token = token_of(service, wiki)
    await seen_by(service, token, await write_page(service, token, "Ash"))
    await pause_replay(late)
    position = await write_page(service, token, "Birch")
    async with ReadCounter(service) as brought:
        for _ in range(10):
            assert await read_titles(service, token, position) == ["Ash", "Birch"]
    assert "replica-1" not in brought.by
    await seen_by(service, token, position, ["replica-2"])
    async with ReadCounter(service) as caught_up:
        for _ in range(4):
            assert await read_titles(service, token, position) == ["Ash", "Birch"]
    assert caught_up.by == {"replica-2": 4}
    async with ReadCounter(service) as any_state:
        found = [await read_titles(service, token) for _ in range(4)]
    assert any_state.by == dict.fromkeys(NAMES, 2)
    assert sorted(map(len, found)) == [1, 1, 2, 2]


@pytest.mark.parametrize("max_lag", [1])
async def test_reads_of_a_lagging_replica_go_to_the_other_replica(
    service: Service, wiki: Wiki, late: asyncpg.Connection
) -> None:
    token = token_of(service, wiki)
    await pause_replay(late)
    position = await write_page(service, token, "Ash")
    await wait_for_metric(service, ("cairn_replicas_aside", "replica-1"), 1)
    assert await read_titles(service, token, position) == ["Ash"]
    async with ReadCounter(service) as reading:
        for _ in range(6):
            assert await read_titles(service, token) == ["Ash"]
    assert (reading.by, reading.fallbacks) == ({"replica-2": 6}, {})
    await late.execute("SELECT pg_wal_replay_resume()")
    await wait_for_metric(service, ("cairn_replicas_aside", "replica-1"), 0)
    await seen_by(service, token, position)


async def test_no_client_notices_that_both_replicas_are_killed(
    service: Service, wiki: Wiki, standbys: tuple[EmbeddedServer, EmbeddedServer]
) -> None:
    token = token_of(service, wiki)
    await seen_by(service, token, await write_page(service, token, "Ash"))
    answers: list[bool] = []

    async def read() -> None:
        while True:
            answer = await service.post(READ, token)
            answers.append(answer.json().get("data") == {"wikiPages": {"nodes": [{"title": "Ash"}]}})

    async def more(count: int) -> None:
        before = len(answers)
        async with asyncio.timeout(60):
            while len(answers) < before + count:
                await asyncio.sleep(0.02)

    readers = [asyncio.create_task(read()) for _ in range(8)]
    try:
        await more(50)
        kill(standbys[0])
        await more(50)
        await wait_for_metric(service, ("cairn_replicas_aside", "replica-1"), 1)
        async with ReadCounter(service) as one_left:
            await more(50)
        assert set(one_left.by) == {"replica-2"}
        kill(standbys[1])
        await more(50)
        await wait_for_metric(service, ("cairn_replicas_aside", "replica-2"), 1)
        async with ReadCounter(service) as none_left:
            await more(50)
        assert set(none_left.by) == {"primary"}
        assert (await service.http.get("/readyz")).status_code == 200
    finally:
        for standby in standbys:
            await asyncio.to_thread(standby.launch)
    for name in NAMES:
        await wait_for_metric(service, ("cairn_replicas_aside", name), 0)
    async with ReadCounter(service) as back:
        await more(100)
    assert all(back.by[name] for name in NAMES)
    for reader in readers:
        reader.cancel()
    await asyncio.gather(*readers, return_exceptions=True)
    assert all(answers)
