"""The sender of webhook deliveries. Any number of processes may run one; each queue is sent by one process at a time.

A queue has the deliveries of one webhook for one wiki. A sender claims a queue and sends its deliveries in order; the
next one is sent only after the one before was delivered or is dead. A claim expires by itself, so the deliveries of a
killed sender are sent again with the same ids: delivery is at least once. No row is locked while a sender waits for a
receiver.
"""

import asyncio
import logging
import random
import time
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import orjson

from db.connection import Row
from db.database import Database
from db.ids import new_id
from db.sql import statements

from ..errors import NotFound
from ..tenants.tenants import list_tenants
from ..transactions.audit import MACHINE, Event, audit
from ..transactions.transaction import read_connection, transaction
from .posting import SECONDS, NotSent, Post, WebhookClient, body_of, headers_of
from .webhooks import NO_WEBHOOK, host_of

SENDING, WEBHOOKS = statements("webhooks/sending"), statements("webhooks/webhooks")
LEASE = 60.0  # seconds for which a claim of a queue is valid
SLOTS = 16  # queues that a process sends at once
SLOTS_OF_ONE = 4  # queues of one webhook among them, so that a slow receiver does not block other webhooks
COOLING = 2.0  # seconds in which a process claims no further queue of a webhook that has failed
BATCH = 20
IDLE = 1.0  # seconds between two searches for due queues
TROUBLE = 5.0  # seconds before the next search if Postgres did not respond
PAUSE, PAUSE_FACTOR, PAUSE_MAX = 5.0, 3.0, 6 * 3600.0  # seconds between attempts: the first, their factor, at most
HASTENED = timedelta(minutes=1)  # the longest pause of the other queues once a receiver accepts deliveries again
DISABLED_AFTER = timedelta(days=5)
GONE = 410
ROWS_PER_BATCH = 1_000  # rows

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Claim:
    """A queue that this sender has claimed until `ends`. `token` is unique for this claim."""

    tenant_id: UUID
    owner_id: UUID
    webhook_id: UUID
    token: str
    ends: float

    @property
    def key(self) -> dict[str, Any]:
        return {"tenant_id": self.tenant_id, "owner_id": self.owner_id, "webhook_id": self.webhook_id}


def pause_after(attempts: int) -> timedelta:
    """Return the pause after this number of attempts: it grows exponentially, with random jitter."""
    seconds = min(PAUSE * PAUSE_FACTOR ** min(attempts - 1, 20), PAUSE_MAX)
    return timedelta(seconds=seconds * random.uniform(0.8, 1.2))


