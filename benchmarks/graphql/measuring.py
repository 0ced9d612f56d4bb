"""Runs the benchmark: compares the responses of all servers, then puts load on each server in turn."""

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import httpx
import orjson
from rich.progress import track

from ..processes import Server, backends, cpu_seconds, resident_mb
from ..wikis import Wiki
from . import wrk
from .answers import Unequal, compare
from .database import connected, stderr
from .operations import LINK_DISTANCE, PAIRS, READS, WRITE, Drawn, Pair, candidates, draw_reads, draw_writes
from .questions import store_questions
from .recording import Recorded, record
from .report import Round
from .requests import OURS, REPLAYED, HttpRequest, build_requests

COMPARED = 2 * LINK_DISTANCE  # responses per operation; of the write, each pair is linked and unlinked
BATCH = 2 * LINK_DISTANCE  # requests: each round of the write begins with missing links
WARM_UP = 1.0  # seconds
TIMEOUT = 60.0
UNLINKED = """
    SELECT n FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) WITH ORDINALITY AS pair (tenant, start, finish, n)
    WHERE NOT EXISTS (
        SELECT FROM links AS l
        WHERE l.tenant_id = tenant AND l.from_page_id = start AND l.to_page_id = finish AND l.kind = 'reference')
"""
UNDO = "DELETE FROM links WHERE reasons = '{manual}'"


@dataclass(frozen=True)
class Place:
    """The database, the folder and the servers of a run."""

    dsn: str
    folder: Path
    servers: Sequence[Server]


Requests = Mapping[str, Sequence[Drawn]]


async def draw_requests(dsn: str, wikis: Sequence[Wiki], operations: Sequence[str]) -> dict[str, list[Drawn]]:
    """Draw the requests of each operation."""
    found = {name: draw_reads(name, wikis) for name in operations if name in READS}
    if WRITE in operations:
        found[WRITE] = draw_writes(await pairs(dsn, wikis))
    return found


async def pairs(dsn: str, wikis: Sequence[Wiki]) -> list[Pair]:
    """Return pairs of pages that are not linked yet."""
    possible = candidates(wikis, PAIRS + PAIRS // 4)
    columns = zip(*((pair.wiki.tenant_id, pair.start, pair.end) for pair in possible), strict=True)
    async with connected(dsn) as connection:
        rows = await connection.fetch(UNLINKED, *map(list, columns))
    return [possible[row["n"] - 1] for row in rows][:PAIRS]


async def record_statements(dsn: str, requests: Requests, servers: Collection[str]) -> dict[str, Recorded]:
    """Record the statements that the baseline replays, and store the questions of a search for the peers."""
    needed = [name for name in REPLAYED if name in requests and set(servers) - {"cairn"}]
    found = {name: await record(dsn, requests[name], OURS) for name in needed}
    if "search" in found:
        await store_questions(dsn, requests["search"])
    return found


async def compare_answers(place: Place, requests: Requests) -> None:
    """Raise Unequal if the response of a server differs from Cairn's."""
    (ours,) = (server for server in place.servers if server.name == "cairn")
    for name, drawn in requests.items():
        some = drawn[:COMPARED]
        expected = await answers(place.dsn, ours, build_requests("cairn", name, some))
        for server in place.servers:
            if server is not ours:
                found = await answers(place.dsn, server, build_requests(server.name, name, some))
                for request, their, our in zip(some, found, expected, strict=True):
                    compare(server.name, request.document, their, our)


async def answers(dsn: str, server: Server, requests: Sequence[HttpRequest]) -> list[dict[str, object]]:
    """Send each request once, in order, and return the responses."""
    async with httpx.AsyncClient(base_url=server.url, timeout=TIMEOUT, trust_env=False) as client:
        headers = {"content-type": "application/json"}
        found = [
            await client.post(request.path, content=request.body, headers=headers | request.headers)
            for request in requests
        ]
    await undo(dsn)
    for response in found:
        if response.status_code != 200:
            raise Unequal(f"{server.name} answers with {response.status_code}: {response.text[:1000]}")
    return [orjson.loads(response.content) for response in found]


async def undo(dsn: str) -> None:
    """Remove the links of a round that stopped between a link and its removal."""
    async with connected(dsn) as connection:
        await connection.execute(UNDO)


async def measure_rounds(place: Place, requests: Requests, rounds: int, seconds: int, connections: int) -> list[Round]:
    found: list[Round] = []
    for name, drawn in requests.items():
        sources = {}
        for server in place.servers:
            sources[server.name] = source = wrk.Source(place.folder / f"{server.name}.requests", BATCH)
            source.write(build_requests(server.name, name, drawn))
            await wrk.load(server.url, source, connections, WARM_UP)
        for number in track(range(rounds), f"Measuring {name}", console=stderr):
            servers = random.sample(list(place.servers), len(place.servers))
            found += [
                await measure_round(place, name, number, server, sources[server.name], seconds, connections)
                for server in servers
            ]
    return found


async def measure_round(
    place: Place, name: str, number: int, server: Server, source: wrk.Source, seconds: int, connections: int
) -> Round:
    if name == WRITE:
        await undo(place.dsn)
    postgres = await backends(place.dsn, server.name)
    before_mb = resident_mb([server.pid])
    before, before_postgres = cpu_seconds([server.pid]), cpu_seconds(postgres)
    load = await wrk.load(server.url, source, connections, seconds)
    server_seconds = cpu_seconds([server.pid]) - before
    has_same_backends = await backends(place.dsn, server.name) == postgres
    postgres_seconds = cpu_seconds(postgres) - before_postgres if has_same_backends else None
    if load.example:
        stderr.print(f"{server.name}, {name}: {load.example}", markup=False)
    count = max(1, load.requests)
    return Round(
        operation=name,
        server=server.name,
        number=number,
        requests=load.requests,
        errors=load.errors,
        per_second=load.requests / load.seconds,
        p50_ms=load.p50_ms,
        p99_ms=load.p99_ms,
        bytes=load.bytes / count,
        server_us=server_seconds / count * 1e6,
        postgres_us=None if postgres_seconds is None else postgres_seconds / count * 1e6,
        before_mb=before_mb,
        after_mb=resident_mb([server.pid]),
    )


async def version_of_postgres(dsn: str) -> str:
    connection = await asyncpg.connect(dsn)
    try:
        found: str = await connection.fetchval("SHOW server_version")
        return found
    finally:
        await connection.close()
