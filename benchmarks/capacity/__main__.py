"""python -m benchmarks.capacity"""

import asyncio
import random
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import fmean
from typing import Annotated, NamedTuple

import asyncpg
import httpx
import typer
import uvloop

from content.search.words import ANALYSERS
from db.database import Database
from db.scope import Role
from resolvers.auth.credentials import mint
from resolvers.auth.owners import OwnerKind, create_owner
from resolvers.search.lexemes import PASSAGES, scope_letter
from resolvers.tenants.tenants import create_tenant

from ..compiler.database import open_database, temporary_server
from ..graphql.servers import SECRET, UNTHROTTLED
from ..processes import Server, postmaster, resident_mb, running_server, scheduled_ms
from ..soak.__main__ import CAIRN, PAGES
from ..soak.load import KnownPage, Load
from ..soak.trends import percentile
from ..wikis import Wiki, wiki, write_wikis

TABLES = """
SELECT relname AS name, pg_table_size(relid) AS heap, pg_indexes_size(relid) AS indexes FROM pg_stat_user_tables
"""
COLUMNS = """
SELECT c.table_name, array_agg(quote_ident(c.column_name)), array_agg(CASE
    WHEN c.column_name = 'tenant_id' THEN '$2::uuid'
    WHEN c.column_name = 'owner_id' OR (c.table_name, c.column_name) = ('owners', 'id') THEN '$3::uuid'
    WHEN (c.table_name, c.column_name) = ('tenants', 'slug') THEN 'slug || $2::uuid'
    WHEN c.udt_name = 'tsvector' THEN format('translate(%I::text, $4, $5)::tsvector', c.column_name)
    ELSE quote_ident(c.column_name)
END)
FROM information_schema.columns AS c
WHERE c.table_schema = 'public'
  AND c.table_name IN (SELECT table_name FROM information_schema.columns WHERE column_name = 'tenant_id')
GROUP BY c.table_name
"""
"""The columns of each table with a tenant, and the SQL expressions that copy them to another wiki.

A copy gets the ids of its own wiki, and its search words begin with the letters of its own wiki, because the words of
two wikis lie apart in the index.
"""
PARAMETER_TYPES = "ROW($2::uuid, $3::uuid, $4::text, $5::text) IS NOT NULL"  # types of unused parameters
TABLES_SHOWN = 8
REQUESTS_PER_TURN = 10  # requests to one group of pages before the next group's turn
GENERATED_WIKIS = 10  # wikis of one size that are generated; further ones are copies
MAX_WIKIS_PER_SIZE = 100_000  # wikis of one size


class Size(NamedTuple):
    """The bytes of tables, including their TOAST tables, and of indexes."""

    heap: int
    indexes: int


class Cost(NamedTuple):
    """The cost of one request in milliseconds: CPU of the service, CPU of Postgres, and elapsed time."""

    server: float
    postgres: float
    elapsed: float


async def table_sizes(dsn: str) -> dict[str, Size]:
    connection = await asyncpg.connect(dsn)
    try:
        return {row["name"]: Size(row["heap"], row["indexes"]) for row in await connection.fetch(TABLES)}
    finally:
        await connection.close()


