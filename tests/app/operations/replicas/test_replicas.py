"""Replicas answer reads: clients see what they have written, and do not notice when one is behind, fails or is gone."""

import asyncio
import itertools
import re
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from app.cli.doctor import State, examine
from app.settings import Settings
from db.database import Database
from db.replicas.replicas import ReplicaSettings
from db.replicas.routing import ROUTE, Route
from tests.app.agents import agent
from tests.app.operations.database.test_pgbouncer import PROGRAM, running
from tests.app.service import Service, serving
from tests.app.streaming import initialised
from tests.app.web_client import SAME, signed_in
from tests.postgres_proxy import Proxy
from tests.standby import Pair, kill, running_pair
from tests.wiki import Wiki, close_wiki, open_wiki

MAKE = """mutation($title: String!) {
  createWikiPage(input: {type: TOPIC, title: $title, bodyMd: "Pecan pie."}) { page { title } userErrors { message } }
}"""
READ = "{ wikiPages(first: 100) { nodes { title } } }"
SEARCH = 'query($t: ID!) { wikiSearch(tenantId: $t, query: "pecan") { page { title } } }'
FOLLOW = "subscription { wikiScopeChanged { kind } }"
COUNTED = re.compile(r'^(cairn_\w+)\{(?:server|cause)="([\w-]+)"\} (\S+)$', re.MULTILINE)
HEADER = "cairn-position"


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with running_pair(is_synchronous=False) as servers:
        yield servers


@pytest.fixture
def synchronous_pair() -> Iterator[Pair]:
    with running_pair(is_synchronous=True) as servers:
        yield servers


@pytest.fixture
def pooled_replica(pair: Pair) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = int(listening.getsockname()[1])
    with running(pair.dsn(pair.sockets()[1]), port) as url:
        yield url


@pytest.fixture
async def wiki(pair: Pair) -> AsyncIterator[Wiki]:
    wiki = await open_wiki(pair.dsn(pair.sockets()[0]))
    yield wiki
    await close_wiki(wiki)


@pytest.fixture
async def replica(pair: Pair) -> AsyncIterator[asyncpg.Connection]:
    """A connection to the replica, which replays what it receives, again at the end."""
    connection = await asyncpg.connect(pair.dsn(pair.sockets()[1]))
    yield connection
    if not connection.is_closed():
        await connection.execute("SELECT pg_wal_replay_resume()")
    await connection.close()


@asynccontextmanager
async def replicated(pair: Pair, data_dir: Path, **settings: Any) -> AsyncIterator[Service]:
    """A service whose reads go to the replica, once that serves."""
    primary, standby = map(pair.dsn, pair.sockets())
    given = {"read_database_urls": standby, "metrics": "local"} | settings
    async with serving(primary, data_dir, **given) as service:
        await until(service, ("cairn_replicas_aside", "replica-1"), 0)
        yield service


async def counts(service: Service) -> dict[tuple[str, str], float]:
    text = (await service.http.get("/metrics")).text
    return {(name, label): float(value) for name, label, value in COUNTED.findall(text)}


async def until(service: Service, series: tuple[str, str], value: float) -> None:
    async with asyncio.timeout(60):
        while (await counts(service)).get(series) != value:
            await asyncio.sleep(0.05)


class Answered:
    """How many statements each server answers in a block."""

    def __init__(self, service: Service) -> None:
        self.service = service

    async def __aenter__(self) -> "Answered":
        self.before = await counts(self.service)
        return self

    async def __aexit__(self, *_: object) -> None:
        after = await counts(self.service)
        grown = {series: after[series] - self.before.get(series, 0) for series in after}
        self.by = {label: int(n) for (name, label), n in grown.items() if name == "cairn_reads_total" and n}
        self.fallbacks = {label: int(n) for (name, label), n in grown.items() if "fallbacks" in name and n}


def token_of(service: Service, wiki: Wiki) -> str:
    return service.token(wiki.scope.tenant_id, wiki.scope.owner_id)


