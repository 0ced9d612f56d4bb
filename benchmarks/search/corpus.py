"""Writes a large database to search in: wikis of 1,000, 10,000 and 100,000 pages among many tenants of 1,000 each.

A second database has a tenth of the pages, and the same wiki of 1,000 pages: comparing that wiki's searches in both
shows how their cost grows with other tenants' pages. Every wiki has its own seed, and is written in one transaction.
Its search rows are the product's own, but the index of their words is created once, after all wikis.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import asyncpg
import typer
import uvloop
from platformdirs import user_cache_path
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex

from content.search.words import ANALYSER
from db.database import Database
from db.embedded import EmbeddedServer
from db.migrate import migrate
from db.tables import metadata
from resolvers.search.reindexing import reindex

from ..wikis import Wiki, wiki
from .prose import Author, Stock, stock
from .wiki import write

MEMORY = {"shared_buffers": "3GB", "maintenance_work_mem": "512MB", "max_wal_size": "8GB", "autovacuum": "off"}
MEASURED = (1_000, 10_000, 100_000)
REST = 1_000
SMALL_DATABASE_SHARE = 10  # the small database has one page in this many
WHOLE, TENTH = "cairn", "tenth"
WORDS = next(index for index in metadata.tables["search_pages"].indexes if index.name == "search_pages_words_ix")
WORKERS = 2  # wikis that are written concurrently: while Postgres stores one, Python generates the other
stderr = Console(stderr=True)
Folder = Annotated[Path, typer.Option(help="Folder of the database; created if missing.")]
DEFAULT_FOLDER = user_cache_path("cairn-bench")


def corpus(
    pages: Annotated[int, typer.Option(min=40_000, help="Pages of the whole database.")] = 1_000_000,
    folder: Folder = DEFAULT_FOLDER,
    data: Annotated[
        Path | None, typer.Option(help="The folder of collections.", show_default="beside the checkout")
    ] = None,
) -> None:
    """Write the database that `latency` searches. An interrupted run continues where it stopped."""
    material = stock(data)
    with served(folder) as dsn, progress() as bars:
        for name, wikis in ((WHOLE, scopes(pages)), (TENTH, scopes(pages // SMALL_DATABASE_SHARE, MEASURED[:1]))):
            task = bars.add_task(name, total=sum(wiki.pages for wiki in wikis))
            uvloop.run(fill(dsn, name, wikis, material, partial(bars.advance, task)))


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Start the server of the large database with extra memory. A crash of the machine may lose its data."""
    server = EmbeddedServer(folder, lambda step: stderr.print(step), durable=False)
    server.settings = server.settings | MEMORY
    with server as dsn:
        yield dsn


def progress() -> Progress:
    columns = TextColumn("{task.description:<6}"), BarColumn(), MofNCompleteColumn()
    return Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=stderr)


def scopes(pages: int, measured: Sequence[int] = MEASURED) -> list[Wiki]:
    """Return the measured wikis that take at most half of the pages, then the others; each tenant has one wiki."""
    large = [size for size in measured if size <= pages // 2]
    number = len(MEASURED) + 1
    rest = range(number, number + (pages - sum(large)) // REST)
    return [measured_wiki(size) for size in large] + [wiki(number, number, REST) for number in rest]


def other_wiki() -> Wiki:
    """Return a wiki that is in both databases and is not measured."""
    return scopes(REST, ())[0]


def measured_wiki(pages: int) -> Wiki:
    number = MEASURED.index(pages) + 1
    return wiki(number, number, pages)


LARGE = {measured_wiki(pages).owner_id for pages in MEASURED}


def dsn_of(dsn: str, name: str) -> str:
    return dsn.replace(f"/{WHOLE}?", f"/{name}?")


async def fill(dsn: str, name: str, wikis: Sequence[Wiki], material: Stock, step: Callable[[int], None]) -> None:
    """Create and fill a database. `step` is called with the number of pages that were added."""
    await create(dsn, name)
    await fill_database(dsn_of(dsn, name), name, wikis, material, step)


async def fill_database(
    own: str, name: str, wikis: Sequence[Wiki], material: Stock, step: Callable[[int], None]
) -> None:
    """Write the missing wikis and the index. An interrupted run continues; complete wikis stay unchanged."""
    await migrate(own)
    async with connected(own) as connection:
        sql = "SELECT owner_id FROM search_scopes WHERE state = 'ready' AND analyser = $1"
        ready = {row["owner_id"] for row in await connection.fetch(sql, ANALYSER)}
        step(sum(wiki.pages for wiki in wikis if wiki.owner_id in ready))
        if missing := [wiki for wiki in wikis if wiki.owner_id not in ready]:
            await connection.execute(f"DROP INDEX IF EXISTS {WORDS.name}")
            remaining = iter(missing)
            await asyncio.gather(*(write_remaining(own, remaining, material, step) for _ in range(WORKERS)))
        if not await is_indexed(connection):
            await index(connection, name)


async def is_indexed(connection: asyncpg.Connection) -> bool:
    return await connection.fetchval("SELECT to_regclass($1) IS NOT NULL", WORDS.name)  # type: ignore[no-any-return]


async def index(connection: asyncpg.Connection, name: str) -> None:
    """Create the index of the words last, because filling it row by row takes as long as all other work."""
    stderr.print(f"Indexing the words of {name}")
    await connection.execute(str(CreateIndex(WORDS).compile(dialect=postgresql.dialect())))  # type: ignore[no-untyped-call]
    # The table is empty, but without autovacuum its file still has the size of all its former rows.
    await connection.execute("VACUUM FULL search_changes")
    await connection.execute("VACUUM ANALYZE")


async def write_remaining(dsn: str, remaining: Iterator[Wiki], material: Stock, step: Callable[[int], None]) -> None:
    """Write wikis one after the other until none is left."""
    database = Database(dsn, size=1, statement_timeout=3_600)
    await database.open()
    try:
        async with connected(dsn) as connection:
            for wiki in remaining:
                await add_wiki(database, connection, wiki, material, step)
                if wiki.owner_id in LARGE:
                    await connection.execute("ANALYZE")
    finally:
        await database.close()


async def add_wiki(
    database: Database, connection: asyncpg.Connection, wiki: Wiki, material: Stock, step: Callable[[int], None]
) -> None:
    """Write one wiki: its pages in one transaction, then their index. An interrupted index is written again."""
    existing = "SELECT EXISTS (SELECT FROM owners WHERE tenant_id = $1 AND id = $2)"
    if not await connection.fetchval(existing, wiki.tenant_id, wiki.owner_id):
        await write(connection, wiki, "english", Author(wiki, material).articles())
    read = await reindex(database, wiki.tenant_id, wiki.owner_id, step)
    step(wiki.pages - read)


@asynccontextmanager
async def connected(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(dsn)
    try:
        yield connection
    finally:
        await connection.close()


async def create(dsn: str, name: str) -> None:
    async with connected(dsn) as connection:
        if not await connection.fetchval("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name):
            await connection.execute(f"CREATE DATABASE {name}")
