"""The tables that the seed's search reads, filled with the same pages and names as Cairn's tables."""

from collections.abc import AsyncIterable, Iterable

import asyncpg

from .wiki import COLUMNS, Records

TABLES = """
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
    DROP TABLE IF EXISTS pages, aliases;
    CREATE TABLE pages (
        tenant_id uuid NOT NULL,
        owner_id uuid NOT NULL,
        id uuid PRIMARY KEY,
        type text NOT NULL,
        slug text NOT NULL,
        title text NOT NULL,
        summary text,
        body_md text,
        status text NOT NULL DEFAULT 'active',
        tags text[] NOT NULL,
        hubness_score int NOT NULL,
        last_compiled_at timestamptz,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        search_tsv tsvector GENERATED ALWAYS AS (
            to_tsvector('english', title || ' ' || coalesce(summary, '') || ' ' || coalesce(body_md, ''))
        ) STORED
    );
    CREATE TABLE aliases (page_id uuid NOT NULL, alias text NOT NULL);
"""
INDEXES = """
    CREATE UNIQUE INDEX IF NOT EXISTS pages_slug ON pages (tenant_id, owner_id, type, slug);
    CREATE INDEX IF NOT EXISTS pages_search ON pages USING gin (search_tsv);
    CREATE INDEX IF NOT EXISTS pages_title ON pages USING gin (title gin_trgm_ops);
    CREATE UNIQUE INDEX IF NOT EXISTS aliases_page ON aliases (page_id, alias);
    CREATE INDEX IF NOT EXISTS aliases_alias ON aliases (alias);
    CREATE INDEX IF NOT EXISTS aliases_like ON aliases USING gin (alias gin_trgm_ops);
"""
# The seed's compiler made an alias of each title.
NAMES = ("alias", "title")
PAGES_OF_CAIRN = f"SELECT {', '.join(COLUMNS['pages'])} FROM pages"
ALIASES_OF_CAIRN = "SELECT DISTINCT page_id, name FROM page_names WHERE kind = ANY ($1)"
ROWS_PER_BATCH = 2_000  # rows
Rows = Iterable[tuple[object, ...]] | AsyncIterable[asyncpg.Record]


async def make(connection: asyncpg.Connection) -> None:
    """Create empty tables, replacing existing ones."""
    await connection.execute(TABLES)


async def write(connection: asyncpg.Connection, records: Records) -> None:
    """Store the pages and their names, as Cairn's tables have them."""
    aliases = {(page, name) for _, _, page, kind, name, _ in records["page_names"] if kind in NAMES}
    await fill(connection, records["pages"], aliases)
    await connection.execute("VACUUM ANALYZE")


async def copy(cairn: asyncpg.Connection, connection: asyncpg.Connection) -> None:
    """Copy all pages of a Cairn database in one transaction, unless they have been copied before."""
    if await is_copy(cairn, connection):
        return
    async with connection.transaction(), cairn.transaction(readonly=True):
        await make(connection)
        pages = cairn.cursor(PAGES_OF_CAIRN, prefetch=ROWS_PER_BATCH)
        await fill(connection, pages, cairn.cursor(ALIASES_OF_CAIRN, NAMES, prefetch=ROWS_PER_BATCH))
    await connection.execute("VACUUM ANALYZE")


async def is_copy(cairn: asyncpg.Connection, connection: asyncpg.Connection) -> bool:
    if await connection.fetchval("SELECT to_regclass('aliases')") is None:
        return False
    number = "SELECT count(*) FROM pages"
    return bool(await cairn.fetchval(number) == await connection.fetchval(number))


async def fill(connection: asyncpg.Connection, pages: Rows, aliases: Rows) -> None:
    """Fill the tables, then create their indexes, which is faster than filling indexed tables."""
    await connection.copy_records_to_table("pages", records=pages, columns=COLUMNS["pages"])
    await connection.copy_records_to_table("aliases", records=aliases, columns=("page_id", "alias"))
    await connection.execute(INDEXES)