async def make(service: Service, token: str, title: str, **headers: str) -> str:
    """Make a page, and return the position of that write."""
    answer = await service.post(MAKE, token, {"title": title}, **headers)
    assert answer.json()["data"]["createWikiPage"]["userErrors"] == []
    assert answer.json()["extensions"]["position"] == answer.headers[HEADER]
    return answer.headers[HEADER]


async def titles(service: Service, token: str, position: str | None = None) -> list[str]:
    brought = {HEADER: position} if position else {}
    answer = await service.post(READ, token, None, **brought)
    assert answer.status_code == 200, answer.text
    assert HEADER not in answer.headers
    return [node["title"] for node in answer.json()["data"]["wikiPages"]["nodes"]]


async def test_reads_go_to_the_replica_and_writes_to_the_primary(pair: Pair, wiki: Wiki, tmp_path: Path) -> None:
    async with replicated(pair, tmp_path) as service:
        token = token_of(service, wiki)
        async with Answered(service) as writing:
            position = await make(service, token, "Ash")
        assert (list(writing.by), writing.fallbacks) == (["primary"], {})
        async with Answered(service) as reading:
            assert await titles(service, token, position) == ["Ash"]
        assert (reading.by, reading.fallbacks) == ({"replica-1": 1}, {})
        async with Answered(service) as searching:
            found = await service.ask(SEARCH, token, t=str(wiki.scope.tenant_id))
        assert found["data"] == {"wikiSearch": [{"page": {"title": "Ash"}}]}
        assert (list(searching.by), searching.fallbacks) == (["replica-1"], {})
        assert (await counts(service))["cairn_replica_lag_seconds", "replica-1"] < 10


async def test_a_read_that_brings_its_position_sees_the_write_though_the_replica_is_behind(
    pair: Pair, wiki: Wiki, replica: asyncpg.Connection, tmp_path: Path
) -> None:
    async with replicated(pair, tmp_path, read_max_lag=600, read_wait=0.05) as service:
        token = token_of(service, wiki)
        await titles(service, token, await make(service, token, "Ash"))
        await replica.execute("SELECT pg_wal_replay_pause()")
        position = await make(service, token, "Birch")
        async with Answered(service) as stale:
            assert await titles(service, token) == ["Ash"]
        assert (stale.by, stale.fallbacks) == ({"replica-1": 1}, {})
        async with Answered(service) as fresh:
            assert await titles(service, token, position) == ["Ash", "Birch"]
        assert (fresh.by, fresh.fallbacks) == ({"primary": 1}, {"position": 1})
        brought = {"query": READ, "extensions": {"position": position}}
        answer = await service.http.post("/graphql", json=brought, headers={"authorization": f"Bearer {token}"})
        assert len(answer.json()["data"]["wikiPages"]["nodes"]) == 2
        await replica.execute("SELECT pg_wal_replay_resume()")
        async with asyncio.timeout(60):
            while len(await titles(service, token)) < 2:
                await asyncio.sleep(0.05)
        async with Answered(service) as caught_up:
            assert len(await titles(service, token, position)) == 2
        assert caught_up.by == {"replica-1": 1}


async def test_a_read_waits_for_a_replica_that_is_a_moment_behind(
    pair: Pair, wiki: Wiki, replica: asyncpg.Connection, tmp_path: Path
) -> None:
    """It waits without asking for itself, and reads one statement on the replica."""
    async with replicated(pair, tmp_path, read_max_lag=600, read_wait=10) as service:
        token = token_of(service, wiki)
        await replica.execute("SELECT pg_wal_replay_pause()")
        position = await make(service, token, "Ash")
        async with Answered(service) as waiting:
            reading = asyncio.create_task(titles(service, token, position))
            await asyncio.sleep(0.2)
            assert not reading.done()
            await replica.execute("SELECT pg_wal_replay_resume()")
            assert await reading == ["Ash"]
        assert (waiting.by, waiting.fallbacks) == ({"replica-1": 1}, {})


