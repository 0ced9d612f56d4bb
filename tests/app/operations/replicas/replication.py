"""Starts a service whose reads go to a replica, and counts which server answered them."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg

from tests.app.service import Service, serving
from tests.standby import Pair
from tests.waiting import within
from tests.wiki import Wiki

MAKE = """mutation($title: String!) {
  createWikiPage(input: {type: TOPIC, title: $title, bodyMd: "Pecan pie."}) { page { title } userErrors { message } }
}"""
READ = "{ wikiPages(first: 100) { nodes { title } } }"
SEARCH = 'query($t: ID!) { wikiSearch(tenantId: $t, query: "pecan") { page { title } } }'
FOLLOW = "subscription { wikiScopeChanged { kind } }"
COUNTED = re.compile(r'^(cairn_\w+)\{(?:server|cause)="([\w-]+)"\} (\S+)$', re.MULTILINE)
HEADER = "cairn-position"


@asynccontextmanager
async def replicated_service(pair: Pair, data_dir: Path, **settings: Any) -> AsyncIterator[Service]:
    """Start a service whose reads go to the replica, and yield it once the replica serves."""
    primary, standby = map(pair.dsn, pair.sockets())
    given = {"read_database_urls": standby, "metrics": "local"} | settings
    async with serving(primary, data_dir, **given) as service:
        await wait_for_metric(service, ("cairn_replicas_aside", "replica-1"), 0)
        yield service


async def counts(service: Service) -> dict[tuple[str, str], float]:
    text = (await service.http.get("/metrics")).text
    return {(name, label): float(value) for name, label, value in COUNTED.findall(text)}


async def wait_for_metric(service: Service, series: tuple[str, str], value: float) -> None:
    async with asyncio.timeout(60):
        while (await counts(service)).get(series) != value:
            await asyncio.sleep(0.05)


class ReadCounter:
    """Counts how many reads each server answers while the block runs."""

    def __init__(self, service: Service) -> None:
        self.service = service

    async def __aenter__(self) -> "ReadCounter":
        self.before = await counts(self.service)
        return self

    async def __aexit__(self, *_: object) -> None:
        after = await counts(self.service)
        grown = {series: after[series] - self.before.get(series, 0) for series in after}
        self.by = {label: int(n) for (name, label), n in grown.items() if name == "cairn_reads_total" and n}
        self.fallbacks = {label: int(n) for (name, label), n in grown.items() if "fallbacks" in name and n}


async def pause_replay(replica: asyncpg.Connection) -> None:
    """Pause a replica. Until it has stopped, it may still replay what is written next."""
    await replica.execute("SELECT pg_wal_replay_pause()")
    async with within("the replica has not paused"):
        while await replica.fetchval("SELECT pg_get_wal_replay_pause_state()") != "paused":
            await asyncio.sleep(0.01)


def token_of(service: Service, wiki: Wiki) -> str:
    return service.token(wiki.scope.tenant_id, wiki.scope.owner_id)


async def write_page(service: Service, token: str, title: str, **headers: str) -> str:
    """Create a page, and return the position of that write."""
    answer = await service.post(MAKE, token, {"title": title}, **headers)
    assert answer.json()["data"]["createWikiPage"]["userErrors"] == []
    assert answer.json()["extensions"]["position"] == answer.headers[HEADER]
    return answer.headers[HEADER]


async def read_titles(service: Service, token: str, position: str | None = None) -> list[str]:
    brought = {HEADER: position} if position else {}
    answer = await service.post(READ, token, None, **brought)
    assert answer.status_code == 200, answer.text
    assert HEADER not in answer.headers
    return [node["title"] for node in answer.json()["data"]["wikiPages"]["nodes"]]
