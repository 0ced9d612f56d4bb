"""Backups of the whole database: write, restore and verify them."""

import asyncio
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg

from content.search.words import ANALYSER
from db.archives import points, restoring
from db.archives.catalogue import describe_server, list_indexes
from db.archives.copying import Report, connect, copy_out, copy_tables_out, snapshot
from db.archives.folder import SECRET, Archive, ArchiveRefused, Manifest, writing_archive
from db.archives.restoring import Restored
from db.blob_folder import BlobFolder
from db.connection import prepare_connection
from db.embedded import EmbeddedServer
from db.migrate import current_revision, revisions

from ..errors import NotFound
from .files import copy_files_in, copy_files_out, missing_files
from .sample import differing, take_sample

NAME = "cairn backup"


async def back_up(
    dsn: str, place: Path, secret: bytes | None, report: Report, folder: BlobFolder | None = None
) -> Manifest:
    """Write a snapshot of the database, its files in the folder of attachments, and the secret that signs tokens.

    Other transactions may write meanwhile.
    """
    with writing_archive(place) as draft:
        async with connect(dsn, NAME) as connection, snapshot(connection) as tables:
            manifest = await describe(connection, "database")
            manifest.indexes = await list_indexes(connection)
            if manifest.revision == revisions()[-1]:
                await prepare_connection(connection)
                manifest.analyser, manifest.sample = ANALYSER, await take_sample(connection)
            manifest.tables = await copy_tables_out(connection, tables, draft, report)
            await copy_files_out(connection, draft, folder, report)
        if secret is not None:
            draft.write(SECRET, secret)
        draft.close(manifest)
    return manifest


async def back_up_files(server: EmbeddedServer, dsn: str, place: Path, log: Path, secret: bytes | None) -> Manifest:
    """Write the files of the embedded server, and make it archive its write-ahead log from before the copy on."""
    with writing_archive(place) as draft:
        await points.archive_log(server, dsn, log)
        async with connect(dsn, NAME) as connection:
            manifest = await describe(connection, "files")
        await asyncio.to_thread(points.copy_files, server, draft)
        manifest.created_at = datetime.now(UTC).isoformat(timespec="milliseconds")  # the earliest restorable moment
        if secret is not None:
            draft.write(SECRET, secret)
        draft.close(manifest)
    return manifest


async def describe(connection: asyncpg.Connection, kind: str) -> Manifest:
    """Return a manifest without tables. Raises NotFound if the database has no tables of Cairn."""
    revision = await current_revision(connection)
    if revision is None:
        raise NotFound("This database has no tables of Cairn. Begin with: cairn migrate")
    server = await describe_server(connection)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Manifest(kind, revision, now, server["server_version"], server["schema"])


class Verified(NamedTuple):
    """The comparison of a restored backup with its archive: counts of tables, rows and queries, and the differences."""

    tables: int
    rows: int
    broken_tables: list[str]
    questions: int
    broken_questions: list[dict[str, Any]]
    missing: list[str]
    until: datetime | None = None
    """The last moment that can be restored from the log."""
    lacking: Sequence[str] = ()
    """The missing segments of the log, without which later segments cannot be read."""

    @property
    def is_whole(self) -> bool:
        return not self.broken_tables and not self.broken_questions and not self.lacking


async def verify(place: Path, report: Report, log: Path | None = None) -> Verified:
    """Restore a backup into a temporary server, compare every table with the archive, and repeat the sample queries.

    A backup of files is restored to the end of its log, and every row must be readable.
    """
    archive = Archive(place)
    archive.check()
    if archive.manifest.kind == "files":
        if log is None:
            raise ArchiveRefused(f"{place} holds the files of an embedded server. Give --wal and its folder.")
        return await verify_files(archive, log, report)
    if log is not None:
        raise ArchiveRefused(f"{place} was made without --wal: verify it without.")
    with (
        tempfile.TemporaryDirectory(prefix="cairn-verify-") as folder,
        EmbeddedServer(Path(folder), durable=False) as dsn,
    ):
        missing = await restoring.load(dsn, archive, report)
        broken = await compare(dsn, archive, report)
        await restoring.finish(dsn)
        # An index by another analyser has other words, so queries may find other pages until `cairn reindex` has run.
        sample = archive.manifest.sample if archive.manifest.analyser == ANALYSER else []
        async with connect(dsn, NAME) as connection:
            await prepare_connection(connection)
            changed = await differing(connection, sample)
    manifest = archive.manifest
    return Verified(len(manifest.tables), manifest.rows, broken, len(sample), changed, missing)


async def verify_files(archive: Archive, log: Path, report: Report) -> Verified:
    """Restore files in a temporary server to the end of the log, and read every row of every table."""
    lacking, rows = points.missing_segments(archive, log), 0
    with tempfile.TemporaryDirectory(prefix="cairn-verify-") as folder:
        server = EmbeddedServer(Path(folder), durable=False)
        async with points.recovered(server, archive, log) as dsn, connect(dsn, NAME) as connection:
            moment = await connection.fetchval("SELECT pg_last_xact_replay_timestamp()")
            async with snapshot(connection) as tables:
                for number, table in enumerate(tables):
                    report("reading", number, len(tables), table.name)
                    rows += (await copy_out(connection, table)).rows
                report("reading", len(tables), len(tables), "")
    until = moment or datetime.fromisoformat(archive.manifest.created_at)
    if lacking and moment:
        until = moment - timedelta(microseconds=1)  # a restore to a moment needs a later commit in the log
    return Verified(len(tables), rows, [], 0, [], [], until, lacking)


async def compare(dsn: str, archive: Archive, report: Report) -> list[str]:
    """Return the tables whose rows differ from the archive, except those that every restore changes."""
    manifest, broken = archive.manifest, []
    async with connect(dsn, NAME) as connection, snapshot(connection) as tables:
        known = {table.name: table for table in tables}
        for number, (name, wanted) in enumerate(manifest.tables.items()):
            report("comparing", number, len(manifest.tables), name)
            if name not in known:
                broken.append(name)
            elif name != "installation":  # a restored database gets a new history id
                found = await copy_out(connection, known[name], columns=wanted.columns)
                broken += [] if found == wanted else [name]
    report("comparing", len(manifest.tables), len(manifest.tables), "")
    return broken


async def restore(
    dsn: str, archive: Archive, report: Report, *, replace: bool, folder: BlobFolder | None = None
) -> Restored:
    """Restore a backup after checking it."""
    archive.check()
    await copy_files_in(archive, folder, report)
    restored = await restoring.restore(dsn, archive, report, replace=replace)
    await restoring.finish(dsn)
    restored.missing.extend(f"the file {name}, which was missing already" for name in missing_files(archive))
    return restored
