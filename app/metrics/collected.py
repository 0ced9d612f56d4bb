"""The metrics of one process of the service, and the way to those of all."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from db.database import Database
from selection import Engine

from .facts import Facts
from .jobs import Queue
from .numbers import Numbers, Series, of_all
from .recorder import Recorder


class Metrics:
    """`folder` is where processes that serve together add up; one that serves alone needs none."""

    def __init__(self, engine: Engine, database: Database, folder: Path | None = None) -> None:
        self.folder = folder
        self.numbers = Numbers(folder)
        self.recorder = Recorder(self.numbers)
        self.facts = Facts(self.numbers, engine, database)
        self.queue = Queue(database)

    def series(self) -> Iterable[Series]:
        """Of all processes, this one as it is at this moment and the others as they were half a second ago."""
        self.facts.look()
        return self.numbers.series() if self.folder is None else of_all(self.folder)

    async def of_service(self) -> list[Series]:
        return await self.queue.series()

    @asynccontextmanager
    async def looking(self) -> AsyncIterator[None]:
        """While the process serves."""
        self.facts.look()
        beating = asyncio.create_task(self.facts.beat())
        try:
            yield
        finally:
            beating.cancel()
            with suppress(asyncio.CancelledError):
                await beating
            self.numbers.close()
