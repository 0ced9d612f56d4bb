"""Rate limits of a credential and its tenant, in rows a minute and at once, shared by all transports and processes.

Each has a token bucket in the database: tokens come at a rate and are taken. A process leases a share of them.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from math import ceil
from types import TracebackType
from typing import Any, NamedTuple
from uuid import UUID

import structlog

from db.database import Database
from db.scope import Scope
from db.sql import statements
from lib.lru import LRU
from selection.errors import RequestRejected

from .errors import CairnError

log = structlog.get_logger()
THROTTLES = statements("access/throttles")
KNOWN = 10_000  # credentials, and tenants, that a process remembers
OF_THE_TENANT = ""
LEASE_TIMEOUT = 0.25  # seconds that a lease may take; then the process goes by what it knows
SHORTEST, LONGEST = 0.02, 1.0  # seconds between two questions for a bucket that is empty


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
            log.warning("rate limits are enforced by this process alone", reason=type(error).__name__)
            now = self.clock()
            return Lease(self.own.take(wanted, owed, now), self.own.level(now))

    def remaining(self) -> float:
        """Return what is left of the whole bucket, as far as this process knows."""
        return max(0.0, min(self.rate.burst, self.common.level(self.clock()) + self.tokens))

    def wait(self, cost: float) -> float:
        """Return the seconds until so much may be there."""
        lacks = min(cost, self.rate.burst) - self.common.level(self.clock()) - self.tokens
        return max(0.0, lacks / self.rate.per_second)


class Throttled(CairnError, RequestRejected):
    """An error with `retry_after` in whole seconds, one at least."""

    code = "THROTTLED"

    def __init__(self, message: str, retry_after: float) -> None:
        self.retry_after = max(1, ceil(retry_after))
        super().__init__(f"{message} Try again in {self.retry_after} s.")

    @property
    def extensions(self) -> dict[str, Any]:
        return {"code": self.code, "retryAfter": self.retry_after}


class Allowance(NamedTuple):
    """The rows that may be asked for. `resets_at`: full again if nothing is asked until then."""

    limit: int
    remaining: int
    resets_at: datetime


class Account:
    """One credential at work: `with` it for as long as a request runs."""

    def __init__(self, shares: tuple[Share, ...], max_concurrent: int) -> None:
        self.shares, self.max_concurrent, self.running = shares, max_concurrent, 0

    def __enter__(self) -> "Account":
        if 0 < self.max_concurrent <= self.running:
            raise Throttled(f"This credential has {self.running} requests running, as many as it may have at once.", 1)
        self.running += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.running -= 1

    async def take(self, cost: int) -> None:
        """Pay for so many rows before they are read, or be Throttled."""
        if not self.covers(cost):
            await self.fetch(cost)
        self.owe(cost)

    def covers(self, cost: int) -> bool:
        for share in self.shares:  # noqa: SIM110  asked for each request, and all() takes longer
            if not share.covers(cost):
                return False
        return True

    async def fetch(self, cost: int) -> None:
        """Lease what is missing, as far as it is there."""
        for share in self.shares:
            if not share.covers(cost):
                await share.fetch(cost)
        if not self.covers(cost):
            wait = max(share.wait(cost) for share in self.shares)
            few = "No row is left now." if cost <= 1 else f"This asks for {cost} rows, more than are left now."
            raise Throttled(few, wait)

    def owe(self, cost: int) -> None:
        """Pay for what is done in any case; whoever asks next waits for it."""
        for share in self.shares:
            share.spend(cost)

    def allowance(self) -> Allowance | None:
        """Return the allowance of the bucket that holds the least; None where there is no limit."""
        if not self.shares:
            return None
        share = min(self.shares, key=Share.remaining)
        remaining = share.remaining()
        full = timedelta(seconds=(share.rate.burst - remaining) / share.rate.per_second)
        return Allowance(int(share.rate.burst), int(remaining), datetime.now(UTC) + full)


class Throttle:
    """The accounts of all who ask here."""

    def __init__(self, database: Database, *, credential: Rate, tenant: Rate, max_concurrent: int) -> None:
        """A rate of 0 a second, and 0 at once, are no limit."""
        self.database, self.credential, self.tenant = database, credential, tenant
        self.max_concurrent = max_concurrent
        self.accounts: LRU[Account] = LRU(KNOWN)
        self.tenants: LRU[tuple[Share, ...]] = LRU(KNOWN)
        self.forgetting: set[asyncio.Task[None]] = set()

    def account(self, scope: Scope) -> Account:
        return self.accounts.get(scope.credential) or self.accounts.put(scope.credential, self.open(scope))

    def open(self, scope: Scope) -> Account:
        subject = f"{scope.actor.kind}:{scope.actor.id}"
        own = self.shares(scope.tenant_id, subject, self.credential)
        common = self.tenants.get_or_create(scope.tenant_id, partial(self.met, scope.tenant_id))
        return Account((*own, *common), self.max_concurrent)

    def met(self, tenant_id: UUID) -> tuple[Share, ...]:
        """Return the shares of a tenant that this process has not served yet, or not for long."""
        if self.credential.per_second:
            task = asyncio.create_task(self.forget(tenant_id), context=Context())
            self.forgetting.add(task)
            task.add_done_callback(self.forgetting.discard)
        return self.shares(tenant_id, OF_THE_TENANT, self.tenant)

    def shares(self, tenant_id: UUID, subject: str, rate: Rate) -> tuple[Share, ...]:
        return (Share(rate, partial(self.lease, tenant_id, subject, rate)),) if rate.per_second else ()

    async def lease(self, tenant_id: UUID, subject: str, rate: Rate, wanted: float, owed: float) -> Lease:
        async with self.database.connection() as connection:
            row = await connection.one(
                THROTTLES["lease_tokens"],
                tenant_id=tenant_id,
                subject=subject,
                wanted=wanted,
                owed=owed,
                burst=rate.burst,
                per_second=rate.per_second,
            )
        assert row is not None
        return Lease(row["leased"], row["tokens"])

    async def forget(self, tenant_id: UUID) -> None:
        """Delete full buckets, which need not be kept. If that fails now, the next process to start will do it."""
        burst, rate = self.credential.burst, self.credential.per_second
        with suppress(Exception):
            async with self.database.connection() as connection:
                await connection.run(THROTTLES["forget_full"], tenant_id=tenant_id, burst=burst, per_second=rate)
