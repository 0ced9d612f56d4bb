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
from ..processes import Server, cpu_seconds, resident_mb, started
from .attacks import ATTACKS, run
from .wire import Target, answer_of, connected, post

SECRET = "only for benchmarks on the loopback of one machine"
EVERY, WRITES_EVERY = 0.02, 0.1  # seconds between two queries, or two writes, of the other client
CHEAP = orjson.dumps({"query": "{ viewer { role } recentWikiPages(limit: 1) { title } }"})
CREATE = "mutation($i: CreateWikiPageInput!) { createWikiPage(input: $i) { page { id } userErrors { code } } }"
NOTE = b'{"title": "A note", "body": "Of the other."}\n'
HELD = 0.05  # seconds: longer holds of the event loop are logged
SETTLE = 3.0  # seconds until the service is idle again
GOAL_P99, GOAL_HELD, GOAL_MEMORY, GOAL_QUIET = 250.0, 50.0, 1.5, 3.0
say = Console(stderr=True)
EXAMPLES = """Examples: make bench-attack; make bench-attack ARGS='--only keys,phrases --seconds 20';
make bench-attack ARGS=--json > attacks.json"""
app = typer.Typer(add_completion=False, rich_markup_mode=None)


@dataclass
class Felt:
    """The impact of one attack on the other client, in milliseconds and MB.

    `quiet` is the p50 without the attack. `held` is the longest time that the event loop computed at a stretch, 0 where
    nothing was logged. `stood` is the longest time that the event loop served no request; on a busy machine most of
    that time is waiting for a processor.
    """

    attack: str
    requests: int
    quiet: float
    p50: float
    p99: float
    worst: float
    held: float
    stood: float
    held_by: list[str]
    memory_before: float
    memory_after: float
    cpu: float
    import_of_another: int | None = None
    misses: list[str] = field(default_factory=list)


class Asked:
    """The requests of the other client and their interval: always the same cheap query, or a new page each time."""

    def __init__(self, writes: bool) -> None:
        self.writes, self.every = writes, WRITES_EVERY if writes else EVERY
        self.numbers = count()

    def body(self) -> bytes:
        if not self.writes:
            return CHEAP
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
        found = uvloop.run(measured(server, scopes, log, names, seconds, repeat, Asked(writes)))
    if as_json:
        sys.stdout.write(json.dumps([asdict(one) for one in found], indent=2) + "\n")
    else:
        Console(width=max(120, say.width)).print(table_of(found))
    raise typer.Exit(any(one.misses for one in found))


