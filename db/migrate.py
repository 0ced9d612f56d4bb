"""Migrates a database to the newest schema: forward only, one transaction per revision, one process at a time."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

import asyncpg

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy import Connection

FILE = re.compile(r"\d{4}_\d\d_\d\d_([0-9a-z]+)_\w+\.py")  # file names as Alembic's `file_template` writes them
OLDEST_SERVER = 16
EXTENSIONS = ("pg_trgm", "btree_gin", "unaccent", "fuzzystrmatch")
LOCK_KEY = 0x636169726E  # "cairn"; advisory locks are per database
LOCK_TIMEOUT = "4s"

SERVER = """
SELECT current_setting('server_version_num')::int AS version,
       current_database() AS database,
       current_user AS role,
       has_database_privilege(current_database(), 'CREATE') AS may_extend,
       coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS may_create,
       current_setting('server_encoding') AS encoding,
       current_setting('transaction_read_only')::boolean AS is_read_only,
       ARRAY(SELECT name FROM pg_available_extensions) AS available,
       ARRAY(SELECT extname FROM pg_extension) AS installed
"""


class MigrationRefused(Exception):
    """Raised if the database cannot be migrated. The message says what to do. The refused revision is rolled back."""

    code = "MIGRATION_REFUSED"


class DatabaseServer(NamedTuple):
    """The facts about the server and the role that decide whether a migration is possible."""

    version: int  # 180006 is 18.6
    database: str
    role: str
    may_extend: bool
    may_create: bool
    available: list[str]
    installed: list[str]
    encoding: str = "UTF8"
    is_read_only: bool = False


Report = Callable[[str], None]


def ignore(_: str) -> None:
    """Ignore a report."""


async def migrate(dsn: str, report: Report = ignore, *, to: str = "head") -> list[str]:
    """Apply the pending revisions up to `to`, and return them. Raises MigrationRefused.

    The DSN must not be a pooler's, because a pooler does not keep the session's advisory lock.
    """
    async with only_migrator(dsn, report) as connection:
        await check_server(connection)
        try:
            revisions = [name for name in await pending_on(connection, report) if to == "head" or name <= to]
            if revisions:
                report(f"Applying {', '.join(revisions)}")
                await upgrade(dsn, to)
        except asyncpg.LockNotAvailableError as error:
            raise MigrationRefused(
                f"a table was in use by another session for more than {LOCK_TIMEOUT}, so the revision was stopped:"
                " run `cairn migrate` again when the database is quieter"
            ) from error
        return revisions


async def pending(dsn: str, report: Report = ignore) -> list[str]:
    """Return the revisions that the database lacks, oldest first. The DSN may be a pooler's.

    If a newer Cairn has migrated the database, `report` is called if this Cairn still works with it. Otherwise
    MigrationRefused is raised.
    """
    connection = await asyncpg.connect(dsn, statement_cache_size=0)
    try:
        return await pending_on(connection, report)
    finally:
        await connection.close()


async def check_server(connection: asyncpg.Connection) -> None:
    """Raise MigrationRefused if the server is unfit, for example too old, or if the role may not create tables."""
    row = await connection.fetchrow(SERVER)
    refuse_unfit(DatabaseServer(**row))


def refuse_unfit(server: DatabaseServer) -> None:
    """Raise MigrationRefused for the first reason that prevents a migration."""
    if server.version < OLDEST_SERVER * 10_000:
        raise MigrationRefused(
            f"this is PostgreSQL {server.version // 10_000}; Cairn needs {OLDEST_SERVER} or newer: upgrade the server,"
            " or unset CAIRN_DATABASE_URL to use the one that comes with Cairn"
        )
    if server.encoding != "UTF8":
        raise MigrationRefused(
            f"the database {server.database} is encoded in {server.encoding}, where most languages cannot be stored or"
            " found: make another with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0"
        )
    if server.is_read_only:
        raise MigrationRefused(
            f"the database {server.database} can only be read here: name the server that it is written on, or unset"
            " default_transaction_read_only"
        )
    missing = [name for name in EXTENSIONS if name not in server.installed]
    if absent := [name for name in missing if name not in server.available]:
        raise MigrationRefused(
            f"the server does not have {', '.join(absent)}: install PostgreSQL's contrib modules on its machine"
            " (the package postgresql-contrib), then migrate again"
        )
    if missing and not server.may_extend:
        statements = " ".join(f"CREATE EXTENSION {name};" for name in missing)
        raise MigrationRefused(f"a superuser must run this once in the database {server.database}: {statements}")
    if not server.may_create:
        raise MigrationRefused(
            f"{server.role} may not create tables: the owner of the database {server.database} must run"
            f' GRANT CREATE ON SCHEMA public TO "{server.role}";'
        )


@asynccontextmanager
async def only_migrator(dsn: str, report: Callable[[str], None]) -> AsyncIterator[asyncpg.Connection]:
    """Hold the migration lock for a `with` block.

    The lock is polled, because a session that waits for it would block CREATE INDEX CONCURRENTLY in the migration.
    """
    connection = await connect(dsn)
    try:
        if not await connection.fetchval("SELECT pg_try_advisory_lock($1)", LOCK_KEY):
            report("Waiting for another migration of this database")
            while not await connection.fetchval("SELECT pg_try_advisory_lock($1)", LOCK_KEY):  # noqa: ASYNC110
                await asyncio.sleep(0.2)
        yield connection
    finally:
        await connection.close()


async def pending_on(connection: asyncpg.Connection, report: Report) -> list[str]:
    """Return the revisions that the database of a connection lacks. See `pending`."""
    known = list(revisions())
    current = await current_revision(connection)
    if current is None:
        return known
    if current in known:
        return known[known.index(current) + 1 :]
    oldest = await oldest_revision(connection)
    if is_too_old(oldest):
        window = "" if oldest is None else f" and needs a Cairn that knows {oldest}"
        raise MigrationRefused(
            f"the database is at revision {current}{window}, but this Cairn knows revisions up to {known[-1]} only:"
            " install the one that migrated it, or a newer one"
        )
    report(
        f"The database is at revision {current} of a newer Cairn. This one, which knows {known[-1]}, works beside it:"
        f" revision {oldest} is the oldest that does"
    )
    return []


@cache
def revisions() -> tuple[str, ...]:
    """Return all revisions, oldest first. They are read from the file names, because Alembic is slow to import."""
    matches = (FILE.fullmatch(file.name) for file in (files("migrations") / "versions").iterdir())
    return tuple(sorted(match[1] for match in matches if match))


def is_behind(revision: str | None) -> bool:
    """Return whether a database at this revision lacks a revision that this Cairn knows."""
    return revision is None or revision in revisions()[:-1]


def is_newer(revision: str | None) -> bool:
    """Return whether this revision of a database is unknown to this Cairn, so that a newer Cairn has migrated it."""
    return revision is not None and revision not in revisions()


def is_too_old(oldest: str | None) -> bool:
    """Return whether this Cairn is too old for a database whose oldest supported revision is `oldest`."""
    return oldest is None or revisions()[-1] < oldest


async def current_revision(connection: asyncpg.Connection) -> str | None:
    if await connection.fetchval("SELECT to_regclass('alembic_version')") is None:
        return None
    revision: str | None = await connection.fetchval("SELECT version_num FROM alembic_version")
    return revision


async def oldest_revision(connection: asyncpg.Connection) -> str | None:
    """Return the oldest revision whose Cairn works with this database, or None if the database does not store it."""
    if await connection.fetchval("SELECT to_regclass('installation')") is None:
        return None
    oldest: str | None = await connection.fetchval("SELECT oldest_revision FROM installation")
    return oldest


async def upgrade(dsn: str, to: str) -> None:
    """Apply the revisions up to `to` with Alembic."""
    from sqlalchemy.exc import SQLAlchemyError
    from sqlalchemy.ext.asyncio import create_async_engine
    from sqlalchemy.pool import NullPool

    engine = create_async_engine("postgresql+asyncpg://", async_creator=lambda: connect(dsn), poolclass=NullPool)
    async with engine.connect() as connection:
        try:
            await connection.run_sync(upgrade_over, to)
        except SQLAlchemyError as error:
            raise cause_of(error) from error


async def connect(dsn: str) -> asyncpg.Connection:
    settings = {"application_name": "cairn migrate", "lock_timeout": LOCK_TIMEOUT, "statement_timeout": "0"}
    return await asyncpg.connect(dsn, server_settings=settings)


def upgrade_over(connection: "Connection", to: str) -> None:
    from alembic import command

    config = alembic_config()
    config.attributes["connection"] = connection
    command.upgrade(config, to)


def cause_of(error: BaseException) -> BaseException:
    """Return the error of asyncpg or the cancellation that SQLAlchemy has wrapped, else the error.

    After an autocommit block, Alembic commits even if the block failed. If its connection was closed, that fails, too.
    """
    from sqlalchemy.exc import DBAPIError, PendingRollbackError

    if isinstance(error, PendingRollbackError) and error.__context__ is not None:
        return cause_of(error.__context__)
    if isinstance(error, DBAPIError) and error.orig is not None:
        return error.orig.__cause__ or error
    return error


def alembic_config() -> "Config":
    """Return Alembic's configuration, which is created in code to work in any folder and in an installed wheel."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(files("migrations")).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.set_main_option("file_template", "%%(year)d_%%(month).2d_%%(day).2d_%%(rev)s_%%(slug)s")
    return config
