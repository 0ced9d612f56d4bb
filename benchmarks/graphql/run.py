"""Compares Cairn with three other servers over one database of 50,000 pages in 200 wikis, on Linux, with wrk."""

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
import uvloop
from platformdirs import user_cache_path
from rich.console import Console

from ..wikis import Wiki
from . import memory as memories
from .database import database_copy, stderr, wikis_of
from .measuring import (
    Place,
    Requests,
    compare_answers,
    draw_requests,
    measure_rounds,
    record_statements,
    version_of_postgres,
)
from .operations import LINK_DISTANCE, OPERATIONS, READS
from .recording import save
from .report import as_json, goals, never_repeated, table
from .servers import (
    NAMES,
    MissingProgram,
    check_connections,
    connection_limits,
    install_postgraphile,
    running,
    versions,
)

WIDTH = 150  # characters that the table needs
DEFAULT_FOLDER = user_cache_path("cairn-bench-graphql")

Pages = Annotated[int, typer.Option(min=1_000, help="Pages in all.")]
Scopes = Annotated[int, typer.Option(min=1, help="Wikis that the pages are spread over.")]
Connections = Annotated[int, typer.Option(min=1, max=LINK_DISTANCE, help="Concurrent connections.")]
Pool = Annotated[int, typer.Option(min=1, help="Connections of each server to Postgres.")]
Folder = Annotated[Path, typer.Option(help="Folder of the database; created if missing.")]
Json = Annotated[bool, typer.Option("--json", help="Print every figure as JSON.")]


def compare(
    pages: Pages = 50_000,
    scopes: Scopes = 200,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of each server for each operation.")] = 3,
    seconds: Annotated[int, typer.Option(min=1, help="Seconds of a round.")] = 3,
    connections: Connections = 16,
    pool: Pool = 8,
    only: Annotated[str, typer.Option(help=f"Some of {', '.join((*NAMES, *OPERATIONS))}.")] = "",
    folder: Folder = DEFAULT_FOLDER,
    json: Json = False,
) -> None:
    """Compare the answers of all servers, then put load on each in turn, and print the figures and the goals."""
    servers, operations = parse_only(only)
    if "postgraphile" in servers:
        with stderr.status("Installing PostGraphile"):
            install_postgraphile()
    with running_servers(folder, wikis_of(pages, scopes), servers, operations, pool) as (place, requests):
        about = versions(servers) | {"PostgreSQL": uvloop.run(version_of_postgres(place.dsn))}
        for name, version in about.items():
            stderr.print(f"{name:<13} {version}", highlight=False)
        with stderr.status("Comparing answers"):
            uvloop.run(compare_answers(place, requests))
        results = uvloop.run(measure_rounds(place, requests, rounds, seconds, connections))
        load = never_repeated(requests)
    if json:
        size = {"pages": pages, "scopes": scopes, "connections": connections, "pool": pool, "seconds": seconds}
        print(as_json(results, {"versions": about, "load": load, **size}).decode())
    else:
        Console(width=max(WIDTH, Console().width)).print(table(results), load, goals(results), sep="\n")
    if any(round_result.errors for round_result in results):
        sys.exit("Some answers were errors: the figures above mean nothing.")


def memory(
    requests: Annotated[int, typer.Option(min=1_000, help="Requests in all, of each read in turn.")] = 1_000_000,
    every: Annotated[int, typer.Option(min=1_000, help="Requests between two measurements.")] = 50_000,
    pages: Pages = 50_000,
    scopes: Scopes = 200,
    connections: Connections = 16,
    pool: Pool = 8,
    folder: Folder = DEFAULT_FOLDER,
) -> None:
    """Measure whether the memory of Cairn grows while it answers."""
    reads = tuple(READS)
    with running_servers(folder, wikis_of(pages, scopes), ("cairn",), reads, pool) as (place, drawn):
        samples = uvloop.run(memories.watch_memory(place.servers[0], place.folder, drawn, requests, every, connections))
    growth_mb = memories.growth(samples)
    verdict = "flat" if growth_mb <= memories.MAX_GROWTH else "it grows"
    print(f"{growth_mb:+.1f} MB per million requests after the warm-up: {verdict}")
    if growth_mb > memories.MAX_GROWTH:
        sys.exit(1)


@contextmanager
def running_servers(
    folder: Path, wikis: Sequence[Wiki], servers: tuple[str, ...], operations: tuple[str, ...], pool: int
) -> Iterator[tuple[Place, Requests]]:
    """Yield the running servers over a fresh database, and the requests to send."""
    if shutil.which("wrk") is None:
        raise MissingProgram("wrk sends the requests and is not on the PATH. Debian, Ubuntu: apt install wrk")
    with database_copy(folder, wikis) as dsn, tempfile.TemporaryDirectory(prefix="cairn-bench-") as temporary:
        check_connections(uvloop.run(connection_limits(dsn)), servers, pool)
        requests = uvloop.run(draw_requests(dsn, wikis, operations))
        recorded = Path(temporary) / "recorded"
        save(recorded, uvloop.run(record_statements(dsn, requests, servers)))
        with running(servers, dsn, Path(temporary), pool, recorded) as servers_running:
            yield Place(dsn, Path(temporary), servers_running), requests


def parse_only(only: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the named servers and operations, or all of a kind when none is named. Cairn is always included."""
    named = {name.strip() for name in only.split(",") if name.strip()}
    if unknown := named - {*NAMES, *OPERATIONS}:
        raise typer.BadParameter(f"There is no {', '.join(sorted(unknown))}.", param_hint="--only")
    servers = tuple(name for name in NAMES if name in named | {"cairn"}) if named & {*NAMES} else NAMES
    operations = tuple(name for name in OPERATIONS if name in named) or OPERATIONS
    return servers, operations
