"""Measures the disk space of search."""

from dataclasses import dataclass

from db.database import Database
from db.tables import metadata

TABLES = sorted(name for name in metadata.tables if name.startswith("search_") or name == "page_names")
# A partitioned table has no bytes of its own, and a plain table has no parts.
BYTES = """
    SELECT sum(pg_table_size(relid))::bigint AS rows, sum(pg_indexes_size(relid))::bigint AS indexes
    FROM (SELECT $1::regclass AS relid UNION SELECT relid FROM pg_partition_tree($1::regclass)) AS parts
"""
PAGES = "SELECT count(*) FROM pages"


@dataclass(frozen=True, slots=True)
class Bytes:
    """The bytes that a table takes per page of the database."""

    rows: float
    indexes: float


async def pages(database: Database) -> int:
    async with database.connection() as connection:
        return int(await connection.raw.fetchval(PAGES))


async def bytes_per_page(database: Database) -> dict[str, Bytes]:
    """Return the sizes of the tables that search reads."""
    async with database.connection() as connection:
        count = await connection.raw.fetchval(PAGES)
        found = {table: await connection.raw.fetchrow(BYTES, table) for table in TABLES}
    return {table: Bytes(row["rows"] / count, row["indexes"] / count) for table, row in found.items()}