async def test_a_forged_position_is_answered_by_the_primary_at_once_and_a_malformed_one_is_refused(
    pair: Pair, wiki: Wiki, tmp_path: Path
) -> None:
    async with replicated(pair, tmp_path, read_wait=10) as service:
        token = token_of(service, wiki)
        await make(service, token, "Ash")
        async with asyncio.timeout(5), Answered(service) as forged:  # much less than `read_wait`
            assert await titles(service, token, "FFFFFFFF/FFFFFFFF") == ["Ash"]
        assert (forged.by, forged.fallbacks) == ({"primary": 1}, {"position": 1})
        authorized = {"authorization": f"Bearer {token}"}
        for faulty in ("0", "0/", "/1", "0/1G", "0/123456789", "-1/1", "0/1;", "0/0x1"):
            sent = authorized | {HEADER: faulty}
            refused = await service.http.post("/graphql", json={"query": READ}, headers=sent)
            (error,) = refused.json()["errors"]
            assert (refused.status_code, error["extensions"]["code"]) == (400, "BAD_USER_INPUT"), faulty
            problem = await service.http.get("/api/wiki/pages", headers=sent)
            assert (problem.status_code, problem.json()["code"]) == (400, "BAD_USER_INPUT"), faulty
        for value in ("x", 7, ["0/1"]):
            brought = {"query": READ, "extensions": {"position": value}}
            assert (await service.http.post("/graphql", json=brought, headers=authorized)).status_code == 400


async def test_a_repeated_write_has_a_position_and_a_refused_one_has_none(
    pair: Pair, wiki: Wiki, replica: asyncpg.Connection, tmp_path: Path
) -> None:
    async with replicated(pair, tmp_path, read_max_lag=600, read_wait=0.05) as service:
        token = token_of(service, wiki)
        await replica.execute("SELECT pg_wal_replay_pause()")
        key = {"idempotency-key": "k-1"}
        await make(service, token, "Ash", **key)
        again = await service.post(MAKE, token, {"title": "Ash"}, **key)
        assert again.headers["idempotency-replayed"] == "true"
        assert again.json()["extensions"]["position"] == again.headers[HEADER]
        assert await titles(service, token, again.headers[HEADER]) == ["Ash"]
        refused = await service.post(MAKE, token, {"title": ""})
        assert refused.json()["data"]["createWikiPage"]["userErrors"] != []
        assert (HEADER in refused.headers, "position" in refused.json()["extensions"]) == (False, False)


async def test_a_replica_that_is_too_far_behind_answers_nothing_until_it_has_caught_up(
    pair: Pair, wiki: Wiki, replica: asyncpg.Connection, tmp_path: Path
) -> None:
    async with replicated(pair, tmp_path, read_max_lag=1) as service:
        token = token_of(service, wiki)
        await replica.execute("SELECT pg_wal_replay_pause()")
        await make(service, token, "Ash")
        await until(service, ("cairn_replicas_aside", "replica-1"), 1)
        assert (await counts(service))["cairn_replica_lag_seconds", "replica-1"] > 1
        async with Answered(service) as late:
            assert await titles(service, token) == ["Ash"]
        assert (late.by, late.fallbacks) == ({"primary": 1}, {"aside": 1})
        assert (await service.http.get("/readyz")).status_code == 200
        await replica.execute("SELECT pg_wal_replay_resume()")
        await until(service, ("cairn_replicas_aside", "replica-1"), 0)
        async with Answered(service) as back:
            assert await titles(service, token) == ["Ash"]
        assert back.by == {"replica-1": 1}


