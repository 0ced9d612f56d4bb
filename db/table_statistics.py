"""Updates Postgres's statistics on a wiki's share of a table. Without them Postgres plans scans of the whole wiki.

Autovacuum collects statistics only some time after a table has grown, and only if it has grown much. Code that writes a
whole wiki calls `analyze_tables` afterwards.
"""

from collections.abc import Sequence
from uuid import UUID

from .database import Database
from .sql import statements

MEASURING = statements("operations/measuring")


async def analyze_tables(database: Database, tables: Sequence[str], owner_id: UUID, rows: int) -> None:
    """Run ANALYZE on those of the tables whose statistics do not know that the owner has this many rows.

    A role that does not own the tables may not analyze them: Postgres then only warns.
    """
    async with database.connection() as connection:
        found = await connection.all(MEASURING["find_unmeasured"], tables=list(tables), owner_id=owner_id, rows=rows)
        if found:
            await connection.raw.execute(f"ANALYZE {', '.join(row['name'] for row in found)}")
