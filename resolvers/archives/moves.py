"""The move of a whole tenant, as an archive, to another database.

The data of a tenant are all rows with its `tenant_id` in all tables of the catalogue, except the record of erasures,
which stays on its server.
"""

from collections.abc import Iterable
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg

from db.archives.catalogue import TENANT, Table, list_tables, quoted
from db.archives.copying import WRITTEN_ALIKE, Report, connect, copy_out, copy_tables_in, copy_tables_out, snapshot
from db.archives.folder import Archive, ArchiveBroken, ArchiveRefused, Manifest, writing_archive
from db.blob_folder import BlobFolder
from db.connection import Connection
from db.migrate import current_revision
from db.sql import statements

from ..errors import NotFound
from ..tenants.tenants import as_id
from .backups import describe
from .files import copy_files_in, copy_files_out

NAME = "cairn move"
TENANTS = statements("access/tenants")
OF_THE_SERVER = frozenset({"erasures"})
OWN = f"{TENANT} = $1"


def tenant_tables(tables: Iterable[Table]) -> list[Table]:
    """Return the tables with rows of tenants, each after the tables that it references."""
    return [table for table in tables if table.is_of_tenant and table.name not in OF_THE_SERVER]


async def find_tenant(connection: asyncpg.Connection, name: str) -> Any:
    """Return the tenant with this slug or id. Raises NotFound."""
    named, values = (
        ("find_tenant", {"tenant_id": as_id(name)}) if as_id(name) else ("find_tenant_by_slug", {"slug": name})
    )
    found = await Connection(connection).one(TENANTS[named], **values)
    if found is None:
        raise NotFound(f"There is no tenant `{name}`. See which there are with: cairn tenants list")
    return found


async def export_tenant(dsn: str, name: str, place: Path, report: Report, folder: BlobFolder | None = None) -> Manifest:
    """Write a snapshot of all data of a tenant to an archive; other transactions may write meanwhile."""
    with writing_archive(place) as draft:
        async with connect(dsn, NAME) as connection, snapshot(connection) as tables:
            manifest = await describe(connection, "tenant")
            tenant = await find_tenant(connection, name)
            manifest.tenant = {"id": str(tenant["tenant_id"]), "slug": tenant["slug"], "name": tenant["name"]}
            manifest.tables = await copy_tables_out(
                connection, tenant_tables(tables), draft, report, where=OWN, arguments=(tenant["tenant_id"],)
            )
            await copy_files_out(connection, draft, folder, report, tenant["tenant_id"])
        draft.close(manifest)
    return manifest


class Imported(NamedTuple):
    """The result of an import. `is_new` is False if the same tenant with the same data existed already."""

    slug: str
    tables: int
    rows: int
    is_new: bool


async def import_tenant(
    dsn: str, archive: Archive, report: Report, *, replace: bool, folder: BlobFolder | None = None
) -> Imported:
    """Import a tenant in one transaction, and compare every table with the archive before the commit.

    A tenant that exists with the same data is left alone, so a killed import can be repeated. A tenant with other data
    is overwritten only with `replace`; otherwise ArchiveRefused is raised. Raises ArchiveBroken if a table differs.
    """
    archive.check()
    manifest = archive.manifest
    if manifest.kind != "tenant" or manifest.tenant is None:
        place = archive.folder
        raise ArchiveRefused(f"{place} holds a whole database. Run: cairn restore {quote(str(place))}")
    tenant_id, slug = UUID(manifest.tenant["id"]), manifest.tenant["slug"]
    done = Imported(slug, len(manifest.tables), manifest.rows, is_new=True)
    await copy_files_in(archive, folder, report)
    async with connect(dsn, NAME) as connection, connection.transaction():
        await connection.execute(WRITTEN_ALIKE)
        await check_revision(connection, manifest)
        tables = tenant_tables(await list_tables(connection))
        if await is_there(connection, tenant_id, slug):
            if not await differing_tables(connection, tables, manifest):
                return done._replace(is_new=False)
            if not replace:
                raise ArchiveRefused(f"The tenant {slug} exists with other data. Use --replace to overwrite that data.")
            for table in reversed(tables):
                await connection.execute(f"DELETE FROM {quoted(table.name)} WHERE {OWN}", tenant_id)  # noqa: S608
        await copy_tables_in(connection, archive, [table.name for table in tables], report)
        if broken := await differing_tables(connection, tables, manifest):
            raise ArchiveBroken(f"Nothing was imported: {', '.join(broken)} would not be what was exported.")
    return done


async def check_revision(connection: asyncpg.Connection, manifest: Manifest) -> None:
    current = await current_revision(connection)
    if current == manifest.revision:
        return
    is_behind = current is None or current < manifest.revision
    fix = "Run cairn migrate here" if is_behind else "Run cairn migrate where it comes from, and export it again"
    raise ArchiveRefused(f"The tenant is of revision {manifest.revision}, and this database of {current}. {fix}.")


async def is_there(connection: asyncpg.Connection, tenant_id: UUID, slug: str) -> bool:
    """Return whether the tenant exists. Raises ArchiveRefused if another tenant has its slug."""
    found = await Connection(connection).one(TENANTS["find_tenant_by_slug"], slug=slug)
    if found is not None and found["tenant_id"] != tenant_id:
        raise ArchiveRefused(f"Another tenant is called {slug} here. Rename one of them, then export it again.")
    return await Connection(connection).one(TENANTS["find_tenant"], tenant_id=tenant_id) is not None


async def differing_tables(connection: asyncpg.Connection, tables: Iterable[Table], manifest: Manifest) -> list[str]:
    """Return the tables in which the rows of the tenant differ from the manifest."""
    assert manifest.tenant is not None
    known, tenant_id, found = {table.name: table for table in tables}, UUID(manifest.tenant["id"]), list[str]()
    for name, wanted in manifest.tables.items():
        if name not in known:
            found.append(name)
            continue
        copied = await copy_out(connection, known[name], columns=wanted.columns, where=OWN, arguments=(tenant_id,))
        if copied != wanted:
            found.append(name)
    return found


async def compare_tenant(dsn: str, manifest: Manifest) -> list[str]:
    """Return the tables in which the rows of a tenant have changed since it was exported."""
    async with connect(dsn, NAME) as connection, snapshot(connection) as tables:
        return await differing_tables(connection, tables, manifest)
