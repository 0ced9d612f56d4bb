"""The state of the database that `cairn status` reports, as a dict with the keys of the JSON output."""

import asyncio
from typing import Any

from db.database import Database
from db.embedded import EmbeddedServer
from db.migrate import MigrationRefused, pending
from resolvers.errors import CairnError
from resolvers.jobs.queue import count_open_jobs
from resolvers.tenants.tenants import inventory

from ..settings import Settings
from .output import print_status
from .session import ask_server, run_with_database


def database_state(settings: Settings) -> dict[str, Any]:
    """Return the state of the database. If it cannot be used, `problem` is the reason.

    An embedded server that is stopped is started for the call. A missing one is not created.
    """
    if settings.database_url is not None:
        return {"embedded": False} | inspect_database(settings, settings.database_url)
    server = EmbeddedServer(settings.data_dir, print_status)
    facts = {"embedded": True, "dataDir": str(server.data_dir), "running": server.running()}
    if not server.exists():
        return facts | {"hint": "There is no database yet. Begin with: cairn demo, or: cairn tenants create SLUG"}
    with server as dsn:
        return facts | inspect_database(settings, dsn)


def inspect_database(settings: Settings, dsn: str) -> dict[str, Any]:
    """Return the version, the pending migrations and the contents of a database, or the `problem` that it has."""
    newer: list[str] = []
    try:
        missing = asyncio.run(ask_server(dsn, pending(dsn, newer.append)))
        version = asyncio.run(run_with_database(settings, dsn, server_version))
    except (CairnError, MigrationRefused) as error:
        return {"problem": str(error)}
    facts = {"serverVersion": version, "pendingMigrations": missing} | ({"warning": newer[0]} if newer else {})
    if missing:
        return facts | {"problem": f"The migrations {', '.join(missing)} are pending. Run: cairn migrate"}
    counts = asyncio.run(run_with_database(settings, dsn, inventory))
    jobs = asyncio.run(run_with_database(settings, dsn, count_open_jobs))
    return facts | {
        "tenants": counts.tenants,
        "owners": counts.owners,
        "pages": counts.pages,
        "pendingJobs": jobs.pending,
        "runningJobs": jobs.running,
        "oldestPendingJobSeconds": round(jobs.oldest),
        "failedJobs": counts.failed_jobs,
        "bytes": counts.bytes,
        "connections": counts.connections,
        "maxConnections": counts.max_connections,
    }


async def server_version(database: Database) -> str:
    async with database.connection() as connection:
        version: str = connection.raw.get_settings().server_version
    return version
