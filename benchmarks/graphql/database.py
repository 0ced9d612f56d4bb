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
SOURCES_OF_ROWS = (HERE.parent / "wikis.py", HERE / "peers.sql")
MIGRATIONS = HERE.parents[1] / "migrations" / "versions"
OWNERS = 20  # wikis of one tenant
MEMORY = {"shared_buffers": "512MB", "max_wal_size": "4GB", "maintenance_work_mem": "256MB"}
WRITERS = 2  # while Postgres stores one wiki, Python generates another
COPY = "measured"
stderr = Console(stderr=True)


def wikis_of(pages: int, scopes: int) -> list[Wiki]:
    each = pages // scopes
    return [wiki(number // OWNERS + 1, number + 1, each, hub=each // 4) for number in range(scopes)]


class InUse(Exception):
    """Another run uses the same folder. The message says what to do."""


@contextmanager
def database_copy(folder: Path, wikis: Sequence[Wiki]) -> Iterator[str]:
    """Yield the DSN of a fresh copy of the database, on a server that does not wait for the disk."""
    server = EmbeddedServer(folder, lambda step: stderr.print(step), durable=False)
    server.settings = server.settings | MEMORY
    with server as dsn:
        original = f"wikis_{fingerprint(wikis)}"
        uvloop.run(prepare(dsn, original, wikis))
        try:
            yield dsn_of(dsn, COPY)
        finally:
            uvloop.run(drop(dsn, COPY))


def fingerprint(wikis: Sequence[Wiki]) -> str:
    """Return a hash of everything that determines the rows."""
    files = [*SOURCES_OF_ROWS, *sorted(MIGRATIONS.glob("*.py"))]
    text = "\n".join([str(ANALYSER), *map(repr, wikis), *(file.read_text() for file in files)])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def dsn_of(dsn: str, database: str) -> str:
    return dsn.replace("/cairn?", f"/{database}?")


async def prepare(dsn: str, original: str, wikis: Sequence[Wiki]) -> None:
    async with connected(dsn) as connection:
        existing = {row[0] for row in await connection.fetch("SELECT datname FROM pg_database")}
        for name in existing:
            if name == COPY or (name.startswith("wikis_") and name != original):
                await drop_unused(connection, name)
        if original not in existing:
            await connection.execute(f"CREATE DATABASE {original}")
    await fill(dsn_of(dsn, original), wikis)
    with stderr.status("Copying the database"):
        async with connected(dsn) as connection:
            await connection.execute(f"CREATE DATABASE {COPY} TEMPLATE {original} STRATEGY file_copy")


async def drop_unused(connection: asyncpg.Connection, name: str) -> None:
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
        missing = [wiki for wiki in wikis if wiki.owner_id not in ready]
        bar = iter(track(missing, f"Writing {len(missing)} wikis, once", console=stderr))
        remaining = iter(missing)
        await asyncio.gather(*(write_remaining(dsn, remaining, lambda: next(bar, None)) for _ in range(WRITERS)))
        next(bar, None)
        await connection.execute("VACUUM ANALYZE")
        async with connection.transaction():
            await connection.execute(PEERS)  # the last step: where it is done, all steps are


async def write_tenants(connection: asyncpg.Connection, wikis: Sequence[Wiki]) -> None:
    await connection.executemany(
        "INSERT INTO tenants (tenant_id, slug, name) VALUES ($1, $2, 'Tenant') ON CONFLICT DO NOTHING",
        [(tenant, f"tenant-{tenant}") for tenant in {wiki.tenant_id for wiki in wikis}],
    )


async def write_remaining(dsn: str, remaining: Iterator[Wiki], step: Callable[[], object]) -> None:
    """Write one wiki after another until none is left."""
    database = Database(dsn, size=1, statement_timeout=600)
    await database.open()
    async with connected(dsn) as connection:
        for number, wiki in enumerate(remaining):
            await add_wiki(database, connection, wiki, is_first=number == 0)
            step()
    await database.close()


async def add_wiki(database: Database, connection: asyncpg.Connection, wiki: Wiki, is_first: bool) -> None:
    """Write one wiki: its rows in one transaction, then its search index. An interrupted index is resumed."""
    existing = "SELECT EXISTS (SELECT FROM owners WHERE tenant_id = $1 AND id = $2)"
    if not await connection.fetchval(existing, wiki.tenant_id, wiki.owner_id):
        async with connection.transaction():
            await write(connection, wiki, Author(wiki).rows(is_new_tenant=False), is_first)
    await reindex(database, wiki.tenant_id, wiki.owner_id)


@asynccontextmanager
async def connected(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(dsn)
    try:
        yield connection
    except BaseException:
        connection.terminate()
        raise
    await connection.close()
