"""Starts servers in their own processes, and reads the time and memory that they take from Linux's /proc."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import asyncpg

TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
START = 180  # seconds within which a server must listen
STOP = 20  # seconds within which it must end


@dataclass(frozen=True)
class Server:
    """A running server. Its name is also the application name of its connections in Postgres."""

    name: str
    port: int
    pid: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def running_server(
    name: str, command: Sequence[str | Path], settings: Mapping[str, str], log: Path
) -> Iterator[Server]:
    """Run a server until the block ends. Its output goes to `log`."""
    port = free_port()
    environment = {**os.environ, **settings, "CAIRN_PORT": str(port)}
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        try:
            wait_for(port, process, log)
            yield Server(name, port, process.pid)
        finally:
            stop(process)


def stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class RestartableProcess:
    """A process that can be killed and started again."""

    def __init__(self, command: Sequence[str], port: int, log: Path, settings: dict[str, str]) -> None:
        self.command, self.port, self.log, self.settings = command, port, log, settings
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as output:
            environment = {**os.environ, **self.settings}
            self.process = subprocess.Popen(
                self.command, env=environment, stdout=output, stderr=output, start_new_session=True
            )
        wait_for(self.port, self.process, self.log)

    def kill(self) -> int:
        """Kill the process and its children with SIGKILL, and return its pid."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        return self.process.pid


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START
    while process.poll() is None and time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    output = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
    raise RuntimeError(f"{process.args!r} does not listen:\n{output}")


def cpu_seconds(pids: Iterable[int]) -> float:
    """Return the user and system time of the processes and their children so far, without those that have ended."""
    spent = 0
    for pid in process_tree(pids):
        with suppress(OSError):
            spent += sum(map(int, stat_fields(pid)[11:13]))
    return spent / TICK


def scheduled_ms(pids: Iterable[int]) -> float:
    """Return the milliseconds that the processes and their children have run so far, precise enough for one request.

    The time of a child is lost when it ends.
    """
    spent = 0
    for pid in list(process_tree(pids)):
        for task in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            with suppress(OSError):
                spent += int(task.read_text().split()[0])
    return spent / 1e6


def resident_mb(pids: Iterable[int]) -> float:
    """Return the memory of the processes and their children in MB, without those that have ended."""
    pages = 0
    for pid in process_tree(pids):
        with suppress(OSError):
            pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * PAGE / 1e6


def peak_mb(pid: int) -> float:
    """Return the peak memory of a process in MB, or 0 for a process that has ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1_024 / 1e6
    return 0.0


def process_tree(pids: Iterable[int]) -> Iterator[int]:
    """Generate the pids, each with those of its children after it. Any of them may have ended meanwhile."""
    for pid in pids:
        yield pid
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            with suppress(OSError):
                yield from process_tree([*map(int, task.read_text().split())])


def stat_fields(pid: int) -> list[str]:
    """Return the fields of a process's /proc/PID/stat from its state on, which is field 3 in proc(5)."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


async def postmaster(dsn: str) -> int:
    """Return the pid of the postmaster of a Postgres on this machine."""
    connection = await asyncpg.connect(dsn)
    try:
        return int((await connection.fetchval("SELECT pg_read_file('postmaster.pid')")).splitlines()[0])
    finally:
        await connection.close()


def cluster_cpu_seconds(pid: int) -> float:
    """Return the user and system time of a Postgres so far, including its running and its ended backends."""
    running = cpu_seconds([pid])
    return running + sum(map(int, stat_fields(pid)[13:15])) / TICK


async def backends(dsn: str, name: str) -> list[int]:
    """Return the pids of the Postgres backends that serve one of the servers."""
    connection = await asyncpg.connect(dsn)
    try:
        rows = await connection.fetch("SELECT pid FROM pg_stat_activity WHERE application_name = $1 ORDER BY 1", name)
        return [row["pid"] for row in rows]
    finally:
        await connection.close()
