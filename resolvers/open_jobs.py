"""How many compile jobs are not finished: for operators."""

from dataclasses import dataclass
from datetime import UTC, datetime

from db.database import Database
from db.sql import statements

from .tenants import list_tenants

OPEN_JOBS = statements("open_jobs")


@dataclass(frozen=True, slots=True)
class OpenJobs:
    """Counts over all tenants. `oldest` is how long the oldest job waits that could run, in seconds."""

    pending: int
    running: int
    oldest: float


async def count_open_jobs(database: Database) -> OpenJobs:
    """One small statement a tenant, all in one round trip: none reads across two of them."""
    now = datetime.now(UTC)
    wanted = [{"tenant_id": tenant.id, "now": now} for tenant in await list_tenants(database)]
    async with database.connection() as connection:
        rows = await connection.all_of_each(OPEN_JOBS["count_open_jobs"], wanted)
    pending, running = (sum(row[name] for row in rows) for name in ("pending", "running"))
    return OpenJobs(pending, running, float(max((row["oldest"] or 0 for row in rows), default=0)))
