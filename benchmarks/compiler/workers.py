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

from .costs import default_compiler

FORKS = get_context("forkserver")
FORKS.set_forkserver_preload(["benchmarks.compiler.workers"])
IDLE = 0.01  # seconds until an idle worker looks for a job again


def run_worker(dsn: str, batch: int = CAPS.batch) -> None:
    """Run a worker until the process is killed."""
    uvloop.run(main(dsn, batch))


async def main(dsn: str, batch: int) -> None:
    database = Database(dsn, size=2)
    await database.open()
    await work(database, default_compiler(caps=CAPS._replace(batch=batch)), idle=IDLE)


def start_worker(dsn: str, batch: int = CAPS.batch) -> ForkServerProcess:
    process = FORKS.Process(target=run_worker, args=(dsn, batch), daemon=True)
    process.start()
    return process


@contextmanager
def running_workers(dsn: str, count: int) -> Iterator[list[ForkServerProcess]]:
    """Run `count` workers until the block ends."""
    processes = [start_worker(dsn) for _ in range(count)]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.join()


async def kill_worker(process: ForkServerProcess) -> None:
    """Kill a worker with SIGKILL, which it cannot catch."""
    process.kill()
    await asyncio.to_thread(process.join)
