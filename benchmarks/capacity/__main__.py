"""python -m benchmarks.capacity"""

import asyncio
import random
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, NamedTuple

import asyncpg
import httpx
import typer
import uvloop

from db.database import Database
from db.scope import Role
from resolvers.auth.credentials import mint
from resolvers.auth.owners import OwnerKind, create_owner
from resolvers.tenants.tenants import create_tenant

from ..compiler.database import opened, served
from ..graphql.servers import SECRET, UNTHROTTLED
from ..processes import Server, cluster_cpu_seconds, cpu_seconds, postmaster, resident_mb, started
from ..soak.__main__ import CAIRN, PAGES
from ..soak.load import Known, Load
from ..wikis import wiki, write_wikis

TABLES = """
SELECT relname AS name, pg_table_size(relid) AS heap, pg_indexes_size(relid) AS indexes FROM pg_stat_user_tables
"""
SHOWN = 8


class Size(NamedTuple):
    """The bytes of tables, with their large values, and of indexes."""

    heap: int
    indexes: int


class Cost(NamedTuple):
    """The cost of one request on average: milliseconds of CPU, and of waiting."""

    name: str
    server: float
    postgres: float
    waited: float


async def sizes(dsn: str) -> dict[str, Size]:
    connection = await asyncpg.connect(dsn)
    try:
        return {row["name"]: Size(row["heap"], row["indexes"]) for row in await connection.fetch(TABLES)}
    finally:
        await connection.close()


def grown(before: dict[str, Size], after: dict[str, Size], by: int) -> dict[str, Size]:
    """Return what each table has grown by, for one of so many."""
    found = {}
    for name, size in after.items():
        was = before.get(name, Size(0, 0))
        found[name] = Size((size.heap - was.heap) // by, (size.indexes - was.indexes) // by)
    return found


def show_sizes(title: str, found: dict[str, Size]) -> None:
    """Print the whole, and the largest tables."""
    whole = Size(sum(one.heap for one in found.values()), sum(one.indexes for one in found.values()))
    print(f"\n| {title} | heap | indexes | both |\n|---|---|---|---|")
    largest = sorted(found.items(), key=lambda one: sum(one[1]), reverse=True)[:SHOWN]
    for name, one in [("**all**", whole), *largest]:
        print(f"| {name} | {one.heap:,} | {one.indexes:,} | {sum(one):,} |", flush=True)


async def measured_tenants(dsn: str, database: Database, tenants: int) -> None:
    """Print what a tenant with one owner takes before it has a page."""
    before = await sizes(dsn)
    for number in range(tenants):
        made = await create_tenant(database, f"t-{number}", f"Tenant {number}")
        await create_owner(database, made.id, OwnerKind.USER, "mara", "Mara")
    show_sizes(f"bytes of a tenant without pages, of {tenants:,}", grown(before, await sizes(dsn), tenants))


async def measured_pages(dsn: str, number: int, pages: int) -> list[Known]:
    """Print what a page takes in a wiki of so many. Return the pages."""
    one, before, began = wiki(number, number, pages), await sizes(dsn), time.monotonic()
    await write_wikis(dsn, [one])
    found = grown(before, await sizes(dsn), pages)
    show_sizes(f"bytes of a page, of {pages:,} ({time.monotonic() - began:,.0f} s)", found)
    connection = await asyncpg.connect(dsn)
    try:
        token = mint(SECRET, tenant_id=one.tenant_id, owner_id=one.owner_id, role=Role.MEMBER, ttl=86_400)
        rows = await connection.fetch(PAGES, one.tenant_id, one.owner_id)
        return [Known(str(one.tenant_id), str(row["id"]), row["type"], row["slug"], token) for row in rows]
    finally:
        await connection.close()


async def measured_requests(dsn: str, service: Server, pages: list[Known], count: int) -> None:
    """Print what requests of each kind cost, one after the other."""
    load, server = Load(service.url, pages, 1, random.Random(1)), await postmaster(dsn)
    kinds: dict[str, Callable[[httpx.AsyncClient], Awaitable[None]]] = {
        "read": load.read, "search": load.search, "list": load.list, "edit": load.edit,
    }  # fmt: skip
    print("\n| request | CPU of the service, ms | CPU of Postgres, ms | waited, ms |\n|---|---|---|---|")
    async with httpx.AsyncClient(base_url=service.url, timeout=60, trust_env=False) as client:
        for name, send in kinds.items():
            for _ in range(max(count // 10, 10)):
                await send(client)  # plans and caches are made
            before = cpu_seconds([service.pid]), cluster_cpu_seconds(server), time.monotonic()
            for _ in range(count):
                await send(client)
            after = cpu_seconds([service.pid]), cluster_cpu_seconds(server), time.monotonic()
            one = Cost(name, *((then - at) * 1_000 / count for at, then in zip(before, after, strict=True)))
            print(f"| {one.name} | {one.server:.2f} | {one.postgres:.2f} | {one.waited:.1f} |", flush=True)
    print(f"\nMemory of the service: {resident_mb([service.pid]):,.0f} MB", flush=True)


async def run(dsn: str, folder: Path, pages: list[int], count: int, tenants: int) -> None:
    database = await opened(dsn)
    await measured_tenants(dsn, database, tenants)
    await database.close()
    settings = {
        "CAIRN_DATABASE_URL": dsn, "CAIRN_DATA_DIR": str(folder), "CAIRN_JWT_SECRET": SECRET, "CAIRN_POOL_SIZE": "2",
        "CAIRN_LOG_LEVEL": "warning", **UNTHROTTLED,
    }  # fmt: skip
    for number, one in enumerate(pages, 1):
        known = await measured_pages(dsn, number, one)
        log = folder / f"service-{number}.log"
        with started("cairn", [*CAIRN, "serve"], settings, log) as service:
            await asyncio.sleep(2)
            await measured_requests(dsn, service, known, count)


def main(
    pages: Annotated[str, typer.Option(help="Sizes of wikis, by commas.")] = "10000,100000",
    requests: Annotated[int, typer.Option(min=10, help="Requests of each kind.")] = 1_000,
    tenants: Annotated[int, typer.Option(min=1, help="Tenants without pages.")] = 1_000,
) -> None:
    """Print the bytes of a tenant and of a page, and the CPU time of a request, in wikis of these sizes.

    One client asks at a time, so that the CPU time of Postgres between two looks is that of its requests, with what
    autovacuum does meanwhile.
    """
    with tempfile.TemporaryDirectory(prefix="cairn-bench-") as name, served() as dsn:
        uvloop.run(run(dsn, Path(name), [int(one) for one in pages.split(",")], requests, tenants))


if __name__ == "__main__":
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
    app.command()(main)
    app(prog_name="python -m benchmarks.capacity")
