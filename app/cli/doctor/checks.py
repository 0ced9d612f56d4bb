"""The checks of `cairn doctor`. Each check reports the state of a part of the installation and how to fix it."""

import asyncio
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import asyncpg

from db.archives.blobs import find_files
from db.database import Database
from db.embedded import EmbeddedServer, EmbeddedServerFailed
from db.migrate import EXTENSIONS, MigrationRefused, check_server, pending
from db.pooler import PoolerUnfit
from db.sql import statements
from resolvers.archives.files import absent
from resolvers.errors import CairnError
from resolvers.jobs.queue import count_open_jobs
from resolvers.webhooks.webhooks import OpenDeliveries, count_open_deliveries

from ...blob_folder import blob_folder_of
from ...settings import Settings, unknown_variables
from ..output import print_status
from ..session import ask_server, reason, run_with_database
from .certificates import check_certificates
from .findings import Finding, State, failed, passed, warned

DOCTOR, REPLICAS = statements("operations/doctor"), statements("operations/replicas")
REVISION = "SELECT version_num FROM alembic_version"
POLL_INTERVAL = 0.05  # seconds between two looks at the position of a replica
CLOCK_SKEW_MAX = 5.0  # seconds: tokens expire by the clock of this machine, jobs are due by it and that of Postgres
FREE_DISK_MIN = 2_000_000_000  # bytes
TRANSACTION_AGE_MAX = 1_000_000_000  # transactions; Postgres stops writes at two thousand million
CONNECTIONS_SHARE_MAX = 0.9  # of max_connections
QUEUE_AGE_MAX = 3600.0  # seconds
TIMEOUT = 5.0  # seconds


def examine(settings: Settings) -> Iterator[Finding]:
    """Run all checks and yield their findings. Nothing is changed; a stopped embedded server runs meanwhile."""
    yield from check_configuration(settings)
    yield check_disk(settings.data_dir.expanduser())
    yield from check_certificates(settings)
    try:
        with existing_database(settings) as dsn:
            yield from asyncio.run(examine_database(settings, dsn))
    except (CairnError, EmbeddedServerFailed) as error:
        yield failed("database", str(error), "Start it, or correct CAIRN_DATABASE_URL: cairn settings")


@contextmanager
def existing_database(settings: Settings) -> Iterator[str]:
    """Yield the DSN of the database. Raises EmbeddedServerFailed if no embedded database exists yet."""
    if settings.database_url is not None:
        yield settings.database_url
        return
    server = EmbeddedServer(settings.data_dir, print_status)
    if not server.exists():
        raise EmbeddedServerFailed(f"There is no database in {server.data_dir} yet. Begin with: cairn demo")
    with server as dsn:
        yield dsn


def check_configuration(settings: Settings) -> Iterator[Finding]:
    unknown = unknown_variables()
    for name, near in unknown.items():
        yield warned("configuration", f"{name} is not a setting.", f"Did you mean {near or 'another'}? cairn settings")
    if not unknown:
        yield passed("configuration", "All CAIRN_ variables are settings.")
    secret = settings.data_dir.expanduser() / "token-secret"
    if secret.exists() and secret.stat().st_mode & 0o077:
        yield failed("configuration", f"{secret} can be read by others.", f"Run: chmod 600 {secret}")


def check_disk(data_dir: Path) -> Finding:
    place = next(folder for folder in (data_dir, *data_dir.parents) if folder.exists())
    free = shutil.disk_usage(place).free
    if free < FREE_DISK_MIN:
        action = "Delete old backups or postgres.log, or use a larger volume. A full disk stops all writes."
        return warned("disk", f"{free / 1e9:.1f} GB are free in {place}.", action)
    return passed("disk", f"{free / 1e9:.1f} GB are free in {place}.")


async def examine_database(settings: Settings, dsn: str) -> list[Finding]:
    """Run the checks of a database that can be reached. Stops early if a pooler or the schema does not fit Cairn."""
    connection = await ask_server(dsn, asyncpg.connect(dsn, statement_cache_size=0, timeout=TIMEOUT))
    try:
        server = await connection.fetchrow(DOCTOR["examine_server"].sql)
        found = [passed("database", "It answers."), check_clock(float(server["clock"]), time.time())]
        found += check_activity(server)
        found += await check_extensions(connection)
        found += await check_indexes(connection)
        found += await check_bloat(connection)
        if not server["is_standby"]:
            found += await check_replication(connection)
            found += await check_replicas(settings, connection)
    finally:
        await connection.close()
    found += await check_pooler(settings, dsn)
    if found[-1].state is State.FAILED:
        return found  # the checks below use connections like the service does, which this pooler breaks
    found.append(await check_schema(dsn))
    if found[-1].state is State.OK:
        found += await check_attachments(settings, dsn)
        jobs = await run_with_database(settings, dsn, count_open_jobs)
        found.append(check_queue(jobs.pending, jobs.oldest))
        found += check_webhooks(await run_with_database(settings, dsn, count_open_deliveries))
    return found


