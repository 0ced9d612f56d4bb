"""Runs workers in their own processes, as `cairn worker` does."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess

import uvloop

from compiler.compiler import CAPS
from compiler.jobs.worker import work
from db.database import Database

from .costs import usual

FORKS = get_context("forkserver")
FORKS.set_forkserver_preload(["benchmarks.compiler.workers"])
IDLE = 0.01  # seconds until an idle worker looks for a job again


def run_worker(dsn: str, batch: int = CAPS.batch) -> None:
    """Run a worker until the process is killed."""
    uvloop.run(main(dsn, batch))


async def main(dsn: str, batch: int) -> None:
    database = Database(dsn, size=2)
    await database.open()
    await work(database, usual(caps=CAPS._replace(batch=batch)), idle=IDLE)


def started(dsn: str, batch: int = CAPS.batch) -> ForkServerProcess:
    process = FORKS.Process(target=run_worker, args=(dsn, batch), daemon=True)
    process.start()
    return process


@contextmanager
def working(dsn: str, count: int) -> Iterator[list[ForkServerProcess]]:
    """Run `count` workers until the block ends."""
    processes = [started(dsn) for _ in range(count)]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.join()


async def killed(process: ForkServerProcess) -> None:
    """Kill a worker with SIGKILL, which it cannot catch."""
    process.kill()
    await asyncio.to_thread(process.join)
