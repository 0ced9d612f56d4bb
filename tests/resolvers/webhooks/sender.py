"""Helpers that run a sender, create webhooks for the receiver of a test, and wait for deliveries."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from db.database import Database
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from resolvers.webhooks.posting import WebhookClient
from resolvers.webhooks.sending import Sender
from resolvers.webhooks.webhooks import (
    IssuedSecret,
    WebhookDraft,
    create_webhook,
)
from tests.resolvers.webhooks.receiver import Receiver
from tests.wiki import Wiki

LOOPBACK = "127.0.0.0/8"
WAITING_FOR_THIS = "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))"


@asynccontextmanager
async def sender(database: Database, networks: str | None = LOOPBACK, **given: Any) -> AsyncIterator[Sender]:
    running_sender = Sender(database, WebhookClient(networks), "test", idle=0.02, **given)
    task = asyncio.create_task(running_sender.work())
    try:
        yield running_sender
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def add_webhook(wiki: Wiki, receiver: Receiver, **given: Any) -> IssuedSecret:
    """Create a webhook for the receiver, which verifies signatures with its secret from then on."""
    issued = await create_webhook(wiki.database, wiki.scope.tenant_id, WebhookDraft(receiver.url, **given))
    receiver.secret = issued.secret
    return issued


async def create_topics(wiki: Wiki, *titles: str) -> list[UUID]:
    return [(await create_page(wiki.database, wiki.scope, PageDraft("topic", title))).page_id for title in titles]


async def wait_for_deliveries(wiki: Wiki, webhook_id: UUID, *statuses: str) -> list[dict[str, Any]]:
    """Return the deliveries once each has one of these statuses and no sender has claimed the queue."""
    async with asyncio.timeout(60):
        while True:
            rows = await wiki.rows("webhook_deliveries", "position", webhook_id=webhook_id)
            queues = await wiki.rows("webhook_queues", "webhook_id", webhook_id=webhook_id)
            if (
                rows
                and all(row["status"] in statuses for row in rows)
                and not any(queue["claimed_by"] for queue in queues)
            ):
                return rows
            await asyncio.sleep(0.02)


async def wait_for_attempts(wiki: Wiki, attempts: int) -> dict[str, Any]:
    """Return the only delivery once it was attempted that often and no sender has claimed the queue."""
    async with asyncio.timeout(60):
        while True:
            (row,) = await wiki.rows("webhook_deliveries")
            queue = await wiki.row("webhook_queues")
            if row["attempts"] >= attempts and not queue["claimed_by"]:
                return row
            await asyncio.sleep(0.02)


async def make_deliveries_due(wiki: Wiki) -> None:
    """Make waiting deliveries due now."""
    await wiki.connection.execute(
        "UPDATE webhook_queues SET due_at = now() WHERE due_at IS NOT NULL AND claimed_by IS NULL"
    )
