"""One replica: its connections, how far it is behind, and whether it may answer reads now.

It is watched over a connection of its own, beside its pool. How far it is behind is measured by the primary alone, as
clocks of machines differ: every half second the primary is asked for its position, and the replica until it has that.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from time import monotonic
from typing import NamedTuple

import asyncpg

from lib.deadlines import wait_for_event

from ..breaker import Probe
from ..pool import OUTDATED, Exhausted, Pool, is_lost
from ..sql import statements

log = logging.getLogger(__name__)
SQL = statements("operations/replicas")
EVERY = 0.5  # seconds between two looks at a server that has all
SOONEST, SOON, SELDOM = 0.002, 0.02, 0.25  # seconds to the next look: the first, while requests wait, while none does
SILENT = 4.0  # seconds without a position of the primary from which on nobody knows how far a replica is behind
FAR = 2**30  # bytes of log beyond the last known position of the primary, which nobody has been given
PENDING = 600  # positions that are kept until a replica has them
PAUSE, PAUSE_MOST = 0.25, 30.0  # seconds before one that failed is tried again: first, and in the end
STEADY = 60.0  # seconds of service after which a failure is the first one again
OF_STATEMENT = ("22", "54")  # what the primary would say of it too: of its values, and of its size
CONFLICT = "40"

Connect = Callable[[], Awaitable[asyncpg.Connection]]


class Sample(NamedTuple):
    """A position of the primary, and a moment before which everything up to it was committed."""

    position: int
    at: float


class Waiter(NamedTuple):
    """A request that waits until one of the replicas that it waits for has a position."""

    position: int
    future: asyncio.Future[None]


async def first_to_reach(replicas: "Sequence[Replica]", position: int, seconds: float) -> "Replica | None":
    """Return the first of these replicas to have a position within that time, or None."""
    able = [one for one in replicas if one.may_reach(position, seconds)]
    if not able:
        return None
    waiter = Waiter(position, asyncio.get_running_loop().create_future())
    for one in able:
        one.waiting.append(waiter)
        one.wake_up.set()
    with suppress(TimeoutError):
        try:
            async with asyncio.timeout(seconds):
                await waiter.future
        finally:
            for one in able:
                one.waiting.remove(waiter)
    return next((one for one in able if position <= one.replayed), None)


class NoReplica(Exception):
    """The server is there, and cannot answer reads for the primary. The message says why."""


class Replica:
    """A replica that serves while it is at most `bound` seconds behind and does not fail. `aside` says why it does not
    serve, and is None while it may; `last_chosen` is the number of the last request that it was chosen for.

    For gauges and counters: `lag` in seconds, and `reads` that it has answered.
    """

    def __init__(self, name: str, connect: Connect, dial: Connect, *, size: int, queue: int, bound: float) -> None:
        """`connect` makes the connections for reads, and `dial` the one over which it is watched."""
        self.name, self.bound = name, bound
        self.pool, self.probe = Pool(connect, size=size, queue=queue), Probe(dial)
        self.unavailable: str | None = "it was not reached yet"
        self.replayed = self.primary_position = self.reads = self.last_chosen = 0
        self.cluster_id: int | None = None
        self.pending: deque[Sample] = deque()
        self.sampled = self.admitted = monotonic()
        self.waiting: list[Waiter] = []
        self.is_primary_known, self.wake_up = asyncio.Event(), asyncio.Event()
        self.doubt: str | None = None
        self.pause = PAUSE
        self.was_late = False

    # -- for requests

    @property
    def serves(self) -> bool:
        """Return whether reads may go there."""
        return self.unavailable is None and self.lag <= self.bound

    @property
    def lag(self) -> float:
        """Return for how many seconds the primary has had something that is not here, as far as known."""
        now = monotonic()
        if self.pending:
            return now - self.pending[0].at
        return silence if (silence := now - self.sampled) > SILENT else 0.0

    @property
    def load(self) -> int:
        return len(self.pool.lent) + len(self.pool.waiting)

    def may_reach(self, position: int, seconds: float) -> bool:
        """Return whether it is worth waiting that long for a position. Nobody waits for what will not come in time,
        nor for a position that nobody was given, nor where others wait for every connection."""
        return self.lag <= seconds and position <= self.primary_position + FAR and len(self.waiting) < self.pool.size

    def fail(self, error: Exception) -> str | None:
        """Return why a statement is for the primary, in one of a few words; None for an error that it would answer too.

        A connection that broke, or a server in want of something, is not asked again before it was looked at.
        """
        if isinstance(error, Exhausted):
            return "busy"
        state = (error.sqlstate or "") if isinstance(error, asyncpg.PostgresError) else None
        if state is not None and (state == "57014" or state.startswith(OF_STATEMENT)):
            return None
        if state is not None and state.startswith(CONFLICT):
            return "conflict"
        if isinstance(error, OUTDATED):
            return "failed"
        if state is None and not (is_lost(error) or isinstance(error, TimeoutError)):
            return None
        if self.unavailable is None:
            self.doubt = type(error).__name__
            self.set_aside(self.doubt)
            self.wake_up.set()
        return "failed"

    # -- for those who watch it

    def record_primary_position(self, sample: Sample, cluster_id: int) -> None:
        """Take note of a position that the primary had."""
        if (
            sample.position < self.primary_position
        ):  # another server has taken over, or was restored: the rest will not come
            self.pending = deque(one for one in self.pending if one.position <= sample.position)
        self.cluster_id, self.primary_position, self.sampled = cluster_id, sample.position, monotonic()
        self.is_primary_known.set()
        if sample.position > self.replayed:
            if len(self.pending) >= PENDING:
                self.pending.pop()  # not the first, which tells the lag
            self.pending.append(sample)
            self.wake_up.set()

    async def watch(self) -> None:
        """Follow the replica for as long as it is one, and begin again after a pause, until cancelled."""
        while True:
            try:
                await self.follow()
            except Exception as error:
                self.set_aside(str(error) or type(error).__name__)
                if not isinstance(error, NoReplica):
                    self.pool.terminate_lent()
            await asyncio.sleep(self.pause)
            self.pause = min(2 * self.pause, PAUSE_MOST)

    async def follow(self) -> None:
        """Look how far the replica is. Returns when a request met a failure; raises why it cannot be one."""
        await self.is_primary_known.wait()
        self.doubt = None
        (cluster_id,) = await self.probe.ask(SQL["find_cluster"].sql)
        if cluster_id != self.cluster_id:
            raise NoReplica("it has another database than the primary")
        pause = SOONEST
        while self.doubt is None:
            self.wake_up.clear()
            await self.update_position()
            self.admit()
            is_behind = bool(self.pending or self.waiting)
            pause = min(2 * pause, SOON if self.waiting else SELDOM) if is_behind else SOONEST
            if await wait_for_event(self.wake_up, pause if is_behind else EVERY):
                pause = SOONEST

    async def update_position(self) -> None:
        """Ask for the position, and tell those who wait for it."""
        follows, replayed = await self.probe.ask(SQL["find_replayed"].sql)
        if not follows:
            raise NoReplica("it takes writes itself")
        self.replayed = replayed or 0
        while self.pending and self.pending[0].position <= self.replayed:
            self.pending.popleft()
        for waiter in self.waiting:
            if waiter.position <= self.replayed and not waiter.future.done():
                waiter.future.set_result(None)
        is_late = self.lag > self.bound
        if is_late != self.was_late:
            self.was_late = is_late
            (log.warning if is_late else log.info)(
                "%s is %.1f seconds behind: it %s.", self.name, self.lag, "serves no reads" if is_late else "serves"
            )

    def admit(self) -> None:
        if self.unavailable is not None and self.doubt is None:
            self.unavailable, self.admitted = None, monotonic()
            self.pool.cut(False)
            log.info("%s serves reads.", self.name)

    def set_aside(self, reason: str) -> None:
        """Serve no reads for now; those that wait for a connection go to the primary."""
        if self.unavailable is None and monotonic() - self.admitted > STEADY:
            self.pause = PAUSE
        if self.unavailable != reason:
            log.warning("%s serves no reads: %s", self.name, reason)
        self.unavailable = reason
        self.pool.cut(True)

    async def close(self) -> None:
        self.probe.hang_up()
        await self.pool.close()
