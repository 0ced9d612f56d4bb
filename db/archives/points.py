"""Restores the embedded server to a point in time, from a copy of its files and its archived write-ahead log.

The server archives each segment of its log into a folder, at most a minute after the segment was begun. A restore
starts a second server from the copy, which replays the log up to the requested time, and then replaces the one in use.
"""

import asyncio
import gzip
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

import asyncpg

from ..embedded import EmbeddedServer, EmbeddedServerFailed, programs
from ..pool import MAY_STILL_RUN
from ..sql import quote_literal
from ..system_account import server_account
from .catalogue import quoted
from .folder import CHUNK, FILES, LEVEL, Archive, ArchiveRefused, Draft

ARCHIVE_TIMEOUT = "60s"
PLAIN = re.compile(r"[\w/.,@+ -]+")
KEEP = (
    'if test -f "{0}/%f.gz"; then gzip -dc "{0}/%f.gz" | cmp -s "%p" -; '
    'else gzip -1 -c "%p" > "{0}/.%f.part" && mv "{0}/.%f.part" "{0}/%f.gz"; fi'
)
"""The shell command that archives a segment. Most segments are not full, and compress to a thousandth of their size."""
FETCH = (
    'if test -f "{0}/%f.gz"; then gzip -dc "{0}/%f.gz" > "%p" || exit 200; '
    'elif test -f "{0}/%f"; then cp "{0}/%f" "%p"; else exit 1; fi'
)
"""The shell command that fetches a segment. Status 200 aborts the restore, and 1 is the end of the log.

Older releases did not compress segments.
"""
ARCHIVING = ("archive_command", "archive_timeout")
SEGMENT = re.compile(r"[0-9A-F]{24}")
LABEL, BEGUN = "backup_label", re.compile(r"^START WAL LOCATION: \S+ \(file ([0-9A-F]{24})\)", re.MULTILINE)
RECOVERY = (
    "restore_command", "recovery_target", "recovery_target_time", "recovery_target_action", "recovery_target_timeline"
)  # fmt: skip


async def archive_log(server: EmbeddedServer, dsn: str, folder: Path) -> None:
    """Make the server archive its write-ahead log into a folder, from now on and after restarts."""
    connection = await asyncpg.connect(dsn)
    try:
        if await connection.fetchval("SELECT current_setting('archive_mode')") != "on":
            raise ArchiveRefused(
                "The server was started by an older Cairn, which did not archive its log. Stop every command that uses"
                " it, and run this again."
            )
        await asyncio.to_thread(make_folder, server, folder)
        await keep_log(connection, folder)
        await connection.execute("SELECT pg_reload_conf()")
    finally:
        await connection.close()


async def keep_log(connection: asyncpg.Connection, folder: Path) -> None:
    """Set the server's archive settings, which apply when it reloads its configuration."""
    for name, value in zip(ARCHIVING, (KEEP.format(check_folder(folder)), ARCHIVE_TIMEOUT), strict=True):
        await connection.execute(f"ALTER SYSTEM SET {name} = {quote_literal(value)}")


def keeps_log(server: EmbeddedServer, folder: Path) -> bool:
    """Return whether the server archives its log into this folder."""
    path = server.cluster / "postgresql.auto.conf"
    lines = path.read_text().splitlines() if path.exists() else []
    return any(line.startswith("archive_command") and f'"{folder}/%f' in line for line in lines)


def make_folder(server: EmbeddedServer, folder: Path) -> None:
    """Create the folder if it is missing, and let the server's account write in it."""
    folder.mkdir(parents=True, exist_ok=True)
    server_account(server.cluster, (folder,), server.report).own(folder)


def check_folder(folder: Path) -> Path:
    """Return the folder, if its name needs no quoting in a shell. Raises ArchiveRefused."""
    if shutil.which("gzip") is None:
        raise ArchiveRefused("The log is compressed by gzip, which is not installed here.")
    if not PLAIN.fullmatch(str(folder)):
        raise ArchiveRefused(f"{folder} has characters that the archiver cannot quote: use letters, digits and - _ . /")
    return folder