async def test_a_read_that_recovery_cancels_is_answered_by_the_primary(
    pair: Pair, wiki: Wiki, replica: asyncpg.Connection
) -> None:
    """Rows that it may see are vacuumed on the primary. The replica serves on: nothing is wrong with it."""
    await replica.execute("ALTER SYSTEM SET max_standby_streaming_delay = '10ms'")
    await replica.execute("SELECT pg_reload_conf()")
    primary, standby = map(pair.dsn, pair.sockets())
    database = Database(primary, size=2, replicas=ReplicaSettings((standby,)))
    await database.open()
    assert database.replicas is not None
    (member,) = database.replicas.members
    before = ROUTE.set(Route())
    try:
        async with asyncio.timeout(60):
            while not member.serves:
                await asyncio.sleep(0.02)
        slow = "SELECT pg_is_in_recovery() AS is_replica, CASE WHEN pg_is_in_recovery() THEN pg_sleep(60) END AS slept"
        reading = asyncio.create_task(database.replicas.read(lambda connection: connection.fetchrow(slow)))
        async with asyncio.timeout(50):
            while not await replica.fetchval("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"):
                await asyncio.sleep(0.02)
            await wiki.look.execute("CREATE TABLE vacuumed AS SELECT 1 AS n")
            await wiki.look.execute("DELETE FROM vacuumed")
            await wiki.look.execute("VACUUM vacuumed")
            assert not (await reading)["is_replica"]
        assert database.replicas.fallbacks == {"conflict": 1}
        assert member.serves
    finally:
        ROUTE.reset(before)
        await database.close()
        await wiki.look.execute("DROP TABLE IF EXISTS vacuumed")


async def test_nobody_notices_that_a_replica_is_killed_and_comes_again(pair: Pair, wiki: Wiki, tmp_path: Path) -> None:
    async with replicated(pair, tmp_path) as service:
        token = token_of(service, wiki)
        await titles(service, token, await make(service, token, "Ash"))
        answers: list[int] = []

        async def read() -> None:
            for _ in itertools.count():
                answer = await service.post(READ, token)
                assert answer.json()["data"] == {"wikiPages": {"nodes": [{"title": "Ash"}]}}
                answers.append(answer.status_code)

        async def more(count: int) -> None:
            before = len(answers)
            async with asyncio.timeout(60):
                while len(answers) < before + count:
                    assert not any(one.done() for one in readers), [one for one in readers if one.done()]
                    await asyncio.sleep(0.02)

        readers = [asyncio.create_task(read()) for _ in range(8)]
        await more(50)
        kill(pair.second)
        await more(50)
        await until(service, ("cairn_replicas_aside", "replica-1"), 1)
        assert (await service.http.get("/readyz")).status_code == 200
        await asyncio.to_thread(pair.second.launch)
        await until(service, ("cairn_replicas_aside", "replica-1"), 0)
        async with Answered(service) as back:
            await more(50)
        assert back.by["replica-1"] > 0
        for one in readers:
            one.cancel()
        await asyncio.gather(*readers, return_exceptions=True)
        assert set(answers) == {200}


async def test_a_service_starts_without_its_replicas_and_leaves_those_that_are_none(
    pair: Pair, wiki: Wiki, tmp_path: Path
) -> None:
    """One cannot be reached, and one is the primary itself."""
    primary = pair.dsn(pair.sockets()[0])
    nobody = "postgresql://postgres@127.0.0.1:1/cairn"
    async with serving(primary, tmp_path, read_database_urls=f"{nobody}, {primary}", metrics="local") as service:
        token = token_of(service, wiki)
        async with Answered(service) as reading:
            await make(service, token, "Ash")
            assert await titles(service, token) == ["Ash"]
        assert list(reading.by) == ["primary"]
        found = await counts(service)
        assert [found["cairn_replicas_aside", f"replica-{n}"] for n in (1, 2)] == [1, 1]
        assert (await service.http.get("/readyz")).status_code == 200


