"""Servers in processes of their own, and the time that the processor spends on them, as Linux counts it in /proc."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import asyncpg

TICK = os.sysconf("SC_CLK_TCK")
START = 30  # seconds that a server is given to listen
CAIRN = ["-c", "from app.cli import main; main()", "serve"]
FLOOR = ["-m", "benchmarks.floor"]


@dataclass(frozen=True)
class Server:
    """A running server; its name is also that of its connections in Postgres."""

    name: str
    url: str
    pid: int


@contextmanager
def started(name: str, command: list[str], settings: dict[str, str]) -> Iterator[Server]:
    """A server until the block ends. It writes its log as ever, to nowhere."""
    port = free_port()
    environment = os.environ | settings | {"CAIRN_PORT": str(port)}
    quiet = subprocess.DEVNULL
    process = subprocess.Popen([sys.executable, *command], env=environment, stdout=quiet, stderr=quiet)
    try:
        wait_for(port, process)
        yield Server(name, f"http://127.0.0.1:{port}", process.pid)
    finally:
        process.terminate()
        process.wait(START)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    last = time.monotonic() + START
    while process.poll() is None and time.monotonic() < last:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise RuntimeError(f"{process.args!r} does not listen")


def cpu_seconds(pids: Iterable[int]) -> float:
    """User and system time of the processes and their children, so far."""
    return sum(ticks(pid) for pid in tree(pids)) / TICK


def tree(pids: Iterable[int]) -> Iterator[int]:
    for pid in pids:
        yield pid
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            yield from tree(map(int, task.read_text().split()))


def ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


async def backends(dsn: str, name: str) -> list[int]:
    """The processes of Postgres that serve one of the servers."""
    connection = await asyncpg.connect(dsn)
    try:
        rows = await connection.fetch("SELECT pid FROM pg_stat_activity WHERE application_name = $1", name)
        return [row["pid"] for row in rows]
    finally:
        await connection.close()
