"""A circuit breaker: while Postgres does not answer at all, work is refused at once instead of waiting each for itself.

A server that is gone refuses connections, which is known at once. One that hangs, or a network that swallows packets,
is found by looking: connections are in use, none of them has been answered since the last look, and a question over a
connection of its own is not answered either.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any

import asyncpg

from .pool import Pool, is_lost

log = logging.getLogger(__name__)
EVERY = 1.0  # seconds between two looks
ANSWER_TIMEOUT = 2.0  # seconds that the server is given to answer

WRITE_TEMPORARY_FILE = """BEGIN; SET LOCAL work_mem = '64kB';
SELECT count(*) FROM (SELECT n FROM generate_series(1, 8192) AS n ORDER BY n DESC OFFSET 0) AS sorted; ROLLBACK"""
"""Sorts more than fits in memory, so that a file is written: no table grows, and no log of it is kept."""


class Probe:
    """One connection beside the pools, however busy those are, over which the server is asked how it is."""

    def __init__(self, connect: Callable[[], Awaitable[asyncpg.Connection]]) -> None:
        self.connect = connect
        self.connection: asyncpg.Connection | None = None
        self.lock = asyncio.Lock()

    async def ask(self, sql: str) -> Any:
        """Return the one row of a statement. Raises TimeoutError, or why there is none."""
        return await self.use(lambda connection: connection.fetchrow(sql))

    async def write(self) -> None:
        """Raise if the server cannot write a file now."""
        await self.use(lambda connection: connection.execute(WRITE_TEMPORARY_FILE))

    async def use(self, work: Callable[[asyncpg.Connection], Awaitable[Any]]) -> Any:
        async with asyncio.timeout(ANSWER_TIMEOUT), self.lock:
            if self.connection is None or self.connection.is_closed():
                self.connection = await self.connect()
            try:
                return await work(self.connection)
            except BaseException as error:
                if (
                    not isinstance(error, asyncpg.PostgresError)
                    or is_lost(error)
                    or self.connection.is_in_transaction()
                ):
                    self.hang_up()
                raise

    def hang_up(self) -> None:
        if self.connection is not None:
            self.connection.terminate()
            self.connection = None


class Breaker:
    """Cuts the pools off while the server does not answer. Then the probe alone asks on, until it is answered.

    What was sent before is given one more look to be answered. Then its connections are closed, so that nobody waits
    for them: neither a statement nor a COMMIT, of which nobody knows whether it was done.
    """

    def __init__(self, pools: Iterable[Pool], probe: Probe) -> None:
        self.pools, self.probe = list(pools), probe
        self.is_open = False
        self.watching = asyncio.create_task(self.watch())

    async def watch(self) -> None:
        answers = -1
        while True:
            await asyncio.sleep(EVERY)
            before, answers = answers, sum(pool.answers for pool in self.pools)
            if self.is_open or (answers == before and any(pool.is_in_use for pool in self.pools)):
                is_answered = await self.is_answered()
                if self.is_open and not is_answered:
                    for pool in self.pools:
                        pool.terminate_lent()
                self.switch(is_open=not is_answered)

    async def is_answered(self) -> bool:
        """Ask the server. An error is an answer too: whoever asks for more is told it at once."""
        try:
            await self.probe.ask("SELECT 1")
        except TimeoutError:
            return False
        except Exception:
            return True
        return True

    def switch(self, *, is_open: bool) -> None:
        if is_open is self.is_open:
            return
        self.is_open = is_open
        if is_open:
            log.error("The database does not answer: requests are refused until it does.")
        else:
            log.warning("The database answers again.")
        for pool in self.pools:
            pool.cut(is_open)

    async def close(self) -> None:
        self.watching.cancel()
        with suppress(asyncio.CancelledError):
            await self.watching
        self.probe.hang_up()
