"""Tests services whose standby is promoted, and services of a standby, which are read-only until then."""

import asyncio
import itertools
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest

from tests.app.service import Service, serving
from tests.standby import Pair, kill, running_pair
from tests.wiki import close_wiki, open_wiki

MAKE = """mutation($title: String!) {
  createWikiPage(input: {type: TOPIC, title: $title, bodyMd: "x"}) { page { title } userErrors { message } }
}"""
READ = "{ wikiPages(first: 100) { nodes { title } } }"


@pytest.fixture
def pair(migrated_server_dir: Path) -> Iterator[Pair]:
    with running_pair(migrated_server_dir, is_synchronous=True) as servers:
        yield servers


async def test_a_failover_loses_no_acknowledged_write(pair: Pair, tmp_path: Path) -> None:
    both = pair.sockets()
    wiki = await open_wiki(pair.dsn(both[0]))
    await close_wiki(wiki)
    acknowledged: list[str] = []
    statuses: set[int] = set()

    async def write(service: Service, token: str, client: int) -> None:
        for number in itertools.count():
            title = f"Page {number} of {client}"
            answer = await service.post(MAKE, token, {"title": title})
            statuses.add(answer.status_code)
            if answer.status_code == 200 and answer.json()["data"]["createWikiPage"]["page"]:
                acknowledged.append(title)
            else:
                await asyncio.sleep(0.1)

    async def more(count: int) -> None:
        before = len(acknowledged)
        async with asyncio.timeout(60):
            while len(acknowledged) < before + count:
                await asyncio.sleep(0.05)

    async with serving(pair.dsn(*both), tmp_path) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        clients = [asyncio.create_task(write(service, token, client)) for client in range(4)]
        await more(20)
        kill(pair.first)
        await asyncio.to_thread(pair.promote)
        await more(20)
        for client in clients:
            client.cancel()
        await asyncio.gather(*clients, return_exceptions=True)
    assert statuses == {200, 503}
    connection = await asyncpg.connect(pair.dsn(both[1]))
    stored = {row["title"] for row in await connection.fetch("SELECT title FROM pages")}
    await connection.close()
    assert set(acknowledged) <= stored


async def test_a_service_of_a_standby_serves_reads_and_refuses_writes(pair: Pair, tmp_path: Path) -> None:
    first, second = pair.sockets()
    wiki = await open_wiki(pair.dsn(first))
    await close_wiki(wiki)
    async with serving(pair.dsn(second), tmp_path) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        assert (await service.post(READ, token)).json()["data"] == {"wikiPages": {"nodes": []}}
        ready = await service.http.get("/readyz")
        assert (ready.status_code, ready.json()["reason"]) == (503, "read_only")
        refused = await service.post(MAKE, token, {"title": "Ash"})
        (error,) = refused.json()["errors"]
        assert (refused.status_code, error["extensions"]["reason"]) == (503, "read_only")
        assert "it is a standby" in error["message"]
        headers = {"authorization": f"Bearer {token}"}
        page = {"type": "topic", "title": "Ash", "content": "x"}
        problem = (await service.http.post("/api/wiki/pages", headers=headers, json=page)).json()
        assert (problem["status"], problem["code"], problem["reason"]) == (503, "UNAVAILABLE", "read_only")
        await asyncio.to_thread(pair.promote)
        async with asyncio.timeout(30):
            while (await service.post(MAKE, token, {"title": "Ash"})).status_code != 200:
                await asyncio.sleep(0.1)
            while (await service.http.get("/readyz")).status_code != 200:
                await asyncio.sleep(0.1)