def growth_per_item(before: dict[str, Size], after: dict[str, Size], count: int) -> dict[str, Size]:
    """Return the growth of each table, divided by the number of rows, pages or tenants that were added."""
    found = {}
    for name, size in after.items():
        was = before.get(name, Size(0, 0))
        found[name] = Size((size.heap - was.heap) // count, (size.indexes - was.indexes) // count)
    return found


def show_sizes(title: str, found: dict[str, Size]) -> None:
    """Print the total and the largest tables."""
    total = Size(sum(size.heap for size in found.values()), sum(size.indexes for size in found.values()))
    print(f"\n| {title} | heap | indexes | both |\n|---|---|---|---|")
    largest = sorted(found.items(), key=lambda size: sum(size[1]), reverse=True)[:TABLES_SHOWN]
    for name, size in [("**all**", total), *largest]:
        print(f"| {name} | {size.heap:,} | {size.indexes:,} | {sum(size):,} |", flush=True)


async def measure_tenants(dsn: str, database: Database, tenants: int) -> None:
    """Print the bytes that a tenant with one owner takes before it has a page."""
    before = await table_sizes(dsn)
    for number in range(tenants):
        tenant = await create_tenant(database, f"t-{number}", f"Tenant {number}")
        await create_owner(database, tenant.id, OwnerKind.USER, "mara", "Mara")
    show_sizes(
        f"bytes of a tenant without pages, of {tenants:,}", growth_per_item(before, await table_sizes(dsn), tenants)
    )


async def measure_pages(dsn: str, number: int, pages: int, each: int) -> list[KnownPage]:
    """Print the bytes of a page in wikis of `each` pages, which have `pages` pages together. Return all pages."""
    begin = number * MAX_WIKIS_PER_SIZE
    wikis_of_size = [wiki(begin + n, begin + n, each) for n in range(pages // each)]
    before, began = await table_sizes(dsn), time.monotonic()
    await write_wikis(dsn, wikis_of_size[:GENERATED_WIKIS])
    await write_copies(dsn, wikis_of_size[:GENERATED_WIKIS], wikis_of_size[GENERATED_WIKIS:])
    found = growth_per_item(before, await table_sizes(dsn), pages)
    title = f"bytes of a page, of {pages:,} in {len(wikis_of_size):,} wikis ({time.monotonic() - began:,.0f} s)"
    show_sizes(title, found)
    connection, known = await asyncpg.connect(dsn), []
    try:
        for owner_wiki in wikis_of_size:
            token = mint(
                SECRET, tenant_id=owner_wiki.tenant_id, owner_id=owner_wiki.owner_id, role=Role.MEMBER, ttl=86_400
            )
            rows = await connection.fetch(PAGES, owner_wiki.tenant_id, owner_wiki.owner_id)
            known += [
                KnownPage(str(owner_wiki.tenant_id), str(row["id"]), row["type"], row["slug"], token) for row in rows
            ]
        return known
    finally:
        await connection.close()


async def write_copies(dsn: str, wikis: list[Wiki], copies: list[Wiki]) -> None:
    """Copy the given wikis in turn with SQL, which takes a fraction of the time that writing new wikis takes."""
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(
            "SET session_replication_role = replica"
        )  # foreign keys were checked when the originals were written
        tables = await connection.fetch(COLUMNS)
        for number, target in enumerate(copies):
            template = wikis[number % len(wikis)]
            async with connection.transaction():
                for table, columns, values in tables:
                    copy = f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)} FROM {table}"
                    parameters = [
                        template.tenant_id,
                        target.tenant_id,
                        target.owner_id,
                        letters_of(template),
                        letters_of(target),
                    ]
                    await connection.execute(f"{copy} WHERE tenant_id = $1 AND {PARAMETER_TYPES}", *parameters)
        await connection.execute("VACUUM ANALYZE")
    finally:
        await connection.close()


def letters_of(target: Wiki) -> str:
    """Return the letters with which the search words of a wiki begin, in its indexes of pages and of passages."""
    numbers = (number + index for number in ANALYSERS for index in (0, PASSAGES))
    return "".join(scope_letter(target.tenant_id, target.owner_id, number) for number in numbers)


async def measure_requests(dsn: str, service: Server, groups: list[list[KnownPage]], count: int) -> None:
    """Print the cost of requests of each kind, sent one after the other. The groups of pages take turns."""
    server, seed = (
        await postmaster(dsn),
        len(groups),
    )  # a new seed for each size: repeating an edit would change nothing
    loads = [Load(service.url, pages, 1, random.Random(seed)) for pages in groups]
    kinds: list[Callable[[Load, httpx.AsyncClient], Awaitable[None]]] = [Load.read, Load.search, Load.list, Load.edit]
    print(
        "\n| request | to one of | CPU of the service, ms: mean, p50, p95 | CPU of Postgres, ms: mean, p50, p95 "
        "| waited, ms |\n|---|---|---|---|---|"
    )
    async with httpx.AsyncClient(base_url=service.url, timeout=60, trust_env=False) as client:
        for send in kinds:
            found: list[list[Cost]] = [[] for _ in loads]
            for _ in range(max(count // 10, 10)):
                for load in loads:
                    await send(load, client)  # fills the plan cache and other caches
            for _ in range(0, count, REQUESTS_PER_TURN):
                for load, costs in zip(loads, found, strict=True):
                    for _ in range(REQUESTS_PER_TURN):
                        before = read_clocks(service, server)
                        await send(load, client)
                        after = read_clocks(service, server)
                        costs.append(Cost(*(then - at for at, then in zip(before, after, strict=True))))
            for load, costs in zip(loads, found, strict=True):
                service_cpu, postgres_cpu, elapsed = (list(column) for column in zip(*costs, strict=True))
                name = f"{send.__name__} | {len(load.pages):,} pages"
                print(
                    f"| {name} | {format_costs(service_cpu)} | {format_costs(postgres_cpu)} | {fmean(elapsed):.1f} |",
                    flush=True,
                )
    print(f"\nMemory of the service: {resident_mb([service.pid]):,.0f} MB", flush=True)


def read_clocks(service: Server, postgres: int) -> Cost:
    """Return the CPU time of both processes so far and the monotonic clock, in milliseconds."""
    return Cost(scheduled_ms([service.pid]), scheduled_ms([postgres]), time.monotonic() * 1_000)


def format_costs(costs: list[float]) -> str:
    return f"{fmean(costs):.2f}, {percentile(costs, 0.5):.2f}, {percentile(costs, 0.95):.2f}"


async def run(dsn: str, folder: Path, pages: list[int], each: int, count: int, tenants: int) -> None:
    database = await open_database(dsn)
    await measure_tenants(dsn, database, tenants)
    await database.close()
    settings = {
        "CAIRN_DATABASE_URL": dsn, "CAIRN_DATA_DIR": str(folder), "CAIRN_JWT_SECRET": SECRET, "CAIRN_POOL_SIZE": "2",
        "CAIRN_LOG_LEVEL": "warning", **UNTHROTTLED,
    }  # fmt: skip
    groups: list[list[KnownPage]] = []
    for number, page_count in enumerate(pages, 1):
        groups.append(await measure_pages(dsn, number, page_count, min(each or page_count, page_count)))
        log = folder / f"service-{number}.log"
        with running_server("cairn", [*CAIRN, "serve"], settings, log) as service:
            await asyncio.sleep(2)
            await measure_requests(dsn, service, groups, count)


def main(
    pages: Annotated[
        str, typer.Option(help="Numbers of pages, separated by commas; each is added to those before.")
    ] = "10000,100000",
    each: Annotated[int, typer.Option(min=0, help="Pages per wiki, each in its own tenant; 0: all in one wiki.")] = 0,
    requests: Annotated[int, typer.Option(min=10, help="Requests of each kind.")] = 1_000,
    tenants: Annotated[int, typer.Option(min=1, help="Tenants without pages.")] = 1_000,
) -> None:
    """Print the bytes of a tenant and of a page, and the CPU time of a request, in databases of these sizes.

    One client sends one request at a time, so that the growth of Postgres' CPU time is the cost of that request, plus
    the work of autovacuum. Requests to the pages of each size take turns, in a database that holds them all.
    """
    with tempfile.TemporaryDirectory(prefix="cairn-bench-") as name, temporary_server() as dsn:
        uvloop.run(run(dsn, Path(name), [int(size) for size in pages.split(",")], each, requests, tenants))


if __name__ == "__main__":
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
    app.command()(main)
    app(prog_name="python -m benchmarks.capacity")
