"""What Postgres knows of how many rows there are, and whose: where it knows nothing it walks through all of a wiki.

It finds out by itself, but some time after a table has grown, and only when it has grown by much. Whoever writes a wiki
at once tells it.
"""

from collections.abc import Sequence
from uuid import UUID

from .database import Database
from .sql import statements

MEASURING = statements("measuring")


async def measure(database: Database, tables: Sequence[str], owner_id: UUID, rows: int) -> None:
    """Let it look at those of these tables where it has not noticed an owner of so many rows.

    A role that does not own them may not ask for that: then Postgres warns, and nothing is done.
    """
    async with database.connection() as connection:
        found = await connection.all(MEASURING["find_unmeasured"], tables=list(tables), owner_id=owner_id, rows=rows)
        if found:
            await connection.raw.execute(f"ANALYZE {', '.join(row['name'] for row in found)}")