async def test_a_browser_keeps_what_it_has_written_in_a_cookie(
    pair: Pair, wiki: Wiki, replica: asyncpg.Connection, tmp_path: Path
) -> None:
    async with replicated(pair, tmp_path, read_max_lag=600, read_wait=0.05) as service:
        owner = await wiki.look.fetchval("SELECT slug FROM owners WHERE id = $1", wiki.scope.owner_id)
        await make(service, token_of(service, wiki), "Ash")
        async with signed_in(service, token_of(service, wiki)) as browser:
            async with Answered(service) as reading:
                assert (await browser.get(f"/pages/{owner}")).status_code == 200
            assert set(reading.by) == {"replica-1"}
            await replica.execute("SELECT pg_wal_replay_pause()")
            form = {"type": "topic", "title": "Birch", "body": "Pecan pie."}
            written = await browser.post(f"/new/{owner}", data=form, headers=SAME)
            assert written.status_code == 303, written.text
            (kept,) = [line for line in written.headers.get_list("set-cookie") if "-position=" in line]
            assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(kept.split("; "))
            assert "Birch" in (await browser.get(written.headers["location"])).text
            name, _, _ = kept.partition("=")
            browser.cookies.set(name, "no position")
            assert "Birch" in (await browser.get(written.headers["location"])).text


async def test_every_transport_sees_what_it_has_written(
    pair: Pair, wiki: Wiki, replica: asyncpg.Connection, tmp_path: Path
) -> None:
    """An agent brings no position: the primary answers it, unless it does."""
    async with replicated(pair, tmp_path, read_max_lag=600, read_wait=0.05) as service:
        token = token_of(service, wiki)
        await titles(service, token, await make(service, token, "Ash"))
        await replica.execute("SELECT pg_wal_replay_pause()")
        authorized = {"authorization": f"Bearer {token}"}
        page = {"type": "topic", "title": "Birch", "content": "Pecan pie."}
        async with Answered(service) as writing:
            written = await service.http.post("/api/wiki/pages", headers=authorized, json=page)
        assert (written.status_code, list(writing.by)) == (201, ["primary"])
        behind = await service.http.get("/api/wiki/pages/birch", params={"type": "topic"}, headers=authorized)
        position = {HEADER: written.headers[HEADER]}
        seen = await service.http.get("/api/wiki/pages/birch", params={"type": "topic"}, headers=authorized | position)
        assert (behind.status_code, seen.status_code) == (404, 200)
        async with Answered(service) as asked, agent(service, token) as one:
            assert "Pecan" in await one.text("wiki_read", page="Birch")
        assert set(asked.by) == {"primary"}
        async with agent(service, token) as one:
            await one.text("wiki_create", title="Cedar", type="topic", content="Pecan tart.")
            assert "tart" in await one.text("wiki_read", page="Cedar")
        async with Answered(service) as brought, agent(service, token, **{HEADER: "0/1"}) as one:
            await one.text("wiki_read", page="Ash")
        assert set(brought.by) == {"replica-1"}


async def test_a_promoted_replica_takes_over_and_is_none_any_more(synchronous_pair: Pair, tmp_path: Path) -> None:
    pair, both = synchronous_pair, synchronous_pair.sockets()
    wiki = await open_wiki(pair.dsn(both[0]))
    await close_wiki(wiki)
    given = {"read_database_urls": pair.dsn(both[1]), "metrics": "local"}
    async with serving(pair.dsn(*both), tmp_path, **given) as service:
        await until(service, ("cairn_replicas_aside", "replica-1"), 0)
        token = token_of(service, wiki)
        position = await make(service, token, "Ash")
        kill(pair.first)
        await asyncio.to_thread(pair.promote)
        async with asyncio.timeout(60):
            while (await service.post(MAKE, token, {"title": "Birch"})).status_code != 200:
                await asyncio.sleep(0.1)
        await until(service, ("cairn_replicas_aside", "replica-1"), 1)
        async with Answered(service) as reading:
            assert await titles(service, token, position) == ["Ash", "Birch"]
        assert list(reading.by) == ["primary"]


