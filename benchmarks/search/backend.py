"""Connects to Postgres and measures the CPU time of its processes, as Linux counts it."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType

from db.database import Database

MOMENT = 0.00005  # seconds


@dataclass(slots=True)
class Spent:
    """Milliseconds of CPU in Postgres, and of elapsed time."""

    processor: float = 0.0
    wall: float = 0.0


@contextmanager
def watched(processor: Callable[[], float]) -> Iterator[Spent]:
    """Yield the cost of the block, which is set when the block ends. `processor` returns CPU milliseconds."""
    spent = Spent()
    before, started = processor(), time.perf_counter()
    yield spent
    spent.wall = (time.perf_counter() - started) * 1000
    spent.processor = processor() - before


def processor_of(*pids: int) -> Callable[[], float]:
    """Return a function that reads the CPU milliseconds of the processes since they began.

    Linux adds the time of a process only when it stops running, and Postgres works on after its response, so the
    function waits until each process is idle.
    """
    clocks = [partial(settled, Path(f"/proc/{pid}")) for pid in pids]
    return lambda: sum(clock() for clock in clocks)


def settled(process: Path) -> float:
    while (process / "stat").read_text().rpartition(")")[2].split()[0] == "R":
        time.sleep(MOMENT)
    return int((process / "schedstat").read_text().split()[0]) / 1e6


class Backend:
    """A database with pools of one connection, so that every statement of a call runs in a process that is measured."""

    def __init__(self, dsn: str) -> None:
        self.database = Database(dsn, size=1, statement_timeout=600)
        self.processor: Callable[[], float] = processor_of()

    async def __aenter__(self) -> "Backend":
        await self.database.open()
        async with self.database.connection() as writes, self.database.searching() as reads:
            self.processor = processor_of(writes.raw.get_server_pid(), reads.raw.get_server_pid())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        at: TracebackType | None) -> None:  # fmt: skip
        await self.database.close()

    def watched(self) -> AbstractContextManager[Spent]:
        """Measure the cost of a block in the Postgres processes."""
        return watched(self.processor)