@contextmanager
def service() -> Iterator[tuple[Server, list[Scope], Path]]:
    """Start a service with the default limits, and create two tenants with a wiki each."""
    with tempfile.TemporaryDirectory(prefix="cairn-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with EmbeddedServer(folder / "data", lambda step: say.print(step), durable=False) as dsn:
            scopes = uvloop.run(prepared(dsn))
            settings = {
                "CAIRN_DATABASE_URL": dsn,
                "CAIRN_DATA_DIR": str(folder / "cairn"),
                "CAIRN_JWT_SECRET": SECRET,
                "CAIRN_WORKERS": "1",
                "CAIRN_SLOW_LOOP": str(HELD),
                "CAIRN_LOG_LEVEL": "warning",
            }
            command = [sys.executable, "-c", "from app.cli import main; main()", "serve"]
            with started("cairn", command, settings, folder / "log") as server:
                yield server, scopes, folder / "log"


async def prepared(dsn: str) -> list[Scope]:
    await migrate(dsn)
    database = Database(dsn, size=2)
    await database.open()
    try:
        return [await new_scope(database, name) for name in ("attacker", "other")]
    finally:
        await database.close()


def target(server: Server, scope: Scope) -> Target:
    token = mint(SECRET, tenant_id=scope.tenant_id, owner_id=scope.owner_id, role=scope.role, ttl=86_400)
    return Target(server.port, token)


async def measured(
    server: Server,
    scopes: list[Scope],
    log: Path,
    names: list[str],
    seconds: float,
    repeat: int,
    asked: Asked,
) -> list[Felt]:
    attacker, other = (target(server, scope) for scope in scopes)
    await asyncio.wait_for(probed(other, 3, asked), 60)
    found = []
    for place, name in enumerate(names, 1):
        if prepare := ATTACKS[name].prepare:
            say.print(f"{name}: preparing", highlight=False)
            await prepare(attacker, 0)
        for _ in range(repeat + 1):
            say.print(f"{place}/{len(names)} {name}: {ATTACKS[name].about}, {seconds:g} s", highlight=False)
            one = await felt(server, attacker, other, log, name, seconds, asked)
            if not one.misses:
                break
        found.append(one)
    return found


async def felt(
    server: Server, attacker: Target, other: Target, log: Path, name: str, seconds: float, asked: Asked
) -> Felt:
    quiet = sorted(await probed(other, SETTLE, asked))
    before, read, spent = resident_mb([server.pid]), log.stat().st_size, cpu_seconds([server.pid])
    is_import = name == "slow-uploads"
    with multiprocessing.get_context("spawn").Pool(1) as pool:  # a new process: its work does not count as waiting time
        attacking = pool.apply_async(run, (name, attacker, seconds))
        await asyncio.sleep(1)  # until the attacking process has started
        status = (await post(other, "/api/wiki/import", NOTE, "application/jsonl"))[0] if is_import else None
        waits = await probed(other, seconds, asked)
        requests = await asyncio.to_thread(attacking.get, seconds + 60)
    await asyncio.sleep(SETTLE)
    holds = [one for one in records(log, read) if one.get("event") == "event loop held"]
    nothing: dict[str, Any] = {"ms": 0, "cpu_ms": 0, "frames": []}
    longest = max(holds, key=lambda one: float(one["cpu_ms"]), default=nothing)
    stood = max((one["ms"] for one in holds), default=0)
    ordered = sorted(waits)
    one = Felt(
        name, requests, round(quiet[len(quiet) // 2], 1),
        round(ordered[len(ordered) // 2], 1), round(ordered[int(len(ordered) * 0.99)], 1), round(ordered[-1], 1),
        longest["cpu_ms"], stood, longest["frames"][:8],
        round(before), round(resident_mb([server.pid])), round(cpu_seconds([server.pid]) - spent, 1), status,
    )  # fmt: skip
    one.misses = [
        *(["p50"] if name == "crowd" and one.p50 > GOAL_QUIET * one.quiet else []),
        *(["p99"] if one.p99 > GOAL_P99 else []),
        *(["held"] if one.held > GOAL_HELD else []),
        *(["memory"] if one.memory_after > GOAL_MEMORY * before else []),
        *(["import"] if is_import and status != 200 else []),
    ]
    return one


async def probed(other: Target, seconds: float, asked: Asked) -> list[float]:
    """Send requests one after the other, and return the milliseconds of each, counted from the moment at which it was
    due."""
    waits: list[float] = []
    ends, due = time.perf_counter() + seconds, time.perf_counter()
    async with connected(other) as (reader, writer):
        while due < ends:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            body = asked.body()
            writer.write(other.head("/graphql", len(body)) + body)
            status, answer = await asyncio.wait_for(answer_of(reader), 60)
            waits.append(1000 * (time.perf_counter() - due))
            if status != 200 or b'"errors"' in answer:
                raise RuntimeError(f"The other client got status {status}: {answer[:300]!r}")
            due += asked.every
            if due < time.perf_counter() - 1:
                due = time.perf_counter()  # one wait of seconds counts once, not hundreds of times
    return waits


def records(log: Path, start: int) -> Iterator[dict[str, Any]]:
    with log.open("rb") as file:
        file.seek(start)
        for line in file:
            if line.startswith(b"{"):
                yield orjson.loads(line)


def table_of(found: list[Felt]) -> Table:
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
    for one in found:
        cells = (
            one.requests,
            one.quiet,
            one.p50,
            one.p99,
            one.worst,
            one.held,
            one.stood,
            one.memory_before,
            one.memory_after,
            one.cpu,
        )
        table.add_row(one.attack, *map(str, cells), f"{', '.join(one.misses)} !" if one.misses else "")
    return table


if __name__ == "__main__":
    app()
