"""A replica: its connections, its lag, and whether it may answer reads now.

A replica is watched over a separate connection. Its lag does not depend on the clocks of the servers: the position of
the primary is queried every half second, and that of the replica until it has replayed it.
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
from ..pool import OUTDATED, Pool, is_lost
from ..sql import statements
from ..waiters import Exhausted

log = logging.getLogger(__name__)
SQL = statements("operations/replicas")
EVERY = 0.5  # seconds between two queries of a server that is not behind
# Seconds between two queries of a replica that is behind: the first value, doubled up to the second while requests
# wait, or up to the third while none does.
SOONEST, SOON, SELDOM = 0.002, 0.02, 0.25
SILENT = 4.0  # seconds without a position of the primary after which the lag is unknown and counts as this silence
FAR = 2**30  # bytes of log beyond the last known position of the primary; no client can have got such a position
PENDING = 600  # number of positions of the primary that are kept until the replica has replayed them
PAUSE, PAUSE_MAX = 0.25, 30.0  # seconds before a failed replica is tried again: at first, and doubled at most
STEADY = 60.0  # seconds of service after which the pause after a failure is the first one again
OF_STATEMENT = ("22", "54")  # classes of SQLSTATE that the primary would return too: data errors and program limits
CONFLICT = "40"  # class of SQLSTATE of a read that conflicts with the replay of the log

Connect = Callable[[], Awaitable[asyncpg.Connection]]


class Sample(NamedTuple):
    """A position of the primary, and the time just before it was queried.

    What was committed up to that time is before the position.
    """

    position: int
    at: float


class Waiter(NamedTuple):
    """A request that waits until a replica has replayed a position."""

    position: int
    future: asyncio.Future[None]


async def first_to_reach(replicas: "Sequence[Replica]", position: int, seconds: float) -> "Replica | None":
    """Return the first of these replicas that replays a position within this time, or None."""
    candidates = [replica for replica in replicas if replica.may_reach(position, seconds)]
    if not candidates:
        return None
    waiter = Waiter(position, asyncio.get_running_loop().create_future())
    for replica in candidates:
        replica.waiting.append(waiter)
        replica.wake_up.set()
    with suppress(TimeoutError):
        try:
            async with asyncio.timeout(seconds):
                await waiter.future
        finally:
            for replica in candidates:
                replica.waiting.remove(waiter)
    return next((replica for replica in candidates if position <= replica.replayed), None)


class NoReplica(Exception):
    """Raised if the server answers but is no replica of the primary. The message says why."""


class Replica:
    """A replica. It answers reads while its lag is at most `bound` seconds and it does not fail."""

    def __init__(self, name: str, connect: Connect, dial: Connect, *, size: int, queue: int, bound: float) -> None:
        """Prepare the replica. `connect` opens a connection for reads, `dial` the one for watching."""
        self.name = name
        self.bound = bound
        self.pool = Pool(connect, size=size, queue=queue)
        self.probe = Probe(dial)
        self.unavailable: str | None = "it was not reached yet"
        """The reason why the replica serves no reads apart from its lag, or None."""
        self.replayed = 0
        """The position up to which the replica has replayed the log."""
        self.primary_position = 0
        """The last known position of the primary."""
        self.reads = 0
        """A counter of the reads that the replica has answered."""
        self.last_chosen = 0
        """The number of the last request that this replica was chosen for."""
        self.cluster_id: int | None = None
        """The system identifier of the primary, which a replica of it shares."""
        self.pending: deque[Sample] = deque()
        """Positions of the primary that the replica has not replayed, oldest first."""
        self.sampled = self.admitted = monotonic()
        """The times of the last position of the primary, and since when the replica has been available."""
        self.waiting: list[Waiter] = []
        self.is_primary_known = asyncio.Event()
        self.wake_up = asyncio.Event()
        """Set to query the replica at once."""
        self.doubt: str | None = None
        """The error of a read, after which the replica is checked again before it serves."""
        self.pause = PAUSE
        self.was_late = False

    # -- for requests

    @property
    def serves(self) -> bool:
        """Return whether reads may run on the replica."""
        return self.unavailable is None and self.lag <= self.bound

    @property
    def lag(self) -> float:
        """Return the lag in seconds, as far as it is known: the age of the oldest commit that is not replayed."""
        now = monotonic()
        if self.pending:
            return now - self.pending[0].at
        return silence if (silence := now - self.sampled) > SILENT else 0.0

    @property
    def load(self) -> int:
        return len(self.pool.lent) + len(self.pool.waiting)

    def may_reach(self, position: int, seconds: float) -> bool:
        """Return whether a request should wait this long for a position.

        It should not if the lag is too large, if no client can have got the position, or if as many requests wait as
        the pool has connections.
        """
        return self.lag <= seconds and position <= self.primary_position + FAR and len(self.waiting) < self.pool.size

    def fail(self, error: Exception) -> str | None:
        """Return why a statement has to run on the primary, or None if the primary would return the error too.

        The reason is a key of Replicas.fallbacks. After a lost connection or an error of the server, the replica serves
        no reads until it has been checked.
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

    # -- for the tasks that watch the replica

    def record_primary_position(self, sample: Sample, cluster_id: int) -> None:
        """Record a position of the primary."""
        # The position goes back if another server has taken over or was restored. Later positions are never replayed.
        if sample.position < self.primary_position:
            self.pending = deque(pending for pending in self.pending if pending.position <= sample.position)
        self.cluster_id, self.primary_position, self.sampled = cluster_id, sample.position, monotonic()
        self.is_primary_known.set()
        if sample.position > self.replayed:
            if len(self.pending) >= PENDING:
                self.pending.pop()  # not the first one, which determines the lag
            self.pending.append(sample)
            self.wake_up.set()

    async def watch(self) -> None:
        """Follow the replica, and again after a pause when that has failed, until cancelled."""
        while True:
            try:
                await self.follow()
            except Exception as error:
                self.set_aside(str(error) or type(error).__name__)
                if not isinstance(error, NoReplica):
                    self.pool.terminate_lent()
            await asyncio.sleep(self.pause)
            self.pause = min(2 * self.pause, PAUSE_MAX)

    async def follow(self) -> None:
        """Query the position of the replica periodically. Return when a read has failed. Raises NoReplica."""
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
        """Query the position up to which the replica has replayed the log, and wake the requests that wait for it."""
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
        """Serve reads again, unless one has failed since the last check."""
        if self.unavailable is not None and self.doubt is None:
            self.unavailable, self.admitted = None, monotonic()
            self.pool.cut(False)
            log.info("%s serves reads.", self.name)

    def set_aside(self, reason: str) -> None:
        """Serve no reads for now. Reads that wait for a connection run on the primary."""
        if self.unavailable is None and monotonic() - self.admitted > STEADY:
            self.pause = PAUSE
        if self.unavailable != reason:
            log.warning("%s serves no reads: %s", self.name, reason)
        self.unavailable = reason
        self.pool.cut(True)

    async def close(self) -> None:
        self.probe.hang_up()
        await self.pool.close()
