"""Rate limits of credentials and tenants, shared by all transports and processes.

Each credential and each tenant has a token bucket in the database; a token is a row that may be read. A process leases
tokens in portions and spends them in memory.
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
MAX_CACHED = 10_000  # credentials, and tenants, that a process remembers
TENANT_SUBJECT = ""
LEASE_TIMEOUT = 0.25  # seconds; after that the process uses a bucket of its own
MIN_PAUSE, MAX_PAUSE = 0.02, 1.0  # seconds between two leases from an empty bucket


class Rate(NamedTuple):
    """The refill rate of a bucket in tokens per second, and its capacity, `burst`."""

    per_second: float
    burst: float

    def portion(self) -> float:
        """Return how many tokens to lease at a time: those of a second, at most a tenth of the capacity, at least 1."""
        return max(1.0, min(self.per_second, self.burst / 10))


@dataclass
class Bucket:
    """A token bucket that held `tokens` at the time `at`, in seconds of any monotonic clock."""

    rate: Rate
    tokens: float
    at: float

    def level(self, now: float) -> float:
        return min(self.rate.burst, self.tokens + max(0.0, now - self.at) * self.rate.per_second)

    def take(self, wanted: float, owed: float, now: float) -> float:
        """Pay the owed tokens, then take up to `wanted` of the rest. The debt may leave the bucket below zero."""
        level = self.level(now) - owed
        taken = min(wanted, max(0.0, level))
        self.tokens, self.at = level - taken, now
        return taken


class Lease(NamedTuple):
    """The answer to a lease: the tokens `given` to this process, and the tokens `left` in the shared bucket."""

    given: float
    left: float


Ask = Callable[[float, float], Awaitable[Lease]]
"""A function of (wanted, owed) that leases tokens from the shared bucket."""


class Share:
    """The tokens that this process has leased from a shared bucket."""

    def __init__(self, rate: Rate, ask: Ask, clock: Callable[[], float] = time.monotonic) -> None:
        """`ask` takes the owed and up to the wanted tokens from the shared bucket, or raises."""
        self.rate, self.ask, self.clock = rate, ask, clock
        self.portion = rate.portion()
        self.credit = self.portion
        """The tokens that may be spent before they are leased; 0 while the shared bucket is known to be empty."""
        self.low_mark = self.portion / 2
        self.tokens = 0.0
        """The leased tokens that are left. A negative number is a debt, which the next lease pays."""
        self.shared = Bucket(rate, rate.burst, clock())
        """The shared bucket as of the last lease."""
        self.fallback = Bucket(rate, rate.burst, clock())
        """A bucket of this process alone, for when the database cannot be reached."""
        self.next_lease_at = 0.0
        self.leasing: asyncio.Task[None] | None = None

    def covers(self, cost: float) -> bool:
        """Return whether the cost may be spent now. A cost above the burst needs a full bucket, and leaves a debt."""
        left = self.tokens + self.credit
        return left >= cost or left >= self.rate.burst

    def spend(self, cost: float) -> None:
        self.tokens -= cost
        if self.tokens < self.low_mark:
            self.renew(0)

    async def fetch(self, cost: float) -> None:
        """Lease tokens for the cost, as far as the bucket has them.

        It takes up to two leases, because a lease that is already running may be for fewer tokens.
        """
        for _ in range(2):
            task = self.renew(cost)
            if task is None:
                return
            await asyncio.wait({task}, timeout=LEASE_TIMEOUT)
            if self.covers(cost):
                return

    def renew(self, cost: float) -> asyncio.Task[None] | None:
        """Start a lease, unless one is running or the bucket is known to be empty. Return the running lease, if any."""
        if self.leasing is None and self.clock() >= self.next_lease_at:
            wanted = min(self.rate.burst, cost + self.portion - max(0.0, self.tokens))
            # In an empty context, because the lease does not belong to the request that starts it.
            self.leasing = asyncio.create_task(self.lease(wanted, max(0.0, -self.tokens)), context=Context())
        return self.leasing

    async def lease(self, wanted: float, owed: float) -> None:
        try:
            lease = await self.acquire_lease(wanted, owed)
        finally:
            self.leasing = None
        self.tokens += owed + lease.given
        self.shared = Bucket(self.rate, lease.left, self.clock())
        is_dry = lease.given < wanted
        self.credit = 0.0 if is_dry else self.portion
        pause = min(MAX_PAUSE, max(MIN_PAUSE, self.low_mark / self.rate.per_second)) if is_dry else 0.0
        self.next_lease_at = self.clock() + pause

    async def acquire_lease(self, wanted: float, owed: float) -> Lease:
        """Lease from the shared bucket or, if that fails, from the bucket of this process."""
        try:
            async with asyncio.timeout(LEASE_TIMEOUT):
                return await self.ask(wanted, owed)
        except Exception as error:
            log.warning("rate limits are enforced by this process alone", reason=type(error).__name__)
            now = self.clock()
            return Lease(self.fallback.take(wanted, owed, now), self.fallback.level(now))

    def remaining(self) -> float:
        """Return the tokens that are left in the shared bucket and this share, as far as this process knows."""
        return max(0.0, min(self.rate.burst, self.shared.level(self.clock()) + self.tokens))

    def wait(self, cost: float) -> float:
        """Return the seconds until there may be enough tokens for the cost."""
        lacks = min(cost, self.rate.burst) - self.shared.level(self.clock()) - self.tokens
        return max(0.0, lacks / self.rate.per_second)


class Throttled(CairnError, RequestRejected):
    """The rate limit is exceeded. `retry_after` is in whole seconds, and at least 1."""

    code = "THROTTLED"

    def __init__(self, message: str, retry_after: float) -> None:
        self.retry_after = max(1, ceil(retry_after))
        super().__init__(f"{message} Try again in {self.retry_after} s.")

    @property
    def extensions(self) -> dict[str, Any]:
        return {"code": self.code, "retryAfter": self.retry_after}


class Allowance(NamedTuple):
    """The state of a rate limit, in rows. `resets_at` is when the bucket is full again, if nothing is spent."""

    limit: int
    remaining: int
    resets_at: datetime


class Account:
    """The rate limits of one credential. As a context manager it counts a running request."""

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
        """Spend the cost before its rows are read. Raises Throttled if there are not enough tokens."""
        if not self.covers(cost):
            await self.fetch(cost)
        self.charge(cost)

    def covers(self, cost: int) -> bool:
        for share in self.shares:  # noqa: SIM110  runs for each request, and all() is slower
            if not share.covers(cost):
                return False
        return True

    async def fetch(self, cost: int) -> None:
        """Lease the missing tokens. Raises Throttled if the buckets do not have them."""
        for share in self.shares:
            if not share.covers(cost):
                await share.fetch(cost)
        if not self.covers(cost):
            wait = max(share.wait(cost) for share in self.shares)
            message = "No row is left now." if cost <= 1 else f"This asks for {cost} rows, more than are left now."
            raise Throttled(message, wait)

    def charge(self, cost: int) -> None:
        """Spend the cost even if there are not enough tokens. Later requests wait until the debt is paid."""
        for share in self.shares:
            share.spend(cost)

    def allowance(self) -> Allowance | None:
        """Return the allowance of the bucket with the fewest remaining tokens, or None if there is no limit."""
        if not self.shares:
            return None
        share = min(self.shares, key=Share.remaining)
        remaining = share.remaining()
        full = timedelta(seconds=(share.rate.burst - remaining) / share.rate.per_second)
        return Allowance(int(share.rate.burst), int(remaining), datetime.now(UTC) + full)


class Throttle:
    """The accounts of all credentials that send requests to this process."""

    def __init__(self, database: Database, *, credential: Rate, tenant: Rate, max_concurrent: int) -> None:
        """A rate of 0 per second means no rate limit; a `max_concurrent` of 0 means no limit of running requests."""
        self.database, self.credential, self.tenant = database, credential, tenant
        self.max_concurrent = max_concurrent
        self.accounts: LRU[Account] = LRU(MAX_CACHED)
        self.tenants: LRU[tuple[Share, ...]] = LRU(MAX_CACHED)
        self.forgetting: set[asyncio.Task[None]] = set()

    def account(self, scope: Scope) -> Account:
        return self.accounts.get(scope.credential) or self.accounts.put(scope.credential, self.open(scope))

    def open(self, scope: Scope) -> Account:
        subject = f"{scope.actor.kind}:{scope.actor.id}"
        own = self.shares(scope.tenant_id, subject, self.credential)
        common = self.tenants.get_or_create(scope.tenant_id, partial(self.new_tenant_shares, scope.tenant_id))
        return Account((*own, *common), self.max_concurrent)

    def new_tenant_shares(self, tenant_id: UUID) -> tuple[Share, ...]:
        """Return new shares for a tenant that is not cached, and start to delete full buckets of its credentials."""
        if self.credential.per_second:
            task = asyncio.create_task(self.delete_full_buckets(tenant_id), context=Context())
            self.forgetting.add(task)
            task.add_done_callback(self.forgetting.discard)
        return self.shares(tenant_id, TENANT_SUBJECT, self.tenant)

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

    async def delete_full_buckets(self, tenant_id: UUID) -> None:
        """Delete full buckets of the tenant's credentials: a missing one counts as full. Errors are ignored."""
        burst, rate = self.credential.burst, self.credential.per_second
        with suppress(Exception):
            async with self.database.connection() as connection:
                await connection.run(THROTTLES["forget_full"], tenant_id=tenant_id, burst=burst, per_second=rate)
