"""The embedded server at a point in time: a copy of its files, and the write-ahead log that it has archived since.

The server copies each segment of its log into a folder, a minute after it was begun at the latest. A restore lets a
server beside the one in use read the log up to a moment, and then gives it the place of that one.
"""

import asyncio
import gzip
import os
import re
import shutil
import subprocess
import tarfile
from datetime import datetime
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

import asyncpg

from ..embedded import EmbeddedServer, EmbeddedServerFailed, programs, server_account
from ..pool import IN_DOUBT
from .catalogue import quoted
from .folder import CHUNK, FILES, LEVEL, Archive, ArchiveRefused, Draft

ARCHIVE_TIMEOUT = "60s"
PLAIN = re.compile(r"[\w/.,@+ -]+")
KEEP = 'if test -f "{0}/%f"; then cmp -s "%p" "{0}/%f"; else cp "%p" "{0}/.%f.part" && mv "{0}/.%f.part" "{0}/%f"; fi'
RECOVERY = ("restore_command", "recovery_target_time", "recovery_target_action", "recovery_target_timeline")


async def archive_log(server: EmbeddedServer, dsn: str, folder: Path) -> None:
    """Let the server copy its write-ahead log into a folder from now on, also after a restart."""
    connection = await asyncpg.connect(dsn)
    try:
        if await connection.fetchval("SELECT current_setting('archive_mode')") != "on":
            raise ArchiveRefused(
                "The server was started by an older Cairn, which kept no log. Stop every command that uses it, and run"
                " this again."
            )
        await asyncio.to_thread(make_folder, server, folder)
        settings = {"archive_command": KEEP.format(check_folder(folder)), "archive_timeout": ARCHIVE_TIMEOUT}
        for name, value in settings.items():
            await connection.execute(f"ALTER SYSTEM SET {name} = {text(value)}")
        await connection.execute("SELECT pg_reload_conf()")
    finally:
        await connection.close()


def make_folder(server: EmbeddedServer, folder: Path) -> None:
    """Make the folder, if there is none, and let the server write in it."""
    folder.mkdir(parents=True, exist_ok=True)
    server_account(server.cluster, (folder,), server.report).own(folder)


def check_folder(folder: Path) -> Path:
    """Return the folder, if a shell reads its name as it stands."""
    if not PLAIN.fullmatch(str(folder)):
        raise ArchiveRefused(f"{folder} has signs that the archiver cannot quote: choose letters, digits and - _ . /")
    return folder


def text(value: str) -> str:
    return "'{}'".format(value.replace("'", "''"))


def copy_files(server: EmbeddedServer, draft: Draft) -> None:
    """Write the files of the running server as they are, with the log that makes them whole."""
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


def restore_to(server: EmbeddedServer, archive: Archive, log: Path, until: datetime | None) -> None:
    """Replace the embedded server by what it was at a moment, or at the end of the log. Raises ArchiveRefused."""
    archive.check()
    with server.locked(), (server.data_dir / "postgres.users").open("ab") as users:
        try:
            flock(users, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            raise ArchiveRefused(f"Another command uses {server.cluster}. Stop it, then run this again.") from None
        if server.running():
            server.halt()
        aside = EmbeddedServer(server.data_dir / "restoring", server.report)
        if aside.cluster.exists() and aside.running():  # a killed restore has left it
            aside.halt()
        shutil.rmtree(aside.data_dir, ignore_errors=True)
        unpack(archive, aside, check_folder(log), until)
        aside.report("Reading the log")
        try:
            with aside as dsn:
                asyncio.run(wait_for_promotion(dsn))
        except (asyncpg.PostgresError, *IN_DOUBT, EmbeddedServerFailed) as error:
            said = aside.log.read_text(errors="replace").splitlines() if aside.log.exists() else [str(error)]
            shutil.rmtree(aside.data_dir, ignore_errors=True)
            raise ArchiveRefused(f"Nothing was replaced: {describe_end(said, log)}") from error
        shutil.rmtree(server.replaced, ignore_errors=True)
        if server.cluster.exists():
            server.cluster.rename(server.replaced)
        aside.cluster.rename(server.cluster)
        shutil.rmtree(server.replaced, ignore_errors=True)
        shutil.rmtree(aside.data_dir, ignore_errors=True)


LINES_SHOWN = 8
"""Lines of the server's log that an error repeats, the last ones."""


def describe_end(said: list[str], log: Path) -> str:
    """Return why a server ended while it read the log."""
    if any("recovery ended before" in line for line in said):
        return f"the log in {log} ends before that moment. Give an earlier one, or none for all of it."
    return "\n".join(["the server ended while it read the log:", *said[-LINES_SHOWN:]])


def unpack(archive: Archive, aside: EmbeddedServer, log: Path, until: datetime | None) -> None:
    """Make a server of an archive's files, which reads the log when it starts."""
    aside.cluster.mkdir(parents=True, mode=0o700)
    with tarfile.open(archive.folder / FILES, "r:gz") as files:
        files.extractall(aside.cluster, filter="data")
    aside.cluster.chmod(0o700)
    settings = {"restore_command": f'cp "{log}/%f" "%p"', "recovery_target_timeline": "latest"}
    if until is not None:
        settings |= {"recovery_target_time": until.isoformat(sep=" "), "recovery_target_action": "promote"}
    with (aside.cluster / "postgresql.auto.conf").open("a") as file:
        file.writelines(f"{name} = {text(value)}\n" for name, value in settings.items())
    (aside.cluster / "recovery.signal").touch()
    if os.geteuid() == 0:
        account = server_account(aside.data_dir, (log,), aside.report)
        for path in (aside.cluster, *aside.cluster.rglob("*")):
            os.chown(path, account.uid, account.gid, follow_symlinks=False)


async def wait_for_promotion(dsn: str) -> None:
    """Wait until the log is read; then begin another history, and forget how the log was read."""
    connection = await asyncpg.connect(dsn)
    try:
        while await connection.fetchval("SELECT pg_is_in_recovery()"):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        for name in RECOVERY:
            await connection.execute(f"ALTER SYSTEM RESET {quoted(name)}")
        await connection.execute("UPDATE installation SET history_id = gen_random_uuid()")
    finally:
        await connection.close()
