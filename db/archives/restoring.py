"""Restores an archive into an empty database, or replaces a database when the restored one is complete."""

import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit, urlunsplit

import asyncpg

from ..migrate import current_revision, migrate, revisions
from ..sql import quote_literal, statements
from ..tables import metadata
from .catalogue import REVISION_TABLE, describe_server, list_indexes, list_tables, quoted
from .copying import WRITTEN_ALIKE, Report, connect, copy_tables_in, without_indexes
from .folder import Archive, ArchiveRefused

CATALOGUE = statements("operations/catalogue")
NAME = "cairn restore"
MARK = "made by cairn restore"
LONGEST_NAME = 63
DATABASES = ("postgres", "template1")  # databases from which the others can be renamed
PROVIDERS = {"b": "builtin", "c": "libc", "i": "icu"}
EXPORT_ERASURES = "SELECT CAST(coalesce(jsonb_agg(to_jsonb(e)), '[]') AS text) FROM erasures AS e"
IMPORT_ERASURES = """
    WITH imported AS (
        INSERT INTO erasures
        SELECT * FROM jsonb_populate_recordset(CAST(NULL AS erasures), CAST(CAST($1 AS text) AS jsonb))
        ON CONFLICT DO NOTHING
        RETURNING tenant_id, id, kind, owner_id, erased_by, erased_at
    )
    SELECT kind, tenant_id, owner_id, erased_by, erased_at FROM imported AS i
    WHERE EXISTS (SELECT FROM tenants AS t WHERE t.tenant_id = i.tenant_id)
      AND (i.owner_id IS NULL OR EXISTS (SELECT FROM owners AS o WHERE o.tenant_id = i.tenant_id AND o.id = i.owner_id))
    ORDER BY id
"""
"""The records are those of all tenants. Returned are those of which the database has the tenant and the owner."""


class Restored(NamedTuple):
    """The result of a restore."""

    missing: list[str]
    """Descriptions of what could not be restored."""
    undone: list[asyncpg.Record] | None
    """Records of the erasures that are undone: the replaced database had them, and the archive has what was erased.

    None if no database was replaced that could tell.
    """


async def restore(dsn: str, archive: Archive, report: Report, *, replace: bool) -> Restored:
    """Restore an archive of a database. Raises ArchiveRefused.

    A database that holds tenants is replaced only with `replace`. It stays unchanged until the restored one is complete
    and takes its name. If the command is killed at any moment, it can be run again.
    """
    manifest = archive.manifest
    if manifest.kind == "files":
        raise ArchiveRefused(f"{archive.folder} holds the files of an embedded server. Give --wal and its folder.")
    if manifest.kind != "database":
        place = archive.folder
        raise ArchiveRefused(f"{place} holds one tenant. Run: cairn tenants import {shlex.quote(str(place))}")
    if manifest.revision not in revisions():
        raise ArchiveRefused(
            f"{archive.folder} is of revision {manifest.revision}, but this Cairn knows revisions up to"
            f" {revisions()[-1]}: install the one that wrote it, or a newer one."
        )
    async with connect(dsn, NAME) as connection:
        server = await describe_server(connection)
        is_used = await has_tenants(connection)
        if is_used and not replace:
            raise ArchiveRefused(
                f"The database {server['database']} holds data. Restore into an empty one, or give --replace"
                " to delete that data."
            )
        if is_used and (others := await connection.fetchval(CATALOGUE["count_others"].sql)):
            raise ArchiveRefused(
                f"{others} connections of a service or a worker use the database. Stop them, then run this again."
            )
        if not is_used:
            await drop_empty(connection, manifest.revision)
    if is_used:
        return await replace_database(dsn, archive, report)
    return Restored(await load(dsn, archive, report), None)


async def has_tenants(connection: asyncpg.Connection) -> bool:
    """Return whether a database holds data of Cairn."""
    if await connection.fetchval("SELECT to_regclass('tenants')") is None:
        return False
    return bool(await connection.fetchval("SELECT EXISTS (SELECT FROM tenants)"))


async def drop_empty(connection: asyncpg.Connection, revision: str) -> None:
    """Drop Cairn's empty tables if their revision is newer than the archive's, because there is no downgrade."""
    current = await current_revision(connection)
    if current is None or current <= revision:
        return
    here = {table.name for table in await list_tables(connection)} & {*metadata.tables, REVISION_TABLE}
    await connection.execute(f"DROP TABLE {', '.join(map(quoted, sorted(here | {REVISION_TABLE})))}")


async def load(dsn: str, archive: Archive, report: Report) -> list[str]:
    """Fill a database without tenants in one transaction, at the revision of the archive.

    Return descriptions of what could not be restored.
    """
    manifest = archive.manifest
    await migrate(dsn, to=manifest.revision)
    async with connect(dsn, NAME) as connection:
        server = await describe_server(connection)
        indexes = await list_indexes(connection)
        here = [table.name for table in await list_tables(connection)]
        wanted = [name for name in here if name in manifest.tables]
        missing = [f"the table {name}, which is not part of Cairn" for name in manifest.tables if name not in here]
        async with connection.transaction():
            await connection.execute(WRITTEN_ALIKE)
            await connection.execute(f"TRUNCATE {', '.join(map(quoted, here))}")
            if server["is_citus"]:
                await copy_tables_in(connection, archive, wanted, report)
            else:
                if server["is_superuser"]:  # no foreign key need be checked: the archive is of one snapshot
                    await connection.execute("SET LOCAL session_replication_role = 'replica'")
                async with without_indexes(connection):
                    await copy_tables_in(connection, archive, wanted, report)
            if "installation" in wanted:
                await connection.execute("UPDATE installation SET history_id = gen_random_uuid()")
    missing += await make_indexes(dsn, archive, {*manifest.indexes} - {*indexes})
    return missing


