"""Tests reads on a replica: clients notice neither a lag nor a failure of the replica."""

import asyncio
import itertools
from pathlib import Path

import asyncpg
import pytest

from app.cli.doctor.checks import examine
from app.cli.doctor.findings import State
from app.settings import Settings
from db.database import Database
from db.replicas.replicas import ReplicaSettings
from db.replicas.routing import ROUTE, Route
from tests.app.operations.database.test_pgbouncer import PROGRAM
from tests.app.operations.replicas.replication import (
    MAKE,
    READ,
    SEARCH,
    ReadCounter,
    counts,
    pause_replay,
    read_titles,
    replicated_service,
    token_of,
    wait_for_metric,
    write_page,
)
from tests.app.service import serving
from tests.postgres_proxy import Proxy
from tests.standby import Pair, kill
from tests.wiki import Wiki, close_wiki, open_wiki


async def test_reads_go_to_the_replica_and_writes_to_the_primary(pair: Pair, wiki: Wiki, tmp_path: Path) -> None:
    async with replicated_service(pair, tmp_path) as service:
        token = token_of(service, wiki)
        async with ReadCounter(service) as writing:
            position = await write_page(service, token, "Ash")
        assert (list(writing.by), writing.fallbacks) == (["primary"], {})
        async with ReadCounter(service) as reading:
            assert await read_titles(service, token, position) == ["Ash"]
        assert (reading.by, reading.fallbacks) == ({"replica-1": 1}, {})
        async with ReadCounter(service) as searching:
            found = await service.ask(SEARCH, token, t=str(wiki.scope.tenant_id))
        assert found["data"] == {"wikiSearch": [{"page": {"title": "Ash"}}]}
        assert (list(searching.by), searching.fallbacks) == (["replica-1"], {})
        assert (await counts(service))["cairn_replica_lag_seconds", "replica-1"] < 10


async def test_a_replica_that_lags_too_far_serves_no_reads_until_it_catches_up(
    pair: Pair, wiki: Wiki, replica: asyncpg.Connection, tmp_path: Path
) -> None:
    async with replicated_service(pair, tmp_path, read_max_lag=1) as service:
        token = token_of(service, wiki)
        await pause_replay(replica)
        await write_page(service, token, "Ash")
        await wait_for_metric(service, ("cairn_replicas_aside", "replica-1"), 1)
        assert (await counts(service))["cairn_replica_lag_seconds", "replica-1"] > 1
        async with ReadCounter(service) as late:
            assert await read_titles(service, token) == ["Ash"]
        assert (late.by, late.fallbacks) == ({"primary": 1}, {"aside": 1})
        assert (await service.http.get("/readyz")).status_code == 200
        await replica.execute("SELECT pg_wal_replay_resume()")
        await wait_for_metric(service, ("cairn_replicas_aside", "replica-1"), 0)
        async with ReadCounter(service) as back:
            assert await read_titles(service, token) == ["Ash"]
        assert back.by == {"replica-1": 1}


async def test_a_read_that_recovery_cancels_is_answered_by_the_primary(
    pair: Pair, wiki: Wiki, replica: asyncpg.Connection
) -> None:
    """The primary vacuums rows that the read may see. The replica then continues to serve reads."""
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
            await wiki.connection.execute("CREATE TABLE vacuumed AS SELECT 1 AS n")
            await wiki.connection.execute("DELETE FROM vacuumed")
            await wiki.connection.execute("VACUUM vacuumed")
            assert not (await reading)["is_replica"]
        assert database.replicas.fallbacks == {"conflict": 1}
        assert member.serves
    finally:
        ROUTE.reset(before)
        await database.close()
        await wiki.connection.execute("DROP TABLE IF EXISTS vacuumed")


async def test_no_client_notices_that_a_replica_is_killed_and_returns(pair: Pair, wiki: Wiki, tmp_path: Path) -> None:
    async with replicated_service(pair, tmp_path) as service:
        token = token_of(service, wiki)
        await read_titles(service, token, await write_page(service, token, "Ash"))
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
                    assert not any(reader.done() for reader in readers), [reader for reader in readers if reader.done()]
                    await asyncio.sleep(0.02)

        readers = [asyncio.create_task(read()) for _ in range(8)]
        await more(50)
        kill(pair.second)
        await more(50)
        await wait_for_metric(service, ("cairn_replicas_aside", "replica-1"), 1)
        assert (await service.http.get("/readyz")).status_code == 200
        await asyncio.to_thread(pair.second.launch)
        await wait_for_metric(service, ("cairn_replicas_aside", "replica-1"), 0)
        async with ReadCounter(service) as back:
            await more(50)
        assert back.by["replica-1"] > 0
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)
        assert set(answers) == {200}


async def test_a_service_starts_with_unreachable_and_invalid_replicas(pair: Pair, wiki: Wiki, tmp_path: Path) -> None:
    """One replica cannot be reached, and one is the primary itself."""
    primary = pair.dsn(pair.sockets()[0])
    unreachable_dsn = "postgresql://postgres@127.0.0.1:1/cairn"
    async with serving(
        primary, tmp_path, read_database_urls=f"{unreachable_dsn}, {primary}", metrics="local"
    ) as service:
        token = token_of(service, wiki)
        async with ReadCounter(service) as reading:
            await write_page(service, token, "Ash")
            assert await read_titles(service, token) == ["Ash"]
        assert list(reading.by) == ["primary"]
        found = await counts(service)
        assert [found["cairn_replicas_aside", f"replica-{n}"] for n in (1, 2)] == [1, 1]
        assert (await service.http.get("/readyz")).status_code == 200


