"""`cairn backup` and `cairn restore`: back up and restore the database and the secret that signs tokens."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from typer.core import TyperGroup

from ....blob_folder import blob_folder_of
from ...options import AsJson, parse_time, read_settings
from ...output import print_json, print_status, say

if TYPE_CHECKING:
    from db.archives.folder import Archive, Manifest
    from db.archives.restoring import Restored

    from ....settings import Settings

T = TypeVar("T")
SECRET = "token-secret"  # noqa: S105 - the name of the file


class Backup(TyperGroup):
    """A group whose default command is `create`: `cairn backup DEST`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] != "--help" and args[0] not in self.commands:
            args = ["create", *args]
        return super().parse_args(ctx, args)


class Restore(TyperGroup):
    """A group with two default commands: `page` if a later argument is a number (a version), else `backup`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] != "--help" and args[0] not in self.commands:
            args = ["page" if any(map(str.isdigit, self.without_options(ctx, args)[1:])) else "backup", *args]
        return super().parse_args(ctx, args)

    def without_options(self, ctx: Any, args: list[str]) -> list[str]:
        """Return the arguments without options and their values, such as the number in `--until 20260131`."""
        parameters = [parameter for command in self.commands.values() for parameter in command.get_params(ctx)]
        with_value = {name for found in parameters if not getattr(found, "is_flag", True) for name in found.opts}
        return [
            word for previous, word in pairwise(["", *args]) if not word.startswith("-") and previous not in with_value
        ]


def parse_optional_time(text: str | None) -> str | None:
    """Return an ISO 8601 date or time unchanged, or None, or raise BadParameter."""
    return None if text is None else parse_time(text)


app = typer.Typer(cls=Backup, help="Back up the whole database, or check a backup.", no_args_is_help=True)
restore_app = typer.Typer(cls=Restore, help="Restore a backup, or an earlier version of a page.", no_args_is_help=True)


def add_to(parent: typer.Typer) -> None:
    parent.add_typer(app, name="backup", epilog="Example: cairn backup ~/backups/monday")
    epilog = "Example: cairn restore ~/backups/monday, or: cairn restore entity/austin 3 --tenant acme --owner mara"
    parent.add_typer(restore_app, name="restore", epilog=epilog)


Wal = Annotated[
    Path | None, typer.Option("--wal", metavar="DIR", help="Folder for the write-ahead log of the embedded server.")
]
Source = Annotated[Path, typer.Argument(metavar="SRC", help="Folder written by `cairn backup`.")]


@app.command("create", epilog="Example: cairn backup ~/backups/monday, or: cairn backup create ~/backups/monday")
def create(
    dest: Annotated[Path, typer.Argument(metavar="DEST", help="Folder to create. It contains secrets: protect it.")],
    wal: Wal = None,
    as_json: AsJson = False,
) -> None:
    """Back up the whole database while the service runs. The backup is a consistent snapshot and includes the secret
    that signs tokens.

    The folder gets its name when the backup is complete. With --wal it holds the files of the embedded server,
    which copies its write-ahead log into DIR from then on, so that any later moment can be restored.
    """
    settings = read_settings()
    secret = settings.data_dir.expanduser() / SECRET
    stored_secret = secret.read_bytes() if settings.jwt_secret is None and secret.exists() else None

    async def work(dsn: str) -> "Manifest":
        from resolvers.archives.backups import back_up

        from ...progress import progress

        if wal is not None:
            return await save_files(settings, dsn, dest.expanduser(), wal.expanduser().absolute(), stored_secret)
        with progress() as report:
            return await back_up(dsn, dest.expanduser(), stored_secret, report, blob_folder_of(settings))

    with database(settings, creates=False) as dsn:
        manifest = run_on_database(dsn, work)
        record_event(dsn, "backup.created", createdAt=manifest.created_at, wal=wal is not None)
    if as_json:
        print_json(manifest_to_dict(dest, manifest) | {"tokenSecret": stored_secret is not None})
    elif wal is not None:
        say(
            f"Copied the files to {dest}. The log is archived in {wal}. To restore: cairn restore {quote(str(dest))} "
            f"--wal {quote(str(wal))} --replace"
        )
    else:
        say(
            f"Backed up {manifest.rows:,} rows of {len(manifest.tables)} tables to {dest}. Next: cairn "
            f"backup verify {quote(str(dest))}"
        )
    if not as_json and (missing := count_missing_files(dest)):
        say(
            f"{missing} files are missing from the folder of attachments and from the backup. List them "
            "with: cairn doctor"
        )
    if not as_json and wal is not None and settings.attachments_dir is not None:
        say("With --wal the folder of attachments is not copied. Back it up after each backup.")
    if not as_json and settings.jwt_secret is not None:
        say("CAIRN_JWT_SECRET is not in the backup. Store it beside the backup.")


def count_missing_files(dest: Path) -> int:
    """Return how many files the database lists that are missing from the folder of attachments and the backup."""
    from db.archives.folder import Archive
    from resolvers.archives.files import missing_files

    return len(missing_files(Archive(dest.expanduser())))


async def save_files(settings: "Settings", dsn: str, dest: Path, wal: Path, secret: bytes | None) -> "Manifest":
    """Copy the files of the embedded server, and make it archive its log. Raises ArchiveRefused for another server."""
    from db.embedded import EmbeddedServer
    from resolvers.archives.backups import back_up_files

    if settings.database_url is not None:
        raise not_embedded_error()
    return await back_up_files(EmbeddedServer(settings.data_dir, print_status), dsn, dest, wal, secret)


def not_embedded_error() -> Exception:
    from db.archives.folder import ArchiveRefused

    return ArchiveRefused(
        "--wal is for Cairn's own server. For yours see docs/how-to/back-up.md: its administrator archives its log."
    )


@app.command("verify", epilog="Example: cairn backup verify ~/backups/monday --json")
def verify(src: Source, wal: Wal = None, as_json: AsJson = False) -> None:
    """Check a backup. Restores it into a temporary server, compares all tables and repeats a sample of searches.

    With --wal, reads the log to its end and every row instead. No other database is changed. Exits with 1 if the backup
    differs from what was backed up.
    """
    import asyncio

    from resolvers.archives.backups import verify as verify_backup

    from ...progress import progress

    with progress() as report:
        found = asyncio.run(verify_backup(src.expanduser(), report, wal and wal.expanduser().absolute()))
    if as_json:
        log = {"until": found.until, "lacking": found.lacking} if wal else {}
        print_json(
            {
                "path": str(src),
                "isWhole": found.is_whole,
                "tables": found.tables,
                "rows": found.rows,
                "brokenTables": found.broken_tables,
                "questions": found.questions,
                "brokenQuestions": [question["text"] for question in found.broken_questions],
                "missing": found.missing,
                **log,
            }
        )
    else:
        if wal:
            say(f"{found.rows:,} rows of {found.tables} tables can be read. The log ends at {found.until}.")
        else:
            say(f"{found.tables} tables with {found.rows:,} rows were restored; {len(found.broken_tables)} differ.")
            say(f"{found.questions} searches were repeated; {len(found.broken_questions)} have other results.")
        for name in (*found.broken_tables, *(question["text"] for question in found.broken_questions)):
            say(f"different: {name}")
        for item in found.missing:
            say(f"not restored: {item}")
        for segment in found.lacking:
            say(f"missing from the log: {segment}. Later changes cannot be restored.")
    if not found.is_whole:
        raise typer.Exit(1)


@restore_app.command("backup", epilog="Example: cairn restore ~/backups/monday --replace")
def restore(
    src: Source,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Replace the present contents of the database once the backup is restored."),
    ] = False,
    wal: Wal = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="MOMENT",
            callback=parse_optional_time,
            help="Moment to restore, such as 2026-01-31T10:00Z. Needs --wal.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Restore a backup of the whole database. Restores the secret that signs tokens as well, and applies pending
    migrations.

    If it is interrupted, the database is either the old one or the restored one, never a mixture: run it again.
    """
    from db.archives.folder import Archive
    from db.archives.restoring import Restored

    from .erasing import print_undone, to_dicts

    if until is not None and wal is None:
        raise typer.BadParameter(
            "needs --wal: without a log, a backup can only restore the moment at which it was made",
            param_hint="--until",
        )

    archive, settings = Archive(src.expanduser()), read_settings()

    async def work(dsn: str) -> "Restored":
        from resolvers.archives.backups import restore as restore_backup

        from ...progress import progress

        with progress() as report:
            return await restore_backup(dsn, archive, report, replace=replace, folder=blob_folder_of(settings))

    check_secret(settings, archive.secret, replace=replace)
    restored, is_archiving = Restored([], None), False
    if wal is not None:
        is_archiving = restore_files(settings, archive, wal, until, replace=replace)
        with database(settings, creates=False) as dsn:
            record_event(dsn, "backup.restored", createdAt=archive.manifest.created_at, until=until)
    else:
        with database(settings, creates=True) as dsn:
            restored = run_on_database(dsn, work)
            record_event(dsn, "backup.restored", createdAt=archive.manifest.created_at)
    has_secret = store_secret(settings, archive.secret)
    if as_json:
        undone = None if restored.undone is None else to_dicts(restored.undone)
        facts = {"tokenSecret": has_secret, "missing": restored.missing, "undone": undone}
        print_json(manifest_to_dict(src, archive.manifest) | facts)
        return
    if wal is not None:
        say(f"Restored the server to {until or 'the end of the log'}. Next: cairn migrate")
        if not is_archiving:
            say("It no longer archives its log. To archive it again: cairn backup DEST --wal DIR")
    else:
        say(f"Restored {archive.manifest.rows:,} rows of {len(archive.manifest.tables)} tables.")
    for item in restored.missing:
        say(f"not restored: {item}")
    print_undone(restored.undone or ())
    if until or (restored.undone is None and wal is None):
        say(f"What you erased after {until or archive.manifest.created_at} is here again: erase it again.")


