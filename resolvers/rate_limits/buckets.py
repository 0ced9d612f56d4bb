"""Token buckets: tokens come at a rate and are taken, and the share of a process in a common bucket."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextvars import Context
from dataclasses import dataclass
from typing import NamedTuple

import structlog


class Rate(NamedTuple):
    """Tokens a second, and how many a bucket holds: what may be taken at once after a rest."""

    per_second: float
    burst: float

    def portion(self) -> float:
        """Return what a process takes at a time: as much as comes in a second, and a small part of the whole."""
        return max(1.0, min(self.per_second, self.burst / 10))


@dataclass
class Bucket:
    """`tokens` lay in it at the moment `at`, in seconds of any clock that does not go backwards."""

    rate: Rate
    tokens: float
    at: float

    def level(self, now: float) -> float:
        return min(self.rate.burst, self.tokens + max(0.0, now - self.at) * self.rate.per_second)

    def take(self, wanted: float, owed: float, now: float) -> float:
        """Take as many of the wanted as there are, once what is owed is paid: that may leave less than nothing."""
        level = self.level(now) - owed
        taken = min(wanted, max(0.0, level))
        self.tokens, self.at = level - taken, now
        return taken


log = structlog.get_logger()
LEASE_TIMEOUT = 0.25  # seconds that a lease may take; then the process goes by what it knows
SHORTEST, LONGEST = 0.02, 1.0  # seconds between two questions for a bucket that is empty


class Lease(NamedTuple):
    """A lease of tokens: `given` to this process, and `left` for others."""

    given: float
    left: float


Ask = Callable[[float, float], Awaitable[Lease]]
"""(wanted, owed)"""


class Share:
    """One bucket, as this process sees it."""

    def __init__(self, rate: Rate, ask: Ask, clock: Callable[[], float] = time.monotonic) -> None:
        """`ask` takes what is owed out of the shared bucket, and as many as there are of the wanted, or raises."""
        self.rate, self.ask, self.clock = rate, ask, clock
        self.portion = self.ahead = rate.portion()
        self.few = self.portion / 2
        self.tokens = 0.0
        self.common = Bucket(rate, rate.burst, clock())
        self.own = Bucket(rate, rate.burst, clock())
        self.asks_again = 0.0
        self.leasing: asyncio.Task[None] | None = None

    def covers(self, cost: float) -> bool:
        """Return whether so much may be spent now. More than a full bucket needs a full one, and leaves a debt."""
        left = self.tokens + self.ahead
        return left >= cost or left >= self.rate.burst

    def spend(self, cost: float) -> None:
        self.tokens -= cost
        if self.tokens < self.few:
            self.renew(0)

    async def fetch(self, cost: float) -> None:
        """Lease until it covers the cost or the bucket has no more. The lease that is on its way may be for less."""
        for _ in range(2):
            task = self.renew(cost)
            if task is None:
                return
            await asyncio.wait({task}, timeout=LEASE_TIMEOUT)
            if self.covers(cost):
                return

    def renew(self, cost: float) -> asyncio.Task[None] | None:
        """Start a lease: one at a time, and none while the bucket is known to be empty."""
        if self.leasing is None and self.clock() >= self.asks_again:
            wanted = min(self.rate.burst, cost + self.portion - max(0.0, self.tokens))
            self.leasing = asyncio.create_task(
                self.lease(wanted, max(0.0, -self.tokens)), context=Context()
            )  # it is of nobody's request
        return self.leasing

    async def lease(self, wanted: float, owed: float) -> None:
        try:
            lease = await self.acquire_lease(wanted, owed)
        finally:
            self.leasing = None
        self.tokens += owed + lease.given
        self.common = Bucket(self.rate, lease.left, self.clock())
        is_dry = lease.given < wanted
        self.ahead = 0.0 if is_dry else self.portion
        pause = min(LONGEST, max(SHORTEST, self.few / self.rate.per_second)) if is_dry else 0.0
        self.asks_again = self.clock() + pause

    async def acquire_lease(self, wanted: float, owed: float) -> Lease:
        """Lease from the shared bucket or, if that cannot be asked, from one that only this process has."""
        try:
            async with asyncio.timeout(LEASE_TIMEOUT):
                return await self.ask(wanted, owed)
        except Exception as error:
            log.warning("throttling by this process alone", reason=type(error).__name__)
            now = self.clock()
            return Lease(self.own.take(wanted, owed, now), self.own.level(now))

    def remaining(self) -> float:
        """Return what is left of the whole bucket, as far as this process knows."""
        return max(0.0, min(self.rate.burst, self.common.level(self.clock()) + self.tokens))

    def wait(self, cost: float) -> float:
        """Return the seconds until so much may be there."""
        lacks = min(cost, self.rate.burst) - self.common.level(self.clock()) - self.tokens
        return max(0.0, lacks / self.rate.per_second)