async def finish(dsn: str) -> None:
    """Migrate the restored database to the newest schema, and update the planner's statistics."""
    await migrate(dsn)
    async with connect(dsn, NAME) as connection:
        await connection.execute("ANALYZE")


async def make_indexes(dsn: str, archive: Archive, names: set[str]) -> list[str]:
    """Create the indexes that no migration creates, those for vectors. Return descriptions of those that failed."""
    missing = []
    async with connect(dsn, NAME) as connection:
        for name in sorted(names):
            try:
                async with connection.transaction():
                    if "_embeddings_" in name:
                        await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
                    await connection.execute(archive.manifest.indexes[name])
            except asyncpg.PostgresError as error:
                missing.append(f"the index {name}: {error}. Run: cairn embeddings enable")
    return missing


async def replace_database(dsn: str, archive: Archive, report: Report) -> Restored:
    """Restore into a new database of the same server, which then replaces the existing one by renaming.

    The new database gets the records of erasures that only the existing one has.
    """
    async with connect(dsn, NAME) as connection:
        server = await describe_server(connection)
        if server["is_citus"] or not server["may_create"]:
            reason = "Citus cannot rename databases" if server["is_citus"] else "this role may not create databases"
            raise ArchiveRefused(
                f"{server['database']} cannot be replaced, because {reason}: restore into an empty database, and let"
                " CAIRN_DATABASE_URL name that one."
            )
        name = server["database"]
        new, old = suffixed(name, "_restoring"), suffixed(name, "_replaced")
        for remains in (new, old):
            await drop_marked(connection, dsn, remains)
        await create_like(connection, new)
    missing = await load(in_database(dsn, new), archive, report)
    await finish(in_database(dsn, new))
    undone = await copy_erasures(dsn, in_database(dsn, new))
    async with maintaining(dsn) as connection:
        try:
            async with connection.transaction():
                await connection.execute(f"COMMENT ON DATABASE {quoted(name)} IS '{MARK}'")
                await connection.execute(f"ALTER DATABASE {quoted(name)} RENAME TO {quoted(old)}")
                await connection.execute(f"COMMENT ON DATABASE {quoted(new)} IS NULL")
                await connection.execute(f"ALTER DATABASE {quoted(new)} RENAME TO {quoted(name)}")
        except asyncpg.ObjectInUseError as error:
            raise ArchiveRefused(
                f"Others are connected to {name}, which was not changed: {error}. Stop them, then run this again."
            ) from error
        await connection.execute(f"DROP DATABASE {quoted(old)}")
    return Restored(missing, undone)


async def copy_erasures(src: str, dest: str) -> list[asyncpg.Record]:
    """Copy the records of erasures to a database at the newest schema. Return those that have to be repeated there."""
    async with connect(src, NAME) as connection:
        if await connection.fetchval("SELECT to_regclass('erasures')") is None:  # a database of an older release
            return []
        records = await connection.fetchval(EXPORT_ERASURES)
    async with connect(dest, NAME) as connection:
        found: list[asyncpg.Record] = await connection.fetch(IMPORT_ERASURES, records)
        return found


def suffixed(name: str, ending: str) -> str:
    return name.encode()[: LONGEST_NAME - len(ending)].decode(errors="ignore") + ending


def in_database(dsn: str, name: str) -> str:
    """Return the DSN of another database of the same server."""
    return urlunsplit(urlsplit(dsn)._replace(path=f"/{quote(name, safe='')}"))


async def drop_marked(connection: asyncpg.Connection, dsn: str, name: str) -> None:
    """Drop a database of this name that a killed restore has left. Raises ArchiveRefused for any other with tables."""
    mark = await connection.fetchval(CATALOGUE["find_mark"].sql, name)
    if mark is None:
        return
    if mark != MARK:
        async with connect(in_database(dsn, name), NAME) as found:
            if await list_tables(found):
                raise ArchiveRefused(
                    f"A database {name} exists that was not created by a restore. Rename it, then run this again."
                )
    await connection.execute(f"DROP DATABASE {quoted(name)} WITH (FORCE)")


async def create_like(connection: asyncpg.Connection, name: str) -> None:
    """Create a database with the locale of the connection's database."""
    current: Any = await connection.fetchrow(CATALOGUE["describe_database"].sql)
    options = [
        f"LOCALE_PROVIDER {PROVIDERS[current['provider']]}",
        f"LC_COLLATE {quote_literal(current['datcollate'])}",
    ]
    options.append(f"LC_CTYPE {quote_literal(current['datctype'])}")
    if current["provider"] == "b":
        options.append(f"BUILTIN_LOCALE {quote_literal(current['locale'])}")
    elif current["provider"] == "i":
        options.append(f"ICU_LOCALE {quote_literal(current['locale'])}")
    await connection.execute(f"CREATE DATABASE {quoted(name)} TEMPLATE template0 ENCODING 'UTF8' {' '.join(options)}")
    await connection.execute(f"COMMENT ON DATABASE {quoted(name)} IS '{MARK}'")


@asynccontextmanager
async def maintaining(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    """Open a connection to a maintenance database of the server, from which others can be renamed."""
    for name in DATABASES:
        try:
            connection = await asyncpg.connect(in_database(dsn, name), server_settings={"application_name": NAME})
            break
        except (asyncpg.PostgresError, OSError):
            continue
    else:
        raise ArchiveRefused(
            f"Neither {' nor '.join(DATABASES)} can be connected to, from where databases are renamed. Restore into an"
            " empty database, and let CAIRN_DATABASE_URL name that one."
        )
    try:
        yield connection
    finally:
        await connection.close()