def check_clock(theirs: float, ours: float) -> Finding:
    apart = abs(theirs - ours)
    if apart > CLOCK_SKEW_MAX:
        message = f"The clocks of this machine and of Postgres are {apart:.0f} seconds apart."
        return failed("clock", message, "Synchronize both clocks by NTP: tokens and jobs depend on them.")
    return passed("clock", "This machine and Postgres agree on the time.")


def check_activity(server: Any) -> Iterator[Finding]:
    """Check that the server takes writes, its connections, its oldest transactions and its archiver."""
    if server["is_standby"]:
        message = "The server is a standby, which takes no writes."
        yield failed("database", message, "Set CAIRN_DATABASE_URL to the primary.")
    used, limit = server["connections"], server["max_connections"]
    if used > CONNECTIONS_SHARE_MAX * limit:
        yield warned("connections", f"{used} of {limit} are open.", "Lower CAIRN_POOL_SIZE, or raise max_connections.")
    else:
        yield passed("connections", f"{used} of {limit} are open.")
    if server["transaction_age"] > TRANSACTION_AGE_MAX:
        action = "Run VACUUM (FREEZE) now, and find out why autovacuum does not run: Postgres stops writes in the end."
        yield failed("vacuum", f"The oldest transaction is {server['transaction_age']:,} back.", action)
    if server["long_transactions"]:
        message = f"{server['long_transactions']} transactions are older than ten minutes."
        action = "Find them in pg_stat_activity: Postgres cannot remove dead rows while they run."
        yield warned("vacuum", message, action)
    if server["is_archiver_failing"]:
        action = "Read the log of Postgres and check the archive folder: until archiving works, the disk fills up."
        yield failed("archiver", "The write-ahead log is not archived.", action)


async def check_extensions(connection: asyncpg.Connection) -> list[Finding]:
    try:
        await check_server(connection)
    except MigrationRefused as error:
        return [failed("extensions", f"{error}.", "Then run: cairn migrate")]
    return [passed("extensions", f"{', '.join(EXTENSIONS)} can be used.")]


async def check_indexes(connection: asyncpg.Connection) -> list[Finding]:
    names = [row["name"] for row in await connection.fetch(DOCTOR["find_invalid_indexes"].sql)]
    if names:
        action = f"Run: REINDEX INDEX CONCURRENTLY {names[0]};"
        return [failed("indexes", f"{', '.join(names)}: left by an interrupted build.", action)]
    return [passed("indexes", "All indexes are valid.")]


async def check_bloat(connection: asyncpg.Connection) -> list[Finding]:
    rows = await connection.fetch(DOCTOR["find_bloated_tables"].sql)
    if not rows:
        return [passed("bloat", "No table is mostly dead rows.")]
    names = ", ".join(f"{row['name']} ({row['dead']:,})" for row in rows)
    return [warned("bloat", f"Mostly dead rows: {names}.", f"Run: VACUUM (ANALYZE) {rows[0]['name']};")]


async def check_replication(connection: asyncpg.Connection) -> list[Finding]:
    actions = {
        "standby": "Check its log and its disk: it serves old data.",
        "slot": "Start its standby, or drop it with pg_drop_replication_slot: until then the disk fills up.",
    }
    found = []
    for row in await connection.fetch(DOCTOR["find_lagging_standbys"].sql):
        message = f"The {row['kind']} {row['name']} is {row['bytes'] / 1e6:,.0f} MB behind."
        found.append(warned("replication", message, actions[row["kind"]]))
    return found or [passed("replication", "No standby is behind, and no slot keeps the log.")]


async def check_replicas(settings: Settings, primary: asyncpg.Connection) -> list[Finding]:
    """Check each server of CAIRN_READ_DATABASE_URLS."""
    return [
        await check_replica(f"replica-{number}", dsn, settings.read_max_lag, primary)
        for number, dsn in enumerate(settings.read_database_urls or (), 1)
    ]


