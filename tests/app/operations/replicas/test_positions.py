"""Tests that a client that sends the position of a write reads that write, over every transport."""

import asyncio
from pathlib import Path

import asyncpg

from tests.app.clients.agents import agent
from tests.app.clients.streaming import open_initialised_socket
from tests.app.clients.web_client import SAME_ORIGIN, signed_in
from tests.app.operations.replicas.replication import (
    FOLLOW,
    HEADER,
    MAKE,
    READ,
    ReadCounter,
    pause_replay,
    read_titles,
    replicated_service,
    token_of,
    write_page,
)
from tests.standby import Pair
from tests.wiki import Wiki


async def test_a_read_with_a_position_sees_the_write_while_the_replica_lags(
    pair: Pair, wiki: Wiki, replica: asyncpg.Connection, tmp_path: Path
) -> None:
    async with replicated_service(pair, tmp_path, read_max_lag=600, read_wait=0.05) as service:
        token = token_of(service, wiki)
        await read_titles(service, token, await write_page(service, token, "Ash"))
        await pause_replay(replica)
        position = await write_page(service, token, "Birch")
        async with ReadCounter(service) as stale:
            assert await read_titles(service, token) == ["Ash"]
        assert (stale.by, stale.fallbacks) == ({"replica-1": 1}, {})
        async with ReadCounter(service) as fresh:
            assert await read_titles(service, token, position) == ["Ash", "Birch"]
        assert (fresh.by, fresh.fallbacks) == ({"primary": 1}, {"position": 1})
        brought = {"query": READ, "extensions": {"position": position}}
        answer = await service.http.post("/graphql", json=brought, headers={"authorization": f"Bearer {token}"})
        assert len(answer.json()["data"]["wikiPages"]["nodes"]) == 2
        await replica.execute("SELECT pg_wal_replay_resume()")
        caught_up = None
        async with asyncio.timeout(60):
            while caught_up != {"replica-1": 1}:
                async with ReadCounter(service) as reading:
                    assert len(await read_titles(service, token, position)) == 2
                caught_up = reading.by


async def test_a_read_with_a_position_waits_for_the_replica(
    pair: Pair, wiki: Wiki, replica: asyncpg.Connection, tmp_path: Path
) -> None:
    """The read waits without queries of its own, and sends one statement to the replica."""
    async with replicated_service(pair, tmp_path, read_max_lag=600, read_wait=10) as service:
        token = token_of(service, wiki)
        await pause_replay(replica)
        position = await write_page(service, token, "Ash")
        async with ReadCounter(service) as waiting:
            reading = asyncio.create_task(read_titles(service, token, position))
            await asyncio.sleep(0.2)
            assert not reading.done()
            await replica.execute("SELECT pg_wal_replay_resume()")
            assert await reading == ["Ash"]
        assert (waiting.by, waiting.fallbacks) == ({"replica-1": 1}, {})


async def test_forged_positions_go_to_the_primary_and_malformed_ones_are_refused(
    pair: Pair, wiki: Wiki, tmp_path: Path
) -> None:
    async with replicated_service(pair, tmp_path, read_wait=10) as service:
        token = token_of(service, wiki)
        await write_page(service, token, "Ash")
        async with asyncio.timeout(5), ReadCounter(service) as forged:  # much less than `read_wait`
            assert await read_titles(service, token, "FFFFFFFF/FFFFFFFF") == ["Ash"]
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


async def test_a_replayed_write_has_a_position_and_a_refused_write_has_none(
    pair: Pair, wiki: Wiki, replica: asyncpg.Connection, tmp_path: Path
) -> None:
    async with replicated_service(pair, tmp_path, read_max_lag=600, read_wait=0.05) as service:
        token = token_of(service, wiki)
        await pause_replay(replica)
        key = {"idempotency-key": "k-1"}
        await write_page(service, token, "Ash", **key)
        again = await service.post(MAKE, token, {"title": "Ash"}, **key)
        assert again.headers["idempotency-replayed"] == "true"
        assert again.json()["extensions"]["position"] == again.headers[HEADER]
        assert await read_titles(service, token, again.headers[HEADER]) == ["Ash"]
        refused = await service.post(MAKE, token, {"title": ""})
        assert refused.json()["data"]["createWikiPage"]["userErrors"] != []
        assert (HEADER in refused.headers, "position" in refused.json()["extensions"]) == (False, False)