async def test_a_promoted_replica_becomes_the_primary_and_stops_being_a_replica(
    synchronous_pair: Pair, tmp_path: Path
) -> None:
    pair, both = synchronous_pair, synchronous_pair.sockets()
    wiki = await open_wiki(pair.dsn(both[0]))
    await close_wiki(wiki)
    given = {"read_database_urls": pair.dsn(both[1]), "metrics": "local"}
    async with serving(pair.dsn(*both), tmp_path, **given) as service:
        await wait_for_metric(service, ("cairn_replicas_aside", "replica-1"), 0)
        token = token_of(service, wiki)
        position = await write_page(service, token, "Ash")
        kill(pair.first)
        await asyncio.to_thread(pair.promote)
        async with asyncio.timeout(60):
            while (await service.post(MAKE, token, {"title": "Birch"})).status_code != 200:
                await asyncio.sleep(0.1)
        await wait_for_metric(service, ("cairn_replicas_aside", "replica-1"), 1)
        async with ReadCounter(service) as reading:
            assert await read_titles(service, token, position) == ["Ash", "Birch"]
        assert list(reading.by) == ["primary"]


async def test_a_read_is_answered_by_the_primary_if_the_network_is_cut(pair: Pair, wiki: Wiki, tmp_path: Path) -> None:
    """The replica does not answer, and neither end gets an error: the primary answers within seconds."""
    primary, standby = map(pair.dsn, pair.sockets())
    async with (
        Proxy(standby).open() as proxy,
        serving(primary, tmp_path, read_database_urls=proxy.dsn, metrics="local") as service,
    ):
        await wait_for_metric(service, ("cairn_replicas_aside", "replica-1"), 0)
        token = token_of(service, wiki)
        await read_titles(service, token, await write_page(service, token, "Ash"))
        proxy.flowing.clear()
        async with ReadCounter(service) as cut:
            assert await read_titles(service, token) == ["Ash"]
        assert (cut.by, cut.fallbacks) == ({"primary": 1}, {"failed": 1})
        proxy.flowing.set()
        await wait_for_metric(service, ("cairn_replicas_aside", "replica-1"), 0)


async def test_the_doctor_checks_each_replica(
    pair: Pair, wiki: Wiki, replica: asyncpg.Connection, tmp_path: Path
) -> None:
    primary, standby = map(pair.dsn, pair.sockets())
    unreachable_dsn = "postgresql://postgres:hunter2@127.0.0.1:1/cairn"

    async def found(dsns: str) -> list[tuple[State, str]]:
        settings = Settings(
            database_url=primary,
            read_database_urls=dsns,
            read_max_lag=1,
            data_dir=tmp_path,
        )
        findings = await asyncio.to_thread(lambda: list(examine(settings)))
        assert "hunter2" not in str(findings)
        return [(finding.state, finding.message) for finding in findings if finding.check == "replicas"]

    valid, unreachable, invalid = await found(f"{standby},{unreachable_dsn},{primary}")
    assert (valid[0], unreachable[0], invalid[0]) == (State.OK, State.FAILED, State.FAILED)
    assert unreachable[1].startswith("replica-2 cannot be reached")
    assert invalid[1] == "replica-3 is not a standby of this database and serves no reads."
    await pause_replay(replica)
    await wiki.connection.execute("UPDATE tenants SET name = 'U' WHERE tenant_id = $1", wiki.scope.tenant_id)
    ((state, message),) = await found(standby)
    assert (state, message) == (State.WARNING, "replica-1 is more than 1 seconds behind and serves no reads.")


@pytest.mark.skipif(PROGRAM is None, reason="PgBouncer is not on this machine")
async def test_a_replica_may_be_behind_pgbouncer(pair: Pair, wiki: Wiki, pooled_replica: str, tmp_path: Path) -> None:
    primary = pair.dsn(pair.sockets()[0])
    given = {"read_database_urls": pooled_replica, "read_wait": 10, "metrics": "local", "statement_cache": 0}
    async with serving(primary, tmp_path, **given) as service:
        await wait_for_metric(service, ("cairn_replicas_aside", "replica-1"), 0)
        token = token_of(service, wiki)
        position = await write_page(service, token, "Ash")
        async with ReadCounter(service) as reading:
            assert await read_titles(service, token, position) == ["Ash"]  # later ones need not wait: only eight may
            answers = await asyncio.gather(*(read_titles(service, token, position) for _ in range(24)))
            found = await service.ask(SEARCH, token, t=str(wiki.scope.tenant_id))
        assert answers == [["Ash"]] * 24
        assert found["data"] == {"wikiSearch": [{"page": {"title": "Ash"}}]}
        assert (set(reading.by), reading.fallbacks) == ({"replica-1"}, {})
