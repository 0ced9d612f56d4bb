"""Cairn against the floor: equal answers first, then rounds of load in turn, and the ratio of what they cost."""

import random
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import orjson
import typer
import uvloop
from rich.console import Console
from rich.progress import track

from db.embedded import EmbeddedServer
from db.migrate import migrate

from .load import answers, call
from .operations import OPERATIONS
from .processes import CAIRN, FLOOR, Server, backends, cpu_seconds, started
from .report import Round, as_json, table
from .requests import SECRET, Asked, requests
from .wikis import Wiki, wiki, write_wikis

COMPARED = 100  # answers of each operation
DRAWN = 500  # different requests of each operation
WARM_UP = 1.0  # seconds
console = Console(stderr=True)


@dataclass(frozen=True)
class Plan:
    """How much of everything."""

    wikis: list[Wiki]
    rounds: int
    seconds: float
    connections: int
    pool_size: int


def main(
    pages: Annotated[int, typer.Option(min=100, help="Pages in all.")] = 20_000,
    scopes: Annotated[int, typer.Option(min=1, help="Wikis that they are spread over.")] = 100,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of each server for each read.")] = 3,
    seconds: Annotated[float, typer.Option(min=0.5, help="Seconds of a round.")] = 3,
    connections: Annotated[int, typer.Option(min=1, help="Connections that ask at once.")] = 16,
    pool: Annotated[int, typer.Option(min=1, help="Connections to Postgres of each server.")] = 4,
    json: Annotated[bool, typer.Option("--json", help="Print every round as JSON.")] = False,
) -> None:
    """What three reads cost in Cairn, against a server with the same statements written by hand. On Linux only."""
    wikis = [wiki(number // 10 + 1, number + 1, pages // scopes, hub=pages // scopes // 4) for number in range(scopes)]
    plan = Plan(wikis, rounds, seconds, connections, pool)
    with tempfile.TemporaryDirectory(prefix="cairn-bench-") as folder:
        Path(folder).chmod(0o755)
        with EmbeddedServer(Path(folder) / "data", durable=False) as dsn:
            uvloop.run(fill(dsn, plan))
            found = measure(dsn, Path(folder), plan)
    print(as_json(found).decode()) if json else Console().print(table(found))
    if any(one.errors for one in found):
        sys.exit("Some answers were errors: the figures above mean nothing.")


async def fill(dsn: str, plan: Plan) -> None:
    await migrate(dsn)
    bar = iter(track(plan.wikis, "Writing the wikis", console=console))
    await write_wikis(dsn, plan.wikis, lambda _: next(bar, None))


def measure(dsn: str, folder: Path, plan: Plan) -> list[Round]:
    settings = {
        "CAIRN_DATABASE_URL": dsn,
        "CAIRN_DATA_DIR": str(folder / "cairn"),
        "CAIRN_JWT_SECRET": SECRET,
        "CAIRN_POOL_SIZE": str(plan.pool_size),
    }
    with ExitStack() as running:
        floor = running.enter_context(started("floor", FLOOR, settings))
        cairn = running.enter_context(started("cairn", CAIRN, settings))
        return uvloop.run(compare(dsn, floor, cairn, plan))


async def compare(dsn: str, floor: Server, cairn: Server, plan: Plan) -> list[Round]:
    found: list[Round] = []
    for name in OPERATIONS:
        drawn = requests(name, plan.wikis, DRAWN)
        await check_equal(name, drawn, floor, cairn)
        sent = {floor: [one.floor for one in drawn], cairn: [one.cairn for one in drawn]}
        for server, payloads in sent.items():
            await call(server.url, payloads, plan.connections, WARM_UP)
        for number in track(range(plan.rounds), f"Measuring {name}", console=console):
            in_turn = random.sample([floor, cairn], 2)
            found += [await one_round(dsn, name, number, server, sent[server], plan) for server in in_turn]
    return found


async def check_equal(name: str, drawn: list[Asked], floor: Server, cairn: Server) -> None:
    """The same data, whatever the order of its keys."""
    theirs = await answers(floor.url, [one.floor for one in drawn[:COMPARED]])
    ours = await answers(cairn.url, [one.cairn for one in drawn[:COMPARED]])
    for asked, their, our in zip(drawn, theirs.bodies, ours.bodies, strict=False):
        if orjson.loads(their) != orjson.loads(our):
            sys.exit(f"{name}: the answers differ for\n{asked.cairn.decode()}\n{their.decode()}\n{our.decode()}")


async def one_round(dsn: str, name: str, number: int, server: Server, payloads: list[bytes], plan: Plan) -> Round:
    postgres = await backends(dsn, server.name)
    before, before_postgres = cpu_seconds([server.pid]), cpu_seconds(postgres)
    load = await call(server.url, payloads, plan.connections, plan.seconds)
    spent, spent_postgres = cpu_seconds([server.pid]) - before, cpu_seconds(postgres) - before_postgres
    return Round(
        operation=name,
        server=server.name,
        number=number,
        requests=load.count,
        errors=len(load.errors),
        per_second=load.count / load.seconds,
        p50_ms=load.percentile(0.5),
        p99_ms=load.percentile(0.99),
        server_us=spent / load.count * 1e6,
        postgres_us=spent_postgres / load.count * 1e6,
    )


if __name__ == "__main__":
    typer.run(main)