def copy_files(server: EmbeddedServer, draft: Draft) -> None:
    """Write a base backup of the running server into the archive, with the log that makes it consistent."""
    host = server.postmaster()[4]
    command = [str(programs() / "pg_basebackup"), f"--host={host}", "--username=postgres", "--pgdata=-", "--format=tar"]
    options = ["--wal-method=fetch", "--checkpoint=fast", "--no-manifest", "--no-password"]
    with (
        server.log.open("ab") as log,
        draft.create(FILES) as raw,
        gzip.GzipFile("", "wb", LEVEL, raw, mtime=0) as file,
        subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=log, env={"LC_ALL": "C"}) as process,  # noqa: S603
    ):
        assert process.stdout is not None
        while piece := process.stdout.read(CHUNK):
            file.write(piece)
    if process.returncode != 0:
        raise EmbeddedServerFailed(f"pg_basebackup failed: see {server.log}")


def restore_to(server: EmbeddedServer, archive: Archive, log: Path, until: datetime | None) -> bool:
    """Replace the embedded server with its state at a point in time, or at the end of the log. Raises ArchiveRefused.

    Return whether the restored server continues to archive into the log's folder. It does if it replaces the server
    whose log it is. Any other must not, because later restores of that server would follow the timeline of this one.
    """
    archive.check()
    if until is not None and until < datetime.fromisoformat(archive.manifest.created_at):
        raise ArchiveRefused(
            f"{archive.folder} was made at {archive.manifest.created_at} and can be restored to later moments only."
            " Give a later moment, or an earlier backup."
        )
    if until is None and (lacking := missing_segments(archive, log)):
        raise ArchiveRefused(
            f"{log} lacks {', '.join(lacking)}, and later changes cannot be restored. Give an earlier moment"
            " with --until: cairn backup verify --wal names the last one."
        )
    with server.locked(), (server.data_dir / "postgres.users").open("ab") as users:
        try:
            flock(users, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            raise ArchiveRefused(f"Another command uses {server.cluster}. Stop it, then run this again.") from None
        if server.running():
            server.halt()
        aside = EmbeddedServer(server.data_dir / "restoring", server.report)
        if aside.cluster.exists() and aside.running():  # the server of a killed restore
            aside.halt()
        shutil.rmtree(aside.data_dir, ignore_errors=True)
        keeps_archiving = keeps_log(server, log)
        try:
            asyncio.run(recover(aside, archive, log, until, keeps_archiving=keeps_archiving))
        except ArchiveRefused as error:
            shutil.rmtree(aside.data_dir, ignore_errors=True)
            raise ArchiveRefused(f"Nothing was replaced: {error}") from error
        shutil.rmtree(server.replaced, ignore_errors=True)
        if server.cluster.exists():
            server.cluster.rename(server.replaced)
        aside.cluster.rename(server.cluster)
        shutil.rmtree(server.replaced, ignore_errors=True)
        shutil.rmtree(aside.data_dir, ignore_errors=True)
        return keeps_archiving


async def recover(
    aside: EmbeddedServer, archive: Archive, log: Path, until: datetime | None, *, keeps_archiving: bool
) -> None:
    """Create a server from an archive's files, and let it replay the log. Raises ArchiveRefused.

    If it `keeps_archiving` into the log's folder, it does so only after its next start, so that the server of a killed
    restore writes nothing there.
    """
    async with recovered(aside, archive, log, until) as dsn:
        connection = await asyncpg.connect(dsn)
        try:
            for name in ARCHIVING:
                await connection.execute(f"ALTER SYSTEM RESET {quoted(name)}")
            if keeps_archiving:
                await keep_log(connection, log)
        finally:
            await connection.close()


@asynccontextmanager
async def recovered(
    aside: EmbeddedServer, archive: Archive, log: Path, until: datetime | None = None
) -> AsyncIterator[str]:
    """Yield the DSN of a server from an archive's files that has replayed the log. Raises ArchiveRefused."""
    unpack(archive, aside, check_folder(log), until)
    aside.report("Reading the log")
    async with AsyncExitStack() as stack:
        try:
            dsn = stack.enter_context(aside)
            await wait_for_promotion(dsn)
        except (asyncpg.PostgresError, *MAY_STILL_RUN, EmbeddedServerFailed) as error:
            lines = aside.log.read_text(errors="replace").splitlines() if aside.log.exists() else [str(error)]
            raise ArchiveRefused(describe_end(lines, log)) from error
        yield dsn


def missing_segments(archive: Archive, log: Path) -> list[str]:
    """Return the first segment from the beginning of an archive on that the log lacks, as a list, if it has later ones.

    Timelines are ignored: a new timeline begins in the segment in which the former one ended, so that the numbers of
    the segments continue.
    """
    with tarfile.open(archive.folder / FILES, "r|gz") as files:
        for entry in files:
            if entry.name.removeprefix("./") == LABEL and (label := files.extractfile(entry)) is not None:
                found = BEGUN.search(label.read().decode())
                break
        else:
            found = None
    if found is None:
        raise ArchiveRefused(f"{archive.folder / FILES} does not say where the log begins. Use another backup.")
    names = (path.name.removesuffix(".gz") for path in log.iterdir())
    there = {segment_number(name) for name in names if SEGMENT.fullmatch(name)}
    first = segment_number(found[1])
    lacking = next((number for number in range(first, max(there, default=first)) if number not in there), None)
    return [] if lacking is None else [f"{found[1][:8]}{lacking >> 8:08X}{lacking & 0xFF:08X}"]


def segment_number(segment: str) -> int:
    """Return the number of a segment in the log. A log file of 4 GB has 256 segments."""
    return int(segment[8:16], 16) * 256 + int(segment[16:], 16)


LINES_SHOWN = 8
"""The number of the server's last log lines in an error message."""


def describe_end(lines: list[str], log: Path) -> str:
    """Return why a server ended while it replayed the log, from its last log lines."""
    if any("recovery ended before" in line for line in lines):
        return f"the log in {log} ends before that moment. Give an earlier one, or none for all of it."
    return "\n".join(["the server ended while it read the log:", *lines[-LINES_SHOWN:]])


def unpack(archive: Archive, aside: EmbeddedServer, log: Path, until: datetime | None) -> None:
    """Create a server from an archive's files. It replays the log when it starts."""
    aside.cluster.mkdir(parents=True, mode=0o700)
    with tarfile.open(archive.folder / FILES, "r:gz") as files:
        files.extractall(aside.cluster, filter="data")
    aside.cluster.chmod(0o700)
    settings = {"restore_command": FETCH.format(log), "recovery_target_timeline": "latest", "archive_command": ""}
    if until is not None and until == datetime.fromisoformat(archive.manifest.created_at):
        settings |= {"recovery_target": "immediate", "recovery_target_action": "promote"}  # the state of the files
    elif until is not None:
        settings |= {"recovery_target_time": until.isoformat(sep=" "), "recovery_target_action": "promote"}
    with (aside.cluster / "postgresql.auto.conf").open("a") as file:
        file.writelines(f"{name} = {quote_literal(value)}\n" for name, value in settings.items())
    (aside.cluster / "recovery.signal").touch()
    if os.geteuid() == 0:
        account = server_account(aside.data_dir, (log,), aside.report)
        for path in (aside.cluster, *aside.cluster.rglob("*")):
            os.chown(path, account.uid, account.gid, follow_symlinks=False)


async def wait_for_promotion(dsn: str) -> None:
    """Wait until the log is replayed, then reset the recovery settings and give the database a new history id."""
    # If the log contains the replacement of the database `cairn`, connections to that database are closed.
    connection = await asyncpg.connect(dsn, database="postgres")
    try:
        while await connection.fetchval("SELECT pg_is_in_recovery()"):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        for name in RECOVERY:
            await connection.execute(f"ALTER SYSTEM RESET {quoted(name)}")
    finally:
        await connection.close()
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute("UPDATE installation SET history_id = gen_random_uuid()")
    finally:
        await connection.close()
