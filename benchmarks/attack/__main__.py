"""Measures what other clients notice while one client attacks: python -m benchmarks.attack. On Linux only.

A service with its own Postgres is attacked with one credential. Meanwhile a client of another tenant sends a cheap
query every 20 ms, or with --writes creates a page every 100 ms. Its waiting time counts from the moment at which the
request was due, not from the moment at which it was sent. How long the event loop was held is what the service's own
watchdog logs. On a busy machine every process waits, so an attack that misses a goal is repeated before the miss
counts.
"""

import asyncio
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer
import uvloop
from rich.console import Console
from rich.table import Table

from db.database import Database
from db.embedded import EmbeddedServer
from db.migrate import migrate
from db.scope import Scope
from resolvers.auth.credentials import mint

from ..import_export.scopes import new_scope
from ..processes import Server, cpu_seconds, resident_mb, running_server
from .attacks import ATTACKS, run
from .wire import Target, connected, post, read_response

SECRET = "only for benchmarks on the loopback of one machine"
QUERY_INTERVAL, WRITE_INTERVAL = 0.02, 0.1  # seconds between two queries, or two writes, of the other client
CHEAP_QUERY = orjson.dumps({"query": "{ viewer { role } recentWikiPages(limit: 1) { title } }"})
CREATE = "mutation($i: CreateWikiPageInput!) { createWikiPage(input: $i) { page { id } userErrors { code } } }"
IMPORTED_NOTE = b'{"title": "A note", "body": "Of the other."}\n'
SLOW_LOOP = 0.05  # seconds: longer holds of the event loop are logged
SETTLE = 3.0  # seconds until the service is idle again
GOAL_P99, GOAL_LOOP_HELD, GOAL_MEMORY, GOAL_P50_RATIO = 250.0, 50.0, 1.5, 3.0
stderr = Console(stderr=True)
EXAMPLES = """Examples: make bench-attack; make bench-attack ARGS='--only keys,phrases --seconds 20';
make bench-attack ARGS=--json > attacks.json"""
app = typer.Typer(add_completion=False, rich_markup_mode=None)


@dataclass
class Impact:
    """The impact of one attack on the other client, in milliseconds and MB.

    `p50_before` is the p50 without the attack. `loop_held` is the longest time that the event loop computed at a
    stretch, 0 where nothing was logged. `loop_stalled` is the longest time that the event loop served no request; on a
    busy machine most of that time is waiting for a processor.
    """

    attack: str
    requests: int
    p50_before: float
    p50: float
    p99: float
    worst: float
    loop_held: float
    loop_stalled: float
    loop_held_by: list[str]
    memory_before: float
    memory_after: float
    cpu: float
    import_of_another: int | None = None
    misses: list[str] = field(default_factory=list)


class Probe:
    """The requests of the other client and their interval: always the same cheap query, or a new page each time."""

    def __init__(self, writes: bool) -> None:
        self.writes, self.interval = writes, WRITE_INTERVAL if writes else QUERY_INTERVAL
        self.numbers = count()

    def body(self) -> bytes:
        if not self.writes:
            return CHEAP_QUERY
        number = next(self.numbers)
        page = {"type": "TOPIC", "title": f"Light {number}", "bodyMd": f"It weighs {number} g."}
        return orjson.dumps({"query": CREATE, "variables": {"i": page}})


