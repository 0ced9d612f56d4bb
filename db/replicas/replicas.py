"""The replicas of a service: which one answers a read, and the primary where none can."""

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
POSITION_TIMEOUT = 2.0  # seconds for the primary to tell its position to somebody who has written
FIND_POSITION = SQL["find_position"].sql


class ReplicaSettings(NamedTuple):
    """The replicas, by their DSNs. Reads go to none that is more than `max_lag` seconds behind, and wait `wait` seconds
    for one to have what their client has seen."""

    dsns: Sequence[str] = ()
    max_lag: float = 10.0
    wait: float = 0.5


class Replicas:
    """The replicas, and the pools of the primary: `reads` answers what they cannot, `writes` tells positions.

    For counters: `on_primary` are the reads that the primary has answered, and `fallbacks` those of them that were
    meant for a replica, by why it was none: `aside`, `position`, `busy`, `conflict` or `failed`.
    """

    def __init__(self, members: Sequence[Replica], *, reads: Pool, writes: Pool, probe: Probe, wait: float) -> None:
        """`probe` asks the primary, however busy it is."""
        self.members, self.reads, self.writes, self.probe, self.wait = members, reads, writes, probe, wait
        self.on_primary = 0
        self.choices = count(1)
        self.fallbacks: Counter[str] = Counter()
        self.running: asyncio.Task[int] | None = None
        self.queued: asyncio.Task[int] | None = None
        self.watching = [asyncio.create_task(work) for work in (self.sample(), *(one.watch() for one in members))]

    # -- reads

    async def read(self, work: Callable[[asyncpg.Connection], Awaitable[T]]) -> T:
        """Return what `work` returns, which reads, on a replica or else on the primary."""
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
        """Return the replica that answers this request, all of it the same one, or None."""
        if route.replica is None:
            serving = [one for one in self.members if one.serves]
            if len(serving) > 1:
                serving.sort(key=lambda one: (one.load, one.last_chosen))
            has_it = next((one for one in serving if route.wanted <= one.replayed), None)
            if has_it is None and serving:
                has_it = await first_to_reach(serving, route.wanted, self.wait)
            if has_it is None:
                self.fall_back(route, "position" if serving else "aside")
                return None
            route.replica = route.replica or has_it
            has_it.last_chosen = next(self.choices)
        if not route.replica.serves:
            self.fall_back(route, "aside")
            return None
        return route.replica

    def fall_back(self, route: Route, cause: str) -> None:
        """Read the rest of a request on the primary, which has what any replica has shown."""
        route.is_open = False
        self.fallbacks[cause] += 1

    # -- positions

    async def position(self) -> int:
        """Return a position that all lies before that was committed before the call: UNKNOWN where nobody can tell.

        Who asks while another is being answered shares the next answer with all that do.
        """
        if self.queued is None:
            self.queued = asyncio.create_task(self.ask_after(self.running), context=Context())
        return await asyncio.shield(self.queued)

    async def ask_after(self, running: "asyncio.Task[int] | None") -> int:
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
        """Ask the primary where it is, again and again until cancelled."""
        while True:
            at = monotonic()
            with suppress(Exception):  # whoever asks it for more is told, and without a position no replica serves long
                position, cluster_id = await self.probe.ask(FIND_POSITION)
                for one in self.members:
                    one.record_primary_position(Sample(position, at), cluster_id)
            await asyncio.sleep(EVERY)

    async def close(self) -> None:
        for task in self.watching:
            task.cancel()
        await asyncio.gather(*self.watching, return_exceptions=True)
        await asyncio.gather(*(one.close() for one in self.members))


async def run_on(pool: Pool, work: Callable[[asyncpg.Connection], Awaitable[T]]) -> T:
    """Return what `work` returns on a connection of the pool. Each read passes here: a generator would take longer."""
    connection = await pool.check_out()
    try:
        answer = await work(connection)
    except BaseException as error:
        pool.release(connection, error)
        raise
    pool.release(connection)
    return answer


class SingleReads:
    """A stand-in for a connection on which each statement is a read by itself, of a replica or of the primary."""

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
