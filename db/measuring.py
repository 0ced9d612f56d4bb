"""Statistics of Postgres on how many rows there are, and whose: without them it scans all of a wiki.

Postgres collects them by itself, but some time after a table has grown, and only when it has grown by much. Whoever
writes a whole wiki asks for them.
"""

from collections.abc import Sequence
from uuid import UUID

from .database import Database
from .sql import statements

MEASURING = statements("operations/measuring")


async def measure(database: Database, tables: Sequence[str], owner_id: UUID, rows: int) -> None:
    """Analyze those of these tables in which Postgres has not noticed an owner of so many rows.

    A role that does not own them may not ask for that: then Postgres warns, and nothing is done.
    """
    async with database.connection() as connection:
        found = await connection.all(MEASURING["find_unmeasured"], tables=list(tables), owner_id=owner_id, rows=rows)
        if found:
            await connection.raw.execute(f"ANALYZE {', '.join(row['name'] for row in found)}")
