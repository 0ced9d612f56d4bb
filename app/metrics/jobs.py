"""How long the queue of compile jobs is: asked of Postgres, and at most once a minute."""

import asyncio
import time
from collections.abc import Iterator

import structlog

from db.database import Database
from resolvers.jobs.queue import OpenJobs, count_open_jobs

from . import names
from .numbers import Series

log = structlog.get_logger()
LASTS = 60.0  # seconds
PATIENCE = 5.0


class Queue:
    """The last answer, and when it was given."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.found: OpenJobs | None = None
        self.asked = -LASTS
        self.turn = asyncio.Lock()

    async def series(self) -> list[Series]:
        """Nothing while Postgres does not answer: the other numbers are needed most then."""
        async with self.turn:
            if time.monotonic() - self.asked >= LASTS:
                self.asked, self.found = time.monotonic(), await self.ask()
        return list(shown(self.found)) if self.found else []

    async def ask(self) -> OpenJobs | None:
        try:
            async with asyncio.timeout(PATIENCE):
                return await count_open_jobs(self.database)
        except Exception as error:
            log.warning("the queue of jobs was not counted", error=type(error).__name__)
            return None


def shown(found: OpenJobs) -> Iterator[Series]:
    yield Series(names.JOBS, ("pending",), [found.pending])
    yield Series(names.JOBS, ("running",), [found.running])
    yield Series(names.OLDEST_JOB, (), [found.oldest])