class Sender:
    """Sends the queued deliveries of a database while `work` runs."""

    def __init__(
        self, database: Database, client: WebhookClient, name: str, *, lease: float = LEASE, idle: float = IDLE
    ) -> None:
        self.database, self.client, self.name = database, client, name
        self.lease, self.idle = lease, idle
        self.running: dict[asyncio.Task[None], UUID] = {}
        """The tasks that send queues, each with the id of its webhook."""
        self.cooling: dict[UUID, float] = {}
        """The times until which no further queue of a webhook is claimed, by webhook id.

        Otherwise a short outage of a receiver would fail, and so delay, every one of its queues.
        """

    async def work(self) -> None:
        """Send until cancelled. On cancellation the claimed queues are released."""
        try:
            while True:
                pause = self.idle
                try:
                    await self.start_due()
                except Exception as error:
                    log.warning("No webhook could be sent: %s", str(error) or type(error).__name__)
                    pause = TROUBLE
                if self.running:
                    await asyncio.wait(self.running, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
                else:
                    await asyncio.sleep(pause)
        finally:
            for task in self.running:
                task.cancel()
            await asyncio.gather(*self.running, return_exceptions=True)

    async def start_due(self) -> None:
        """Claim due queues and start sending them, as many as there are free slots."""
        if len(self.running) >= SLOTS:
            return
        for tenant_id in await self.due():
            while len(self.running) < SLOTS and (claim := await self.claim(tenant_id)):
                task = asyncio.create_task(self.send(claim))
                self.running[task] = claim.webhook_id
                task.add_done_callback(self.running.pop)

    async def due(self) -> list[UUID]:
        """Return the tenants with a due queue, the one that has waited longest first."""
        wanted = [{"tenant_id": tenant.id} for tenant in await list_tenants(self.database)]
        async with read_connection(self.database) as connection:
            rows = await connection.all_of_each(SENDING["find_due"], wanted)
        return [row["tenant_id"] for row in sorted(rows, key=lambda row: row["due_at"])]

    async def claim(self, tenant_id: UUID) -> Claim | None:
        """Claim a due queue of the tenant; return None if there is none without a claim."""
        at_work, now = [*self.running.values()], time.monotonic()
        self.cooling = {id: until for id, until in self.cooling.items() if until > now}
        busy = [*self.cooling, *(id for id in {*at_work} if at_work.count(id) >= SLOTS_OF_ONE)]
        token, ends = f"{self.name}:{new_id()}", time.monotonic() + self.lease
        async with transaction(self.database) as connection:
            row = await connection.one(
                SENDING["claim_queue"],
                tenant_id=tenant_id,
                busy=busy,
                claimed_by=token,
                lease=timedelta(seconds=self.lease),
            )
        return Claim(**row, token=token, ends=ends) if row else None

    async def send(self, claim: Claim) -> None:
        """Send the deliveries of a claimed queue, and release it. If the release fails, the claim expires by itself."""
        pause = timedelta()
        try:
            pause = await self.drain(claim)
        except Exception as error:
            log.warning("The webhook %s was not sent: %s", claim.webhook_id, str(error) or type(error).__name__)
            pause = timedelta(seconds=TROUBLE)
        finally:
            with suppress(Exception):
                await asyncio.shield(self.release(claim, pause))

    async def drain(self, claim: Claim) -> timedelta:
        """Send until the queue is empty, an attempt fails, or the claim is about to end; return the queue's pause."""
        last = claim.ends - min(SECONDS + 5, self.lease / 2)  # an attempt that starts before is stored in time
        async with AsyncExitStack() as stack:
            posts = Connections(stack, self.client)
            while time.monotonic() < last:
                async with read_connection(self.database) as connection:
                    target = await connection.one(
                        SENDING["find_target"], tenant_id=claim.tenant_id, webhook_id=claim.webhook_id
                    )
                    rows = await connection.all(SENDING["find_pending"], **claim.key, limit=BATCH)
                if target is None or target["disabled_at"] is not None or not rows:
                    return timedelta()
                for row in rows:
                    if time.monotonic() >= last:
                        break
                    try:
                        status = await self.attempt(posts, target, row)
                    except NotSent as error:
                        if (pause := await self.fail(claim, target, row, error)) is not None:
                            return pause
                    else:
                        await self.deliver(claim, target, row, status)
        return timedelta()

    async def attempt(self, posts: "Connections", target: Row, row: Row) -> int:
        """Send a delivery once, and return the status of the response. Raises NotSent."""
        post, body = await posts.to(target["url"]), body_of(target["tenant"], row)
        return await post(headers_of(row["id"], target["now"], body, target["secrets"]), body)

    async def deliver(self, claim: Claim, target: Row, row: Row, status: int) -> None:
        """Store that a delivery was delivered, and, if the webhook was failing, hasten its other queues."""
        async with transaction(self.database) as connection:
            if target["failing_since"] is not None and await connection.run(
                SENDING["note_success"], **webhook_key(claim)
            ):
                await connection.run(SENDING["hasten_queues"], **webhook_key(claim), pause=HASTENED)
            await connection.run(
                SENDING["mark_delivered"], tenant_id=claim.tenant_id, id=row["id"], response_status=status
            )

    async def fail(self, claim: Claim, target: Row, row: Row, error: NotSent) -> timedelta | None:
        """Store that an attempt has failed; return the pause before the next one, or None if the delivery is dead.

        The pause is zero if the webhook was disabled.
        """
        self.cooling[claim.webhook_id] = time.monotonic() + COOLING
        async with transaction(self.database) as connection:
            await connection.run(SENDING["note_failure"], **webhook_key(claim), url=target["url"])
            current = await connection.one(SENDING["find_target"], **webhook_key(claim))
            found = await connection.one(
                SENDING["mark_failed"], tenant_id=claim.tenant_id, id=row["id"],
                response_status=error.status, error=error.reason,
            )  # fmt: skip
        log.info("A webhook was not delivered: %s", error.reason, extra={"webhook": str(claim.webhook_id)})
        if error.status == GONE or (current is not None and has_failed_for_long(current)):
            await self.disable(claim, target, error.reason)
            return timedelta()
        if found is None or found["status"] == "dead":
            return None
        return pause_after(found["attempts"])

    async def disable(self, claim: Claim, target: Row, reason: str) -> None:
        """Disable a webhook whose receiver is gone or has failed for days. Its pending deliveries become dead.

        Nothing happens if somebody has disabled it meanwhile, or changed its URL.
        """
        async with transaction(self.database) as connection:
            message = f"It was disabled because {reason}."
            where = {"tenant_id": claim.tenant_id, "id": claim.webhook_id}
            if not await connection.run(WEBHOOKS["disable"], **where, reason=message, url=target["url"]):
                return
            await connection.run(WEBHOOKS["rest_queues"], **webhook_key(claim))
            await audit(
                connection, claim.tenant_id, MACHINE, Event.WEBHOOK_DISABLED, claim.webhook_id,
                host=host_of(target["url"]), reason=reason,
            )  # fmt: skip
        while True:
            async with transaction(self.database) as connection:
                if not await connection.run(SENDING["bury"], **webhook_key(claim), error=message, size=ROWS_PER_BATCH):
                    return

    async def release(self, claim: Claim, pause: timedelta) -> None:
        """Release a queue. Deliveries that were queued since the last read are considered here: see `lock_queue`."""
        where = {**claim.key, "claimed_by": claim.token}
        async with transaction(self.database) as connection:
            if await connection.one(SENDING["lock_queue"], **where) is not None:
                await connection.run(SENDING["release_queue"], **where, pause=pause, hastened=HASTENED)


class Connections:
    """The open connections while a queue is sent: one, and another one if the URL of the webhook changes meanwhile."""

    def __init__(self, stack: AsyncExitStack, client: WebhookClient) -> None:
        self.stack, self.client = stack, client
        self.open: dict[str, Post] = {}

    async def to(self, url: str) -> Post:
        """Return a function that posts to a URL. Raises NotSent."""
        if url not in self.open:
            opening: AbstractAsyncContextManager[Post] = self.client.to(url)
            self.open[url] = await self.stack.enter_async_context(opening)
        return self.open[url]


def has_failed_for_long(target: Row) -> bool:
    """Return whether a webhook has accepted no delivery for DISABLED_AFTER."""
    failing_since = target["failing_since"]
    return bool(failing_since is not None and target["now"] - failing_since >= DISABLED_AFTER)


def webhook_key(claim: Claim) -> dict[str, Any]:
    return {"tenant_id": claim.tenant_id, "webhook_id": claim.webhook_id}


async def send_test(database: Database, tenant_id: UUID, webhook_id: UUID, client: WebhookClient) -> int:
    """Send a delivery of the type webhook.test now, and return the status of the response. Raises NotSent, NotFound."""
    async with read_connection(database) as connection:
        target = await connection.one(SENDING["find_target"], tenant_id=tenant_id, webhook_id=webhook_id)
    if target is None:
        raise NotFound(NO_WEBHOOK)
    body = orjson.dumps({"type": "webhook.test", "timestamp": target["now"], "data": {"tenant": target["tenant"]}})
    async with client.to(target["url"]) as post:
        return await post(headers_of(new_id(), target["now"], body, target["secrets"]), body)
