"""The replicas of a service. They choose the replica that answers a read, or the primary if none can."""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from contextvars import Context
from itertools import count
from time import monotonic
from typing import Any, NamedTuple, TypeVar

import asyncpg

from ..breaker import Probe
from ..pool import Pool
from .replica import EVERY, SQL, Replica, Sample, first_to_reach
from .routing import ROUTE, UNKNOWN, Route

log = logging.getLogger(__name__)
T = TypeVar("T")
POSITION_TIMEOUT = 2.0  # seconds for the primary to return its position after a write
FIND_POSITION = SQL["find_position"].sql


class ReplicaSettings(NamedTuple):
    """The settings of read replicas."""

    dsns: Sequence[str] = ()
    max_lag: float = 10.0
    """The lag in seconds beyond which a replica answers no reads."""
    wait: float = 0.5
    """The seconds for which a read waits for a replica to reach the position that the client has seen."""


class Replicas:
    """The replicas, with the primary for reads that no replica can answer."""

    def __init__(self, members: Sequence[Replica], *, reads: Pool, writes: Pool, probe: Probe, wait: float) -> None:
        """Watch the replicas from now on. `reads`, `writes` and `probe` are connections to the primary."""
        self.members = members
        self.reads = reads
        self.writes = writes
        self.probe = probe
        self.wait = wait
        self.on_primary = 0
        """A counter of the reads that the primary has answered."""
        self.fallbacks: Counter[str] = Counter()
        """The reads among them that a replica could have answered, by the reason why it did not.

        The reasons are `aside` (no replica serves reads), `position`, `busy`, `conflict` and `failed`.
        """
        self.choices = count(1)
        self.running: asyncio.Task[int] | None = None
        """The task that queries the position of the primary."""
        self.queued: asyncio.Task[int] | None = None
        """The task that queries it next, whose result all callers share that came in the meantime."""
        tasks = (self.sample(), *(replica.watch() for replica in members))
        self.watching = [asyncio.create_task(task) for task in tasks]

    # -- reads

    async def read(self, work: Callable[[asyncpg.Connection], Awaitable[T]]) -> T:
        """Run `work`, which reads, on a connection to a replica or the primary, and return its result."""
        route = ROUTE.get()
        replica = await self.choose(route) if route is not None and route.is_open else None
        if route is not None and replica is not None:
            try:
                answer = await run_on(replica.pool, work)
            except Exception as error:
                if (cause := replica.fail(error)) is None:
                    raise
                self.fall_back(route, cause)
            else:
                replica.reads += 1
                return answer
        self.on_primary += 1
        return await run_on(self.reads, work)

    async def choose(self, route: Route) -> Replica | None:
        """Return the replica that answers all reads of this request, or None for the primary."""
        if route.replica is None:
            serving = [replica for replica in self.members if replica.serves]
            if len(serving) > 1:
                serving.sort(key=lambda replica: (replica.load, replica.last_chosen))
            chosen = next((replica for replica in serving if route.wanted <= replica.replayed), None)
            if chosen is None and serving:
                chosen = await first_to_reach(serving, route.wanted, self.wait)
            if chosen is None:
                self.fall_back(route, "position" if serving else "aside")
                return None
            route.replica = route.replica or chosen
            chosen.last_chosen = next(self.choices)
        if not route.replica.serves:
            self.fall_back(route, "aside")
            return None
        return route.replica

    def fall_back(self, route: Route, cause: str) -> None:
        """Run all further reads of a request on the primary, which has everything that a replica has returned."""
        route.is_open = False
        self.fallbacks[cause] += 1

    # -- positions

    async def position(self) -> int:
        """Return a position of the primary after everything that was committed before the call, or UNKNOWN.

        Callers that come while a query is running share the result of the next query.
        """
        if self.queued is None:
            self.queued = asyncio.create_task(self.ask_after(self.running), context=Context())
        return await asyncio.shield(self.queued)

    async def ask_after(self, running: "asyncio.Task[int] | None") -> int:
        """Query the position of the primary when the running query has ended."""
        if running is not None:
            await asyncio.wait({running})
        self.running, self.queued = self.queued, None
        try:
            async with asyncio.timeout(POSITION_TIMEOUT), self.writes.acquire() as connection:
                position: int = await connection.fetchval(FIND_POSITION)
                return position
        except Exception as error:
            log.warning("The position of the primary is unknown: %s", type(error).__name__)
            return UNKNOWN

    async def sample(self) -> None:
        """Query the position of the primary periodically, for the lag of the replicas, until cancelled."""
        while True:
            at = monotonic()
            # Errors are ignored: requests get them, too, and without new positions the replicas soon serve no reads.
            with suppress(Exception):
                position, cluster_id = await self.probe.ask(FIND_POSITION)
                for replica in self.members:
                    replica.record_primary_position(Sample(position, at), cluster_id)
            await asyncio.sleep(EVERY)

    async def close(self) -> None:
        for task in self.watching:
            task.cancel()
        await asyncio.gather(*self.watching, return_exceptions=True)
        await asyncio.gather(*(replica.close() for replica in self.members))


async def run_on(pool: Pool, work: Callable[[asyncpg.Connection], Awaitable[T]]) -> T:
    """Run `work` on a connection of the pool. It uses no context manager because that is slower for each read."""
    connection = await pool.check_out()
    try:
        answer = await work(connection)
    except BaseException as error:
        pool.release(connection, error)
        raise
    pool.release(connection)
    return answer


class SingleReads:
    """A connection for reads, with the methods of asyncpg. Each statement runs on a replica or on the primary."""

    def __init__(self, replicas: Replicas) -> None:
        self.replicas = replicas

    async def fetch(self, sql: str, *arguments: Any) -> Any:
        return await self.replicas.read(lambda connection: connection.fetch(sql, *arguments))

    async def fetchrow(self, sql: str, *arguments: Any) -> Any:
        return await self.replicas.read(lambda connection: connection.fetchrow(sql, *arguments))

    async def fetchval(self, sql: str, *arguments: Any) -> Any:
        return await self.replicas.read(lambda connection: connection.fetchval(sql, *arguments))

    async def fetchmany(self, sql: str, arguments: Any) -> Any:
        return await self.replicas.read(lambda connection: connection.fetchmany(sql, arguments))