def restore_files(settings: "Settings", archive: "Archive", wal: Path, until: str | None, *, replace: bool) -> bool:
    """Restore the embedded server to a point in time. Return whether it continues to archive its log."""
    from datetime import UTC, datetime

    from db.archives.folder import ArchiveRefused
    from db.archives.points import restore_to
    from db.embedded import EmbeddedServer

    if settings.database_url is not None:
        raise not_embedded_error()
    if archive.manifest.kind != "files":
        raise ArchiveRefused(f"{archive.folder} was made without --wal. Restore it without --wal.")
    server = EmbeddedServer(settings.data_dir, print_status)
    if server.exists() and not replace:
        raise ArchiveRefused(f"{server.cluster} exists. Use --replace to overwrite its data.")
    server.data_dir.mkdir(parents=True, exist_ok=True)
    at = None if until is None else datetime.fromisoformat(until)
    return restore_to(
        server, archive, wal.expanduser().absolute(), at and (at if at.tzinfo else at.replace(tzinfo=UTC))
    )


def check_secret(settings: "Settings", secret: bytes | None, *, replace: bool) -> None:
    """Raise ArchiveRefused if the backup has another secret that signs tokens, unless `replace` is set."""
    from db.archives.folder import ArchiveRefused

    path = settings.data_dir.expanduser() / SECRET
    if secret is not None and not replace and path.exists() and path.read_bytes() != secret:
        raise ArchiveRefused(
            f"{path} has another secret than the backup. Use --replace to overwrite it. Tokens"
            " that it signed are then refused."
        )


