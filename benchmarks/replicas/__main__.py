"""python -m benchmarks.replicas"""

import asyncio
import random
import re
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from statistics import median
from typing import Annotated, NamedTuple

import asyncpg
import httpx
import typer
import uvloop

from db.embedded import EmbeddedServer
from db.migrate import migrate

from ..faults.stage import dsn_of, start_standby, stop_server
from ..graphql import wrk
from ..graphql.operations import READS, draw_reads
from ..graphql.requests import HttpRequest, build_requests, token
from ..graphql.servers import SECRET, UNTHROTTLED
from ..processes import Server, cluster_cpu_seconds, cpu_seconds, postmaster, running_server
from ..soak.__main__ import CAIRN
from ..wikis import Wiki, wiki, write_wikis

REPLAYED = "SELECT pg_last_wal_replay_lsn() >= $1::text::pg_lsn"
READS_BY_SERVER = re.compile(r'^cairn_reads_total\{server="([\w-]+)"\} (\S+)$', re.MULTILINE)
HEADER = "cairn-position"
CREATE = 'mutation { createWikiPage(input: {type: TOPIC, title: "Newer", bodyMd: "Written now."}) { page { id } } }'
SERVING_TIMEOUT = 30  # seconds until the replica must serve reads
WARMING = 1.0  # seconds


class Way(NamedTuple):
    """One way to read: a service, its Postgres servers, and the headers that each request has in addition."""

    name: str
    server: Server
    postgres: Sequence[int]
    headers: Mapping[str, str]


class Cost(NamedTuple):
    """The mean CPU microseconds of one read, of the service and of Postgres."""

    server: float
    postgres: float


@asynccontextmanager
async def running_pair(folder: Path) -> AsyncIterator[tuple[str, str]]:
    """Start a primary with a migrated database and a standby that follows it, and yield their DSNs."""
    primary, standby = EmbeddedServer(folder / "primary"), EmbeddedServer(folder / "standby")
    primary.data_dir.mkdir()
    try:
        await asyncio.to_thread(primary.launch)
        await migrate(dsn_of(primary.postmaster()[4]))
        await asyncio.to_thread(start_standby, primary, standby)
        yield dsn_of(primary.postmaster()[4]), dsn_of(standby.postmaster()[4])
    finally:
        stop_server(standby)
        stop_server(primary)


async def wait_for_standby(primary: str, standby: str) -> None:
    """Wait until the standby has replayed all that was written and analysed."""
    first, second = await asyncpg.connect(primary), await asyncpg.connect(standby)
    try:
        await first.execute("VACUUM ANALYZE")
        write_page = await first.fetchval("SELECT pg_current_wal_lsn()::text")
        while not await second.fetchval(REPLAYED, write_page):
            await asyncio.sleep(0.1)
    finally:
        await first.close()
        await second.close()


async def write_page(server: Server, wiki: Wiki) -> str:
    """Write a page. Return the position of that write once the replica answers reads that carry the position."""
    headers = {"authorization": f"Bearer {token(wiki)}"}
    async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=30, trust_env=False) as client:
        position = (await client.post("/graphql", json={"query": CREATE})).headers[HEADER]
        async with asyncio.timeout(SERVING_TIMEOUT):
            while True:
                before = await reads_by_server(server)
                await client.post("/graphql", json={"query": "{ wikiPages(first: 1) { nodes { id } } }"},
                                  headers={HEADER: position})  # fmt: skip
                after = await reads_by_server(server)
                if after.get("replica-1", 0) > before.get("replica-1", 0):
                    return position
                await asyncio.sleep(0.2)


async def reads_by_server(server: Server) -> dict[str, float]:
    """Return how many reads of a service each Postgres server has answered so far."""
    async with httpx.AsyncClient(base_url=server.url, timeout=30, trust_env=False) as client:
        text = (await client.get("/metrics")).raise_for_status().text
    return {name: float(value) for name, value in READS_BY_SERVER.findall(text)}


