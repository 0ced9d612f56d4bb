"""Creates the database that all servers read: 50,000 pages in 200 wikis, written once and stored.

A run works on a copy, so that each run begins with the same rows. An interrupted creation resumes where it stopped. A
database that was written by another version of this code is dropped and written again.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import asyncpg
import uvloop
from rich.console import Console
from rich.progress import track

from content.search.words import ANALYSER
from db.database import Database
from db.embedded import EmbeddedServer
from db.migrate import migrate
from resolvers.search.reindexing import reindex

from ..wikis import Author, Wiki, wiki, write

HERE = Path(__file__).parent
PEERS = (HERE / "peers.sql").read_text()
MADE_BY = (HERE.parent / "wikis.py", HERE / "peers.sql")
MIGRATIONS = HERE.parents[1] / "migrations" / "versions"
OWNERS = 20  # wikis of one tenant
MEMORY = {"shared_buffers": "512MB", "max_wal_size": "4GB", "maintenance_work_mem": "256MB"}
WRITERS = 2  # while Postgres stores one wiki, Python generates another
COPY = "measured"
notes = Console(stderr=True)


def wikis_of(pages: int, scopes: int) -> list[Wiki]:
    each = pages // scopes
    return [wiki(number // OWNERS + 1, number + 1, each, hub=each // 4) for number in range(scopes)]


class InUse(Exception):
    """Another run uses the same folder. The message says what to do."""


@contextmanager
def served(folder: Path, wikis: Sequence[Wiki]) -> Iterator[str]:
    """Yield the DSN of a fresh copy of the database, on a server that does not wait for the disk."""
    server = EmbeddedServer(folder, lambda step: notes.print(step), durable=False)
    server.settings = server.settings | MEMORY
    with server as dsn:
        original = f"wikis_{fingerprint(wikis)}"
        uvloop.run(prepare(dsn, original, wikis))
        try:
            yield named(dsn, COPY)
        finally:
            uvloop.run(drop(dsn, COPY))


def fingerprint(wikis: Sequence[Wiki]) -> str:
    """Return a hash of everything that determines the rows."""
    files = [*MADE_BY, *sorted(MIGRATIONS.glob("*.py"))]
    text = "\n".join([str(ANALYSER), *map(repr, wikis), *(file.read_text() for file in files)])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def named(dsn: str, database: str) -> str:
    return dsn.replace("/cairn?", f"/{database}?")


async def prepare(dsn: str, original: str, wikis: Sequence[Wiki]) -> None:
    async with connected(dsn) as connection:
        there = {row[0] for row in await connection.fetch("SELECT datname FROM pg_database")}
        for name in there:
            if name == COPY or (name.startswith("wikis_") and name != original):
                await let_go(connection, name)
        if original not in there:
            await connection.execute(f"CREATE DATABASE {original}")
    await fill(named(dsn, original), wikis)
    with notes.status("Copying the database"):
        async with connected(dsn) as connection:
            await connection.execute(f"CREATE DATABASE {COPY} TEMPLATE {original} STRATEGY file_copy")


async def let_go(connection: asyncpg.Connection, name: str) -> None:
    """Drop a database of an earlier run. Raises InUse while another run is connected to it."""
    try:
        await connection.execute(f"DROP DATABASE {name}")
    except asyncpg.ObjectInUseError:
        raise InUse(f"Another run uses {name}. Wait for it, or name another --folder.") from None


async def drop(dsn: str, name: str) -> None:
    async with connected(dsn) as connection:
        await connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


async def fill(dsn: str, wikis: Sequence[Wiki]) -> None:
    async with connected(dsn) as connection:
        if await connection.fetchval("SELECT to_regclass('peers.hits') IS NOT NULL"):
            return
        await migrate(dsn)
        await write_tenants(connection, wikis)
        rows = await connection.fetch("SELECT owner_id FROM search_scopes WHERE state = 'ready'")
        ready = {row["owner_id"] for row in rows}
        lacking = [one for one in wikis if one.owner_id not in ready]
        bar = iter(track(lacking, f"Writing {len(lacking)} wikis, once", console=notes))
        left = iter(lacking)
        await asyncio.gather(*(work(dsn, left, lambda: next(bar, None)) for _ in range(WRITERS)))
        next(bar, None)
        await connection.execute("VACUUM ANALYZE")
        async with connection.transaction():
            await connection.execute(PEERS)  # the last step: where it is done, all steps are


async def write_tenants(connection: asyncpg.Connection, wikis: Sequence[Wiki]) -> None:
    await connection.executemany(
        "INSERT INTO tenants (tenant_id, slug, name) VALUES ($1, $2, 'Tenant') ON CONFLICT DO NOTHING",
        [(tenant, f"tenant-{tenant}") for tenant in {one.tenant_id for one in wikis}],
    )


async def work(dsn: str, left: Iterator[Wiki], step: Callable[[], object]) -> None:
    """Write one wiki after another until none is left."""
    database = Database(dsn, size=1, statement_timeout=600)
    await database.open()
    async with connected(dsn) as connection:
        for number, one in enumerate(left):
            await add(database, connection, one, is_first=number == 0)
            step()
    await database.close()


async def add(database: Database, connection: asyncpg.Connection, one: Wiki, is_first: bool) -> None:
    """Write one wiki: its rows in one transaction, then its search index. An interrupted index is resumed."""
    there = "SELECT EXISTS (SELECT FROM owners WHERE tenant_id = $1 AND id = $2)"
    if not await connection.fetchval(there, one.tenant_id, one.owner_id):
        async with connection.transaction():
            await write(connection, one, Author(one).rows(is_new_tenant=False), is_first)
    await reindex(database, one.tenant_id, one.owner_id)


@asynccontextmanager
async def connected(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(dsn)
    try:
        yield connection
    except BaseException:
        connection.terminate()
        raise
    await connection.close()