async def check_replica(name: str, dsn: str, max_lag: float, primary: asyncpg.Connection) -> Finding:
    position, cluster_id = await primary.fetchrow(REPLICAS["find_position"].sql)
    revision = await primary.fetchval(REVISION)
    begun = time.monotonic()
    try:
        connection = await asyncpg.connect(dsn, statement_cache_size=0, timeout=TIMEOUT)
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, ValueError) as error:
        message = f"{name} cannot be reached: {reason(error, dsn)}."
        return failed("replicas", message, "Start it, or correct CAIRN_READ_DATABASE_URLS.")
    try:
        follows, _ = await connection.fetchrow(REPLICAS["find_replayed"].sql)
        if not follows or await connection.fetchval(REPLICAS["find_cluster"].sql) != cluster_id:
            message = f"{name} is not a standby of this database and serves no reads."
            return failed("replicas", message, "Remove it from CAIRN_READ_DATABASE_URLS.")
        while (await connection.fetchrow(REPLICAS["find_replayed"].sql))["replayed"] < position:
            if time.monotonic() - begun > max_lag:
                message = f"{name} is more than {max_lag:g} seconds behind and serves no reads."
                return warned("replicas", message, "Check its log, its disk, and the network between the servers.")
            await asyncio.sleep(POLL_INTERVAL)
        behind = time.monotonic() - begun
        if await connection.fetchval(REVISION) != revision:
            return failed("replicas", f"{name} has another schema.", "Create it again with pg_basebackup.")
    finally:
        await connection.close()
    return passed("replicas", f"{name} received all changes within {behind:.1f} seconds.")


async def check_pooler(settings: Settings, dsn: str) -> list[Finding]:
    """Check the settings that PgBouncer needs for Cairn. Returns no finding if there is no pooler."""
    database = Database(
        dsn, size=1, statement_timeout=settings.statement_timeout, statement_cache=settings.statement_cache
    )
    try:
        await ask_server(dsn, database.open())
        if not database.is_pooled:
            return []
        async with database.connection() as connection:
            role, timeout = await connection.raw.fetchrow("SELECT current_user, current_setting('statement_timeout')")
    except (CairnError, PoolerUnfit) as error:
        return [failed("pooler", str(error), "See docs/how-to/operate.md, Use PgBouncer.")]
    finally:
        await database.close()
    if settings.statement_timeout and timeout == "0":
        action = f"Run: ALTER ROLE {role} SET statement_timeout = '{settings.statement_timeout:g}s';"
        return [failed("pooler", "PgBouncer drops statement_timeout, so statements never time out.", action)]
    return [passed("pooler", "PgBouncer knows how Cairn uses its sessions.")]


async def check_schema(dsn: str) -> Finding:
    try:
        missing = await pending(dsn)
    except MigrationRefused as error:
        return failed("schema", f"{error}.", "Install the release that it names.")
    if missing:
        return failed("schema", f"The migrations {', '.join(missing)} are pending.", "Run: cairn migrate")
    return passed("schema", "The schema is up to date.")


async def check_attachments(settings: Settings, dsn: str) -> list[Finding]:
    """Check that the folder of attachments can be written and has every file that the database lists."""
    folder = blob_folder_of(settings)
    connection = await ask_server(dsn, asyncpg.connect(dsn, statement_cache_size=0, timeout=TIMEOUT))
    try:
        rows = await find_files(connection)
    finally:
        await connection.close()
    if folder is None:
        if not rows:
            return []
        message = f"The bytes of {len(rows):,} files are in a folder, but no folder is set."
        return [failed("attachments", message, "Set CAIRN_ATTACHMENTS_DIR to that folder.")]
    if why := folder.check_writable():
        action = "Make the account of the service its owner, and check that its disk is not full."
        return [failed("attachments", f"{folder.root} cannot be written: {why}.", action)]
    if missing := absent(folder, rows):
        message = f"{len(missing):,} of {len(rows):,} files are missing from {folder.root}: {', '.join(missing[:5])}."
        action = "Copy them from a backup. They have the same names there, below blobs/."
        return [failed("attachments", message, action)]
    return [passed("attachments", f"{folder.root} can be written and has all of {len(rows):,} files.")]


def check_queue(waiting: int, oldest: float) -> Finding:
    if oldest > QUEUE_AGE_MAX:
        message = f"{waiting} jobs wait, the oldest for {oldest / 60:.0f} minutes."
        return warned("queue", message, "Start more workers: cairn worker. Then run: cairn jobs list --status failed")
    return passed("queue", f"{waiting} jobs wait.")


def check_webhooks(deliveries: OpenDeliveries) -> Iterator[Finding]:
    """Check for dead deliveries, and for deliveries that have waited too long."""
    if deliveries.dead:
        message = f"{deliveries.dead:,} deliveries are dead: their receivers failed for days or are gone."
        action = "See cairn webhooks list --tenant SLUG. When the receiver is well, run: cairn webhooks redeliver ID"
        yield warned("webhooks", message, action)
    if deliveries.oldest > QUEUE_AGE_MAX:
        message = f"{deliveries.pending:,} deliveries wait, the oldest for {deliveries.oldest / 60:.0f} minutes."
        yield warned("webhooks", message, "Start more workers: cairn worker")
    if not deliveries.dead and deliveries.oldest <= QUEUE_AGE_MAX:
        yield passed("webhooks", f"{deliveries.pending:,} deliveries wait, and none is dead.")