async def test_a_cookie_holds_the_position_of_the_last_write_of_a_browser(
    pair: Pair, wiki: Wiki, replica: asyncpg.Connection, tmp_path: Path
) -> None:
    async with replicated_service(pair, tmp_path, read_max_lag=600, read_wait=0.05) as service:
        owner = await wiki.connection.fetchval("SELECT slug FROM owners WHERE id = $1", wiki.scope.owner_id)
        await write_page(service, token_of(service, wiki), "Ash")
        async with signed_in(service, token_of(service, wiki)) as browser:
            async with ReadCounter(service) as reading:
                assert (await browser.get(f"/pages/{owner}")).status_code == 200
            assert set(reading.by) == {"replica-1"}
            await pause_replay(replica)
            form = {"type": "topic", "title": "Birch", "body": "Pecan pie."}
            written = await browser.post(f"/new/{owner}", data=form, headers=SAME_ORIGIN)
            assert written.status_code == 303, written.text
            (cookie,) = [line for line in written.headers.get_list("set-cookie") if "-position=" in line]
            assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(cookie.split("; "))
            assert "Birch" in (await browser.get(written.headers["location"])).text
            name, _, _ = cookie.partition("=")
            browser.cookies.set(name, "no position")
            assert "Birch" in (await browser.get(written.headers["location"])).text


async def test_rest_clients_and_agents_see_their_own_writes(
    pair: Pair, wiki: Wiki, replica: asyncpg.Connection, tmp_path: Path
) -> None:
    """The primary answers an agent that sends no position."""
    async with replicated_service(pair, tmp_path, read_max_lag=600, read_wait=0.05) as service:
        token = token_of(service, wiki)
        await read_titles(service, token, await write_page(service, token, "Ash"))
        await pause_replay(replica)
        authorized = {"authorization": f"Bearer {token}"}
        page = {"type": "topic", "title": "Birch", "content": "Pecan pie."}
        async with ReadCounter(service) as writing:
            written = await service.http.post("/api/wiki/pages", headers=authorized, json=page)
        assert (written.status_code, list(writing.by)) == (201, ["primary"])
        behind = await service.http.get("/api/wiki/pages/birch", params={"type": "topic"}, headers=authorized)
        position = {HEADER: written.headers[HEADER]}
        seen = await service.http.get("/api/wiki/pages/birch", params={"type": "topic"}, headers=authorized | position)
        assert (behind.status_code, seen.status_code) == (404, 200)
        async with ReadCounter(service) as reading, agent(service, token) as caller:
            assert "Pecan" in await caller.text("wiki_read", page="Birch")
        assert set(reading.by) == {"primary"}
        async with agent(service, token) as caller:
            await caller.text("wiki_create", title="Cedar", type="topic", content="Pecan tart.")
            assert "tart" in await caller.text("wiki_read", page="Cedar")
        async with ReadCounter(service) as brought, agent(service, token, **{HEADER: "0/1"}) as caller:
            await caller.text("wiki_read", page="Ash")
        assert set(brought.by) == {"replica-1"}


async def test_events_and_writes_of_a_websocket_have_a_position(
    pair: Pair, wiki: Wiki, replica: asyncpg.Connection, tmp_path: Path
) -> None:
    """A client that reads with the position of an event sees the change of that event."""
    async with replicated_service(pair, tmp_path, read_max_lag=600, read_wait=0.05) as service:
        token = token_of(service, wiki)
        await pause_replay(replica)
        async with open_initialised_socket(service, token) as websocket:
            await websocket.subscribe(FOLLOW, "1")
            mutation = {"query": MAKE, "variables": {"title": "Ash"}}
            await websocket.send(type="subscribe", id="2", payload=mutation)
            messages = [await websocket.receive() for _ in range(3)]
        positions = [message["payload"]["extensions"]["position"] for message in messages if message["type"] == "next"]
        assert len(positions) == 2
        for position in positions:
            assert await read_titles(service, token, position) == ["Ash"]