@app.command(epilog=EXAMPLES)
def main(
    only: Annotated[str, typer.Option(help=f"Some of {', '.join(ATTACKS)}, separated by commas.")] = "",
    seconds: Annotated[float, typer.Option(min=1, max=600, help="How long each attack lasts.")] = 8,
    repeat: Annotated[int, typer.Option(min=0, help="Retries of an attack that misses a goal.")] = 1,
    writes: Annotated[
        bool, typer.Option("--writes", help="The other client creates pages instead of reading.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Attack a service and measure the impact on another client. Exits with status 1 if a goal is missed."""
    names = [name.strip() for name in only.split(",") if name.strip()] or list(ATTACKS)
    if unknown := set(names) - set(ATTACKS):
        raise typer.BadParameter(
            f"There is no attack {', '.join(sorted(unknown))}. The attacks are {', '.join(ATTACKS)}."
        )
    with service() as (server, scopes, log):
        impacts = uvloop.run(measure_attacks(server, scopes, log, names, seconds, repeat, Probe(writes)))
    if as_json:
        sys.stdout.write(json.dumps([asdict(impact) for impact in impacts], indent=2) + "\n")
    else:
        Console(width=max(120, stderr.width)).print(table_of(impacts))
    raise typer.Exit(any(impact.misses for impact in impacts))


@contextmanager
def service() -> Iterator[tuple[Server, list[Scope], Path]]:
    """Start a service with the default limits, and create two tenants with a wiki each."""
    with tempfile.TemporaryDirectory(prefix="cairn-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with EmbeddedServer(folder / "data", lambda step: stderr.print(step), durable=False) as dsn:
            scopes = uvloop.run(create_tenants(dsn))
            settings = {
                "CAIRN_DATABASE_URL": dsn,
                "CAIRN_DATA_DIR": str(folder / "cairn"),
                "CAIRN_JWT_SECRET": SECRET,
                "CAIRN_WORKERS": "1",
                "CAIRN_SLOW_LOOP": str(SLOW_LOOP),
                "CAIRN_LOG_LEVEL": "warning",
            }
            command = [sys.executable, "-c", "from app.cli import main; main()", "serve"]
            with running_server("cairn", command, settings, folder / "log") as server:
                yield server, scopes, folder / "log"


async def create_tenants(dsn: str) -> list[Scope]:
    await migrate(dsn)
    database = Database(dsn, size=2)
    await database.open()
    try:
        return [await new_scope(database, name) for name in ("attacker", "other")]
    finally:
        await database.close()


def target_for(server: Server, scope: Scope) -> Target:
    token = mint(SECRET, tenant_id=scope.tenant_id, owner_id=scope.owner_id, role=scope.role, ttl=86_400)
    return Target(server.port, token)


async def measure_attacks(
    server: Server,
    scopes: list[Scope],
    log: Path,
    names: list[str],
    seconds: float,
    repeat: int,
    probe: Probe,
) -> list[Impact]:
    attacker, other = (target_for(server, scope) for scope in scopes)
    await asyncio.wait_for(measure_waits(other, 3, probe), 60)
    impacts = []
    for place, name in enumerate(names, 1):
        if prepare := ATTACKS[name].prepare:
            stderr.print(f"{name}: preparing", highlight=False)
            await prepare(attacker, 0)
        for _ in range(repeat + 1):
            stderr.print(f"{place}/{len(names)} {name}: {ATTACKS[name].about}, {seconds:g} s", highlight=False)
            impact = await measure_attack(server, attacker, other, log, name, seconds, probe)
            if not impact.misses:
                break
        impacts.append(impact)
    return impacts


async def measure_attack(
    server: Server, attacker: Target, other: Target, log: Path, name: str, seconds: float, probe: Probe
) -> Impact:
    quiet_waits = sorted(await measure_waits(other, SETTLE, probe))
    before, log_size, spent = resident_mb([server.pid]), log.stat().st_size, cpu_seconds([server.pid])
    is_import = name == "slow-uploads"
    with multiprocessing.get_context("spawn").Pool(1) as pool:  # a new process: its work does not count as waiting time
        attacking = pool.apply_async(run, (name, attacker, seconds))
        await asyncio.sleep(1)  # until the attacking process has started
        status = (await post(other, "/api/wiki/import", IMPORTED_NOTE, "application/jsonl"))[0] if is_import else None
        waits = await measure_waits(other, seconds, probe)
        requests = await asyncio.to_thread(attacking.get, seconds + 60)
    await asyncio.sleep(SETTLE)
    holds = [record for record in log_records(log, log_size) if record.get("event") == "event loop held"]
    nothing: dict[str, Any] = {"ms": 0, "cpu_ms": 0, "frames": []}
    longest = max(holds, key=lambda record: float(record["cpu_ms"]), default=nothing)
    loop_stalled = max((record["ms"] for record in holds), default=0)
    ordered = sorted(waits)
    impact = Impact(
        name, requests, round(quiet_waits[len(quiet_waits) // 2], 1),
        round(ordered[len(ordered) // 2], 1), round(ordered[int(len(ordered) * 0.99)], 1), round(ordered[-1], 1),
        longest["cpu_ms"], loop_stalled, longest["frames"][:8],
        round(before), round(resident_mb([server.pid])), round(cpu_seconds([server.pid]) - spent, 1), status,
    )  # fmt: skip
    impact.misses = [
        *(["p50"] if name == "crowd" and impact.p50 > GOAL_P50_RATIO * impact.p50_before else []),
        *(["p99"] if impact.p99 > GOAL_P99 else []),
        *(["loop held"] if impact.loop_held > GOAL_LOOP_HELD else []),
        *(["memory"] if impact.memory_after > GOAL_MEMORY * before else []),
        *(["import"] if is_import and status != 200 else []),
    ]
    return impact


async def measure_waits(other: Target, seconds: float, probe: Probe) -> list[float]:
    """Send requests one after the other, and return the milliseconds of each, counted from the moment at which it was
    due."""
    waits: list[float] = []
    ends, due = time.perf_counter() + seconds, time.perf_counter()
    async with connected(other) as (reader, writer):
        while due < ends:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            body = probe.body()
            writer.write(other.head("/graphql", len(body)) + body)
            status, answer = await asyncio.wait_for(read_response(reader), 60)
            waits.append(1000 * (time.perf_counter() - due))
            if status != 200 or b'"errors"' in answer:
                raise RuntimeError(f"The other client got status {status}: {answer[:300]!r}")
            due += probe.interval
            if due < time.perf_counter() - 1:
                due = time.perf_counter()  # one wait of seconds counts once, not hundreds of times
    return waits


def log_records(log: Path, start: int) -> Iterator[dict[str, Any]]:
    with log.open("rb") as file:
        file.seek(start)
        for line in file:
            if line.startswith(b"{"):
                yield orjson.loads(line)


def table_of(impacts: list[Impact]) -> Table:
    table = Table("attack", title="Impact on another tenant's client, in ms; ! misses a goal")
    for column in (
        "requests",
        "quiet",
        "p50",
        "p99",
        "worst",
        "loop held",
        "loop stalled",
        "MB before",
        "after",
        "CPU s",
        "misses",
    ):
        table.add_column(column, justify="right")
    for impact in impacts:
        cells = (
            impact.requests,
            impact.p50_before,
            impact.p50,
            impact.p99,
            impact.worst,
            impact.loop_held,
            impact.loop_stalled,
            impact.memory_before,
            impact.memory_after,
            impact.cpu,
        )
        table.add_row(impact.attack, *map(str, cells), f"{', '.join(impact.misses)} !" if impact.misses else "")
    return table


if __name__ == "__main__":
    app()