async def compare_ways(
    folder: Path, ways: Sequence[Way], requests: Sequence[HttpRequest], rounds: int, seconds: int
) -> dict[str, list[Cost]]:
    """Put load on the ways in turn, in random order, `rounds` times. Return the costs of each way by round."""
    sources, costs_by_way = {}, {way.name: list[Cost]() for way in ways}
    for number, way in enumerate(ways):
        sources[way.name] = source = wrk.Source(folder / f"{number}.requests")
        source.write([request._replace(headers={**request.headers, **way.headers}) for request in requests])
        await wrk.load(way.server.url, source, 8, WARMING)
    for _ in range(rounds):
        for way in random.sample(ways, len(ways)):
            before = cpu_seconds([way.server.pid]), sum(map(cluster_cpu_seconds, way.postgres))
            load = await wrk.load(way.server.url, sources[way.name], 8, seconds)
            after = cpu_seconds([way.server.pid]), sum(map(cluster_cpu_seconds, way.postgres))
            if load.errors:
                raise wrk.LoadFailed(f"{load.errors} answers were errors, such as {load.example}")
            costs_by_way[way.name].append(
                Cost(*((then - at) * 1e6 / load.requests for at, then in zip(before, after, strict=True)))
            )
    return costs_by_way


def show(operation: str, costs_by_way: Mapping[str, Sequence[Cost]]) -> None:
    """Print the median of each way, and its ratio to the first way with the minimum and maximum of the rounds."""
    first = next(iter(costs_by_way.values()))
    for name, costs in costs_by_way.items():
        ratios = sorted(cost.server / base.server for cost, base in zip(costs, first, strict=True))
        server, postgres = (median(column) for column in zip(*costs, strict=True))
        print(
            f"| {operation} | {name} | {server:,.0f} | {postgres:,.0f} | "
            f"{median(ratios):.2f} [{ratios[0]:.2f}–{ratios[-1]:.2f}] |",
            flush=True,
        )


async def run(folder: Path, operations: Sequence[str], rounds: int, seconds: int, wikis: Sequence[Wiki]) -> None:
    async with running_pair(folder) as (primary, standby):
        await write_wikis(primary, wikis)
        await wait_for_standby(primary, standby)
        settings = {
            "CAIRN_DATABASE_URL": primary, "CAIRN_JWT_SECRET": SECRET, "CAIRN_DATA_DIR": str(folder / "cairn"),
            "CAIRN_METRICS": "local", "CAIRN_LOG_LEVEL": "warning", **UNTHROTTLED,
        }  # fmt: skip
        replicated_settings = settings | {"CAIRN_READ_DATABASE_URLS": standby}
        with ExitStack() as stack:
            first_server = stack.enter_context(
                running_server("cairn", [*CAIRN, "serve"], settings, folder / "alone.log")
            )
            second_server = stack.enter_context(
                running_server("cairn", [*CAIRN, "serve"], settings, folder / "another.log")
            )
            replicated_server = stack.enter_context(
                running_server("cairn", [*CAIRN, "serve"], replicated_settings, folder / "replica.log")
            )
            both = [await postmaster(primary), await postmaster(standby)]
            position = await write_page(replicated_server, wikis[0])
            ways = [
                Way("without a replica", first_server, both, {}),
                Way("another without one", second_server, both, {}),
                Way("with a replica", replicated_server, both, {}),
                Way("with a replica and a position", replicated_server, both, {HEADER: position}),
            ]
            print("| read | way | server µs | Postgres µs | server µs / without |\n|---|---|---|---|---|")
            for name in operations:
                requests = build_requests("cairn", name, draw_reads(name, wikis))
                show(name, await compare_ways(folder, ways, requests, rounds, seconds))
            print(f"\nReads of the service with a replica, by server: {await reads_by_server(replicated_server)}")


def main(
    operations: Annotated[str, typer.Option(help=f"Some of {', '.join(READS)}, separated by commas.")] = ",".join(
        READS
    ),
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of load for each way.")] = 10,
    seconds: Annotated[int, typer.Option(min=1, help="Seconds of each round.")] = 2,
    wikis: Annotated[int, typer.Option(min=1, help="Number of wikis.")] = 40,
    pages: Annotated[int, typer.Option(min=10, help="Pages of each wiki.")] = 250,
) -> None:
    """Compare the CPU time of reads without a replica, with a replica, and with a replica that needs a position.

    Needs wrk. Three services on one primary take turns. The reads of the third are answered by a standby. The first two
    have no replica: the difference between them is the error of the measurement.
    """
    generated_wikis = [wiki(number // 20 + 1, number + 1, pages) for number in range(wikis)]
    with tempfile.TemporaryDirectory(prefix="cairn-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        uvloop.run(run(folder, operations.split(","), rounds, seconds, generated_wikis))


if __name__ == "__main__":
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
    app.command()(main)
    app(prog_name="python -m benchmarks.replicas")
