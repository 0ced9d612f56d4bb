"""What is not counted but looked at: caches, pools, memory, the event loop. Twice a second, in each process."""

import asyncio
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from db.database import Database
from selection import Engine

from . import names
from .numbers import Numbers

BEAT = 0.5  # seconds
PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")
STATM = Path("/proc/self/statm")


class Facts:
    """`subscriptions` says how many there are; whoever serves them puts it in place."""

    def __init__(self, numbers: Numbers, engine: Engine, database: Database) -> None:
        self.numbers, self.engine, self.database = numbers, engine, database
        self.subscriptions: Callable[[], int] = lambda: 0

    async def beat(self) -> None:
        """Until cancelled."""
        while True:
            began = time.perf_counter()
            await asyncio.sleep(BEAT)
            self.numbers.observe(names.LAG_SECONDS, seconds=max(0.0, time.perf_counter() - began - BEAT))
            self.look()

    def look(self) -> None:
        numbers = self.numbers
        documents = self.engine.documents
        numbers.set(names.DOCUMENTS, value=len(documents.entries))
        tallies = {"documents": documents.tally, "plans": self.engine.plans}
        for cache, tally in tallies.items():
            numbers.set(names.LOOKUPS, cache, "hit", value=tally.hits)
            numbers.set(names.LOOKUPS, cache, "miss", value=tally.misses)
            numbers.set(names.EVICTIONS, cache, value=tally.evictions)
        for pool, facts in self.database.pools().items():
            numbers.set(names.CONNECTIONS, pool, "idle", value=facts.idle)
            numbers.set(names.CONNECTIONS, pool, "used", value=facts.size - facts.idle)
            numbers.set(names.WAITING, pool, value=facts.waiting)
        numbers.set(names.SUBSCRIPTIONS, value=self.subscriptions())
        numbers.set(names.PROCESSES, value=1.0)
        numbers.set(names.CPU_SECONDS, value=time.process_time())
        numbers.set(names.MEMORY, value=resident())


def resident() -> float:
    """Bytes; none where the system does not say."""
    with suppress(OSError, ValueError, IndexError):
        return float(STATM.read_text().split()[1]) * PAGE_SIZE
    return 0.0