def store_secret(settings: "Settings", secret: bytes | None) -> bool:
    """Store the secret of a backup in the data folder. Return whether the backup has one."""
    import os
    import tempfile

    if secret is None:
        return False
    folder = settings.data_dir.expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".secret-", delete=False) as file:  # only its owner can read it
        file.write(secret)
        file.flush()
        os.fsync(file.fileno())
    Path(file.name).replace(folder / SECRET)
    return True


@contextmanager
def database(settings: "Settings", *, creates: bool) -> Iterator[str]:
    """Yield the DSN of the database without migrating it. Raises NothingStored if it is missing, unless `creates`."""
    from db.embedded import EmbeddedServer

    from ...session import NothingStored

    if settings.database_url is not None:
        yield settings.database_url
        return
    server = EmbeddedServer(settings.data_dir, print_status)
    if not creates and not server.exists():
        raise NothingStored(f"There is no database in {server.data_dir} yet, and so nothing to back up.")
    with server as dsn:
        yield dsn


def run_on_database(dsn: str, work: Callable[[str], Awaitable[T]], location: str = "at CAIRN_DATABASE_URL") -> T:
    """Run `work` on a database and return its result, or raise Unavailable with the reason of Postgres."""
    import asyncio

    import asyncpg

    from db.migrate import current_revision
    from resolvers.errors import Unavailable

    from ...session import ask_server, reason

    async def look() -> None:
        connection = await asyncpg.connect(dsn, statement_cache_size=0)
        try:
            await current_revision(connection)
        finally:
            await connection.close()

    async def run() -> T:
        await ask_server(dsn, look(), location)
        return await work(dsn)

    try:
        return asyncio.run(run())
    except (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
        raise Unavailable(f"Postgres refused, and nothing was changed: {reason(error, dsn)}.") from error


def record_event(dsn: str, event: str, subject: object = None, **detail: Any) -> None:
    """Record in the operator's audit log what a command did with the whole database, or with a tenant.

    Nothing is recorded in a database of an older schema, which has no such log, on a standby, which takes no writes, or
    by a role that may only read; the last is told.
    """
    import asyncpg

    from db.archives.copying import connect
    from db.connection import Connection, prepare_connection
    from resolvers.transactions.audit import MACHINE, OPERATORS_LOG, Event, audit

    async def work(dsn: str) -> None:
        async with connect(dsn, "cairn audit") as connection:
            await prepare_connection(connection)
            try:
                await audit(Connection(connection), OPERATORS_LOG, MACHINE, Event(event), subject, **detail)
            except (asyncpg.UndefinedTableError, asyncpg.ReadOnlySQLTransactionError):
                pass
            except asyncpg.InsufficientPrivilegeError as error:
                print_status(f"This was not recorded in the audit log: {error}.")

    run_on_database(dsn, work)


def manifest_to_dict(path: Path, manifest: "Manifest") -> dict[str, Any]:
    return {
        "path": str(path),
        "createdAt": manifest.created_at,
        "revision": manifest.revision,
        "rows": manifest.rows,
        "questions": len(manifest.sample),
        "tables": {name: {"rows": table.rows, "sha256": table.sha256} for name, table in manifest.tables.items()},
    }
