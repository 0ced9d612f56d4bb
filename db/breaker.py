"""A circuit breaker: while Postgres does not answer at all, requests are refused at once instead of waiting.

A server that has stopped refuses connections, so requests fail at once anyway. A server that hangs, or a network that
drops packets, is detected by polling: connections are in use, none was released after an answer since the last check,
and a query over a separate connection is not answered either.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any

import asyncpg

from .pool import Pool, is_lost

log = logging.getLogger(__name__)
EVERY = 1.0  # seconds between two checks
ANSWER_TIMEOUT = 2.0  # seconds within which the server has to answer

WRITE_TEMPORARY_FILE = """BEGIN; SET LOCAL work_mem = '64kB';
SELECT count(*) FROM (SELECT n FROM generate_series(1, 8192) AS n ORDER BY n DESC OFFSET 0) AS sorted; ROLLBACK"""
"""A sort that does not fit in memory, so that Postgres writes a temporary file, but neither a table nor its log."""


class Probe:
    """A separate connection, which is independent of the pools' load, for checks of the server's condition."""

    def __init__(self, connect: Callable[[], Awaitable[asyncpg.Connection]]) -> None:
        self.connect = connect
        self.connection: asyncpg.Connection | None = None
        self.lock = asyncio.Lock()

    async def ask(self, sql: str) -> Any:
        """Return the only row of a statement. Raises TimeoutError, or the error of the connection or the statement."""
        return await self.use(lambda connection: connection.fetchrow(sql))

    async def write(self) -> None:
        """Raise an error if the server cannot write a temporary file."""
        await self.use(lambda connection: connection.execute(WRITE_TEMPORARY_FILE))

    async def use(self, work: Callable[[asyncpg.Connection], Awaitable[Any]]) -> Any:
        """Run `work` on the connection, which is opened if needed and terminated if it may be broken."""
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
    """Cuts off the pools while the server does not answer. Meanwhile only the probe queries it.

    Statements that were sent before have until the next check to be answered. Then their connections are terminated, so
    that no task waits any longer. The outcome of a COMMIT among them is unknown.
    """

    def __init__(self, pools: Iterable[Pool], probe: Probe) -> None:
        self.pools, self.probe = list(pools), probe
        self.is_open = False
        self.watching = asyncio.create_task(self.watch())

    async def watch(self) -> None:
        """Check the server every second until cancelled."""
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
        """Return whether the server answers a query. An error counts as an answer: requests get it at once, too."""
        try:
            await self.probe.ask("SELECT 1")
        except TimeoutError:
            return False
        except Exception:
            return True
        return True

    def switch(self, *, is_open: bool) -> None:
        """Open or close the breaker, and cut off the pools or reconnect them."""
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
