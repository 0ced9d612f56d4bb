"""`cairn tenants export`, `import` and `transfer`: move a whole tenant to another database."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ....blob_folder import blob_folder_of
from ...options import AsJson, read_settings
from ...output import print_json, say
from ..admin.tenants import app
from .backups import database, manifest_to_dict, record_event, run_on_database

if TYPE_CHECKING:
    from db.archives.folder import Manifest
    from resolvers.archives.moves import Imported

    from ....settings import Settings

Slug = Annotated[str, typer.Argument(metavar="SLUG", help="Slug or id of the tenant.")]
Replace = Annotated[
    bool, typer.Option("--replace", help="Replace the existing data of this tenant in the destination.")
]


def add_to(parent: typer.Typer) -> None:
    """Do nothing: importing this module adds its commands to the group of tenants."""


@app.command("export", epilog="Example: cairn tenants export acme ~/acme")
def export_one(
    slug: Slug,
    dest: Annotated[
        Path, typer.Argument(metavar="DEST", help="Folder to create. It will contain all data of the tenant.")
    ],
    as_json: AsJson = False,
) -> None:
    """Export a tenant as a consistent snapshot. Includes wikis, history, sources, grants, keys, settings and jobs."""
    from resolvers.archives.moves import export_tenant

    from ...progress import progress

    async def work(dsn: str) -> "Manifest":
        with progress() as report:
            return await export_tenant(dsn, slug, dest.expanduser(), report, blob_folder_of(read_settings()))

    with database(read_settings(), creates=False) as dsn:
        manifest = run_on_database(dsn, work)
        record_event(dsn, "tenant.exported", tenant_of(manifest), rows=manifest.rows)
    if as_json:
        print_json(manifest_to_dict(dest, manifest) | {"tenant": manifest.tenant})
    else:
        say(f"Exported {manifest.rows:,} rows of {len(manifest.tables)} tables to {dest}.")
        say(f"Next, at the destination: cairn tenants import {quote(str(dest))}")


@app.command("import", epilog="Example: cairn tenants import ~/acme; cairn tenants import ~/acme --replace")
def import_one(
    src: Annotated[Path, typer.Argument(metavar="SRC", help="Folder written by `cairn tenants export`.")],
    replace: Replace = False,
    as_json: AsJson = False,
) -> None:
    """Import an exported tenant into this database. Runs in one transaction and verifies every table against the
    export.

    An interrupted import can be run again: importing the same export twice changes nothing.
    """
    from db.archives.folder import Archive
    from resolvers.archives.moves import import_tenant

    from ...progress import progress

    archive = Archive(src.expanduser())

    async def work(dsn: str) -> "Imported":
        with progress() as report:
            return await import_tenant(dsn, archive, report, replace=replace, folder=blob_folder_of(read_settings()))

    with database(read_settings(), creates=False) as dsn:
        imported = run_on_database(dsn, work)
        record_event(dsn, "tenant.imported", tenant_of(archive.manifest), rows=imported.rows)
    print_imported(imported, as_json)


def tenant_of(manifest: "Manifest") -> str | None:
    """Return the id of the tenant of an archive, or None for an archive of the whole database."""
    return None if manifest.tenant is None else manifest.tenant["id"]


def print_imported(imported: "Imported", as_json: bool, **more: Any) -> None:
    if as_json:
        print_json({**imported._asdict(), **more})
    elif imported.is_new:
        say(f"Imported {imported.slug}: {imported.rows:,} rows of {imported.tables} tables.")
    else:
        say(f"{imported.slug} is already imported: {imported.rows:,} rows of {imported.tables} tables.")


@app.command(
    "transfer", epilog="Example: cairn tenants transfer acme --to postgresql://cairn@db2/cairn; cat url | … --to -"
)
def transfer(
    slug: Slug,
    to: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="URL of the destination database, which must be migrated. Use - to read the URL from stdin.",
        ),
    ],
    to_folder: Annotated[
        Path | None,
        typer.Option(
            "--to-folder",
            metavar="DIR",
            help="CAIRN_ATTACHMENTS_DIR of the destination, if attachments are stored in a folder.",
        ),
    ] = None,
    replace: Replace = False,
    as_json: AsJson = False,
) -> None:
    """Copy a tenant into another database and verify every table. The original stays in place.

    An interrupted transfer can be run again. Exits with 1 if the tenant changed in the meantime; run it again with
    --replace.
    """
    from content.names import is_slug
    from db.archives.folder import Archive
    from db.blob_folder import BlobFolder
    from resolvers.archives.moves import compare_tenant, export_tenant, import_tenant
    from resolvers.errors import NotFound
    from resolvers.tenants.tenants import as_id

    from ...output import read_stdin
    from ...progress import progress

    if not (is_slug(slug) or as_id(slug)):  # a path, such as that of an export, would name the folder that is deleted
        raise NotFound(f"There is no tenant `{slug}`. See which there are with: cairn tenants list")
    settings = read_settings()
    target = read_stdin().strip() if to == "-" else to

    async def export_to_folder(dsn: str) -> "Manifest":
        with progress() as report:
            return await export_tenant(dsn, slug, place, report, blob_folder_of(settings))

    async def import_from_folder(dsn: str) -> "Imported":
        with progress() as report:
            folder = None if to_folder is None else BlobFolder(to_folder)
            return await import_tenant(dsn, Archive(place), report, replace=replace, folder=folder)

    with transfer_folder(settings, slug) as place, database(settings, creates=False) as dsn:
        manifest = run_on_database(dsn, export_to_folder)
        imported = run_on_database(target, import_from_folder, "of --to")
        record_event(dsn, "tenant.exported", tenant_of(manifest), rows=manifest.rows)
        record_event(target, "tenant.imported", tenant_of(manifest), rows=imported.rows)
        changed = run_on_database(dsn, lambda dsn: compare_tenant(dsn, manifest))
    print_imported(imported, as_json, changed=changed)
    if changed:
        if not as_json:
            say(f"These tables changed meanwhile: {', '.join(changed)}. Stop all writers and run this with --replace.")
        raise typer.Exit(1)
    if not as_json:
        say(f"Point clients to the destination, then erase the tenant here: cairn tenants erase {slug}")


@contextmanager
def transfer_folder(settings: "Settings", slug: str) -> Iterator[Path]:
    """Yield the place of a folder for an export that is transferred, and delete the folder at the end.

    A folder that a killed transfer has left is deleted, because the tenant may have changed since. Raises
    ArchiveRefused while another command transfers the tenant.
    """
    import os
    import shutil
    from fcntl import LOCK_EX, LOCK_NB, flock

    from db.archives.folder import ArchiveRefused

    place = settings.data_dir.expanduser() / "transfers" / slug
    place.parent.mkdir(parents=True, exist_ok=True)
    lock_path = place.with_name(f".{slug}.lock")
    with lock_path.open("ab") as lock:
        try:
            flock(lock, LOCK_EX | LOCK_NB)
            if os.fstat(lock.fileno()).st_nlink == 0:  # the command that has just ended deleted it
                raise BlockingIOError
        except BlockingIOError:
            raise ArchiveRefused(f"Another command is transferring {slug}. Wait for it, then run this again.") from None
        shutil.rmtree(place, ignore_errors=True)
        try:
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)
            lock_path.unlink()