async def test_a_network_that_is_cut_in_the_midst_of_a_read_is_not_noticed(
    pair: Pair, wiki: Wiki, tmp_path: Path
) -> None:
    """What was sent to the replica is not answered, and no end is told: the primary answers within seconds."""
    primary, standby = map(pair.dsn, pair.sockets())
    async with (
        Proxy(standby).open() as proxy,
        serving(primary, tmp_path, read_database_urls=proxy.dsn, metrics="local") as service,
    ):
        await until(service, ("cairn_replicas_aside", "replica-1"), 0)
        token = token_of(service, wiki)
        await titles(service, token, await make(service, token, "Ash"))
        proxy.flowing.clear()
        async with Answered(service) as cut:
            assert await titles(service, token) == ["Ash"]
        assert (cut.by, cut.fallbacks) == ({"primary": 1}, {"failed": 1})
        proxy.flowing.set()
        await until(service, ("cairn_replicas_aside", "replica-1"), 0)


async def test_events_and_writes_of_a_stream_say_their_position(
    pair: Pair, wiki: Wiki, replica: asyncpg.Connection, tmp_path: Path
) -> None:
    """Whoever hears of a change, and reads again elsewhere, sees it. What a stream shows the primary has read."""
    async with replicated(pair, tmp_path, read_max_lag=600, read_wait=0.05) as service:
        token = token_of(service, wiki)
        await replica.execute("SELECT pg_wal_replay_pause()")
        async with initialised(service, token) as websocket:
            await websocket.subscribe(FOLLOW, "1")
            asked = {"query": MAKE, "variables": {"title": "Ash"}}
            await websocket.say(type="subscribe", id="2", payload=asked)
            heard = [await websocket.hear() for _ in range(3)]
        positions = [one["payload"]["extensions"]["position"] for one in heard if one["type"] == "next"]
        assert len(positions) == 2
        for position in positions:
            assert await titles(service, token, position) == ["Ash"]


async def test_the_doctor_looks_at_each_replica(
    pair: Pair, wiki: Wiki, replica: asyncpg.Connection, tmp_path: Path
) -> None:
    primary, standby = map(pair.dsn, pair.sockets())
    nobody = "postgresql://postgres:hunter2@127.0.0.1:1/cairn"

    async def found(dsns: str) -> list[tuple[State, str]]:
        settings = Settings(
            database_url=primary,
            read_database_urls=dsns,
            read_max_lag=1,
            data_dir=tmp_path,
        )
        findings = await asyncio.to_thread(lambda: list(examine(settings)))
        assert "hunter2" not in str(findings)
        return [(one.state, one.message) for one in findings if one.check == "replicas"]

    well, unreachable, none = await found(f"{standby},{nobody},{primary}")
    assert (well[0], unreachable[0], none[0]) == (State.OK, State.FAILED, State.FAILED)
    assert unreachable[1].startswith("replica-2 cannot be reached")
    assert none[1] == "replica-3 is no standby of this database, and serves no reads."
    await replica.execute("SELECT pg_wal_replay_pause()")
    await wiki.look.execute("UPDATE tenants SET name = 'U' WHERE tenant_id = $1", wiki.scope.tenant_id)
    ((state, message),) = await found(standby)
    assert (state, message) == (State.WARNING, "replica-1 is more than 1 seconds behind, and serves no reads.")


@pytest.mark.skipif(PROGRAM is None, reason="PgBouncer is not on this machine")
async def test_a_replica_may_be_behind_pgbouncer(pair: Pair, wiki: Wiki, pooled_replica: str, tmp_path: Path) -> None:
    primary = pair.dsn(pair.sockets()[0])
    given = {"read_database_urls": pooled_replica, "read_wait": 10, "metrics": "local", "statement_cache": 0}
    async with serving(primary, tmp_path, **given) as service:
        await until(service, ("cairn_replicas_aside", "replica-1"), 0)
        token = token_of(service, wiki)
        position = await make(service, token, "Ash")
        async with Answered(service) as reading:
            assert await titles(service, token, position) == ["Ash"]  # later ones need not wait: only eight may
            answers = await asyncio.gather(*(titles(service, token, position) for _ in range(24)))
            found = await service.ask(SEARCH, token, t=str(wiki.scope.tenant_id))
        assert answers == [["Ash"]] * 24
        assert found["data"] == {"wikiSearch": [{"page": {"title": "Ash"}}]}
        assert (set(reading.by), reading.fallbacks) == ({"replica-1"}, {})
