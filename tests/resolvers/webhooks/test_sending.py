"""The webhook sender: signed deliveries, in order, each by one sender, and stored for a while."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from db.database import Database
from resolvers.errors import NotFound
from resolvers.pages.lifecycle import update_page
from resolvers.webhooks import sending
from resolvers.webhooks.posting import NotSent, WebhookClient
from resolvers.webhooks.sending import Sender, send_test
from resolvers.webhooks.webhooks import (
    WebhookChanges,
    delete_webhook,
    list_webhooks,
    prune_deliveries,
    redeliver,
    rotate_webhook_secret,
    update_webhook,
)
from tests.resolvers.webhooks.receiver import Receiver, run_webhook_receiver
from tests.resolvers.webhooks.sender import (
    LOOPBACK,
    WAITING_FOR_THIS,
    add_webhook,
    create_topics,
    sender,
    wait_for_deliveries,
)
from tests.wiki import Wiki


async def test_queued_deliveries_arrive_signed_and_in_order(wiki: Wiki, receiver: Receiver) -> None:
    issued = await add_webhook(wiki, receiver)
    ids = await create_topics(wiki, "Austin", "Boston")
    await update_page(wiki.database, wiki.scope, ids[0], summary="Hot.")
    async with sender(wiki.database):
        rows = await wait_for_deliveries(wiki, issued.id, "delivered")
    assert receiver.events() == [
        ("page.created", "austin", 1),
        ("page.created", "boston", 1),
        ("page.updated", "austin", 2),
    ]
    assert [delivery["id"] for delivery in receiver.received] == [str(row["id"]) for row in rows]
    assert all(delivery["is_signed"] for delivery in receiver.received)
    tenant = await wiki.connection.fetchval("SELECT slug FROM tenants WHERE tenant_id = $1", wiki.scope.tenant_id)
    owner = await wiki.connection.fetchval("SELECT slug FROM owners WHERE id = $1", wiki.scope.owner_id)
    body = receiver.bodies()[0]
    assert body["data"] == {
        "tenant": tenant, "owner": owner, "kind": "created", "pageId": str(ids[0]), "type": "topic", "slug": "austin",
        "version": 1,
    }  # fmt: skip
    assert body["timestamp"] == rows[0]["happened_at"].isoformat()
    assert (await wiki.row("webhook_queues"))["due_at"] is None


async def test_a_signature_with_another_secret_is_invalid(wiki: Wiki, receiver: Receiver) -> None:
    """The receiver of these tests detects wrong signatures."""
    issued = await add_webhook(wiki, receiver)
    receiver.secret = "whsec_" + "QUJD" * 8
    await create_topics(wiki, "Austin")
    async with sender(wiki.database):
        await wait_for_deliveries(wiki, issued.id, "delivered")
    assert [delivery["is_signed"] for delivery in receiver.received] == [False]


@pytest.mark.parametrize("overlap", [timedelta(hours=1), timedelta()])
async def test_the_former_secret_signs_deliveries_only_during_the_overlap(
    wiki: Wiki, receiver: Receiver, overlap: timedelta
) -> None:
    first = await add_webhook(wiki, receiver)
    second = await rotate_webhook_secret(wiki.database, wiki.scope.tenant_id, first.id, overlap)
    with run_webhook_receiver(secret=second.secret) as other:
        async with sender(wiki.database):
            await create_topics(wiki, "Austin")
            await wait_for_deliveries(wiki, first.id, "delivered")
            changes = WebhookChanges(url=other.url)
            await update_webhook(wiki.database, wiki.scope.tenant_id, first.id, changes)
            await create_topics(wiki, "Boston")
            await wait_for_deliveries(wiki, first.id, "delivered")
        assert [delivery["is_signed"] for delivery in other.received] == [True]
    assert [delivery["is_signed"] for delivery in receiver.received] == [bool(overlap)]


async def test_concurrent_senders_keep_the_order_of_a_queue(wiki: Wiki, receiver: Receiver) -> None:
    """Only one sender at a time claims a queue."""
    receiver.delay = 0.01
    issued = await add_webhook(wiki, receiver)
    other = Database(wiki.database.dsn, size=4)
    await other.open()
    (page_id,) = await create_topics(wiki, "Austin")
    try:
        async with sender(wiki.database), sender(other), sender(other):
            for turn in range(40):
                await update_page(wiki.database, wiki.scope, page_id, summary=f"Turn {turn}.")
            await wait_for_deliveries(wiki, issued.id, "delivered")
    finally:
        await other.close()
    assert [version for _, _, version in receiver.events()] == [*range(1, 42)]
    assert receiver.max_concurrent == 1


async def test_a_webhook_that_is_disabled_and_enabled_meanwhile_keeps_its_sender(
    wiki: Wiki, receiver: Receiver
) -> None:
    tenant_id, claims = wiki.scope.tenant_id, []
    other = Sender(wiki.database, WebhookClient(LOOPBACK), "other")

    class Toggling(WebhookClient):
        async def status_of(self, request: Any) -> int:
            for enabled in (False, True):
                await update_webhook(wiki.database, tenant_id, issued.id, WebhookChanges(enabled=enabled))
            claims.append(await other.claim(tenant_id))
            return await super().status_of(request)

    issued = await add_webhook(wiki, receiver)
    await create_topics(wiki, "Austin", "Boston")
    one = Sender(wiki.database, Toggling(LOOPBACK), "one")
    claim = await one.claim(tenant_id)
    assert claim is not None
    await one.send(claim)
    assert claims == [None, None], "another sender would send the same deliveries at the same time"
    assert [slug for _, slug, _ in receiver.events()] == ["austin", "boston"]
    assert (await wiki.row("webhook_queues"))["due_at"] is None


async def test_the_queue_of_a_disabled_webhook_is_not_due(wiki: Wiki, receiver: Receiver) -> None:
    tenant_id = wiki.scope.tenant_id
    issued = await add_webhook(wiki, receiver)
    await create_topics(wiki, "Austin")
    one = Sender(wiki.database, WebhookClient(LOOPBACK), "one")
    claim = await one.claim(tenant_id)
    assert claim is not None
    await update_webhook(wiki.database, tenant_id, issued.id, WebhookChanges(enabled=False))
    await one.send(claim)
    queue = await wiki.row("webhook_queues")
    assert (queue["due_at"], queue["claimed_by"], receiver.received) == (None, None, [])
    await update_webhook(wiki.database, tenant_id, issued.id, WebhookChanges(enabled=True))
    assert await one.claim(tenant_id) is not None


async def test_deliveries_claimed_by_a_lost_sender_are_sent_by_another(wiki: Wiki, receiver: Receiver) -> None:
    issued = await add_webhook(wiki, receiver)
    await create_topics(wiki, "Austin", "Boston")
    lost = Sender(wiki.database, WebhookClient(LOOPBACK), "lost", lease=0.5)
    claim = await lost.claim(wiki.scope.tenant_id)
    assert claim is not None
    assert await lost.claim(wiki.scope.tenant_id) is None
    async with sender(wiki.database):
        await wait_for_deliveries(wiki, issued.id, "delivered")
    assert [slug for _, slug, _ in receiver.events()] == ["austin", "boston"]
    await lost.release(claim, timedelta())
    assert (await wiki.row("webhook_queues"))["due_at"] is None


async def test_a_delivery_queued_while_a_sender_releases_the_queue_is_sent(wiki: Wiki, receiver: Receiver) -> None:
    issued = await add_webhook(wiki, receiver)
    await create_topics(wiki, "Austin")
    early = Sender(wiki.database, WebhookClient(LOOPBACK), "early")
    claim = await early.claim(wiki.scope.tenant_id)
    assert claim is not None
    await early.drain(claim)
    await create_topics(wiki, "Boston")
    await early.release(claim, timedelta())
    assert (await wiki.row("webhook_queues"))["due_at"] is not None
    async with sender(wiki.database):
        await wait_for_deliveries(wiki, issued.id, "delivered")
    assert len(receiver.received) == 2


async def test_a_redelivery_queued_while_a_sender_releases_the_queue_is_sent(wiki: Wiki, receiver: Receiver) -> None:
    """The redelivery is held at its last statement while the sender, which has not seen it, releases the queue."""
    issued = await add_webhook(wiki, receiver)
    await create_topics(wiki, "Austin")
    (delivery,) = await wiki.rows("webhook_deliveries")
    early = Sender(wiki.database, WebhookClient(LOOPBACK), "early")
    claim = await early.claim(wiki.scope.tenant_id)
    assert claim is not None
    await early.drain(claim)
    async with wiki.connection.transaction():
        await wiki.connection.execute("LOCK TABLE audit_events IN EXCLUSIVE MODE")
        redelivering = asyncio.create_task(redeliver(wiki.database, wiki.scope.tenant_id, issued.id, delivery["id"]))
        async with asyncio.timeout(60):
            while not await wiki.connection.fetchval(WAITING_FOR_THIS):
                await asyncio.sleep(0.01)
        releasing = asyncio.create_task(early.release(claim, timedelta()))
        await asyncio.wait([releasing], timeout=0.5)
    await asyncio.gather(redelivering, releasing)
    assert (await wiki.row("webhook_queues"))["due_at"] is not None
    async with sender(wiki.database):
        await wait_for_deliveries(wiki, issued.id, "delivered")
    assert [received["id"] for received in receiver.received] == [str(delivery["id"])] * 2


async def test_a_deleted_webhook_leaves_no_deliveries(wiki: Wiki, receiver: Receiver) -> None:
    issued = await add_webhook(wiki, receiver)
    await create_topics(wiki, "Austin")
    async with sender(wiki.database):
        await wait_for_deliveries(wiki, issued.id, "delivered")
        await delete_webhook(wiki.database, wiki.scope.tenant_id, issued.id)
        await create_topics(wiki, "Boston")
    assert await list_webhooks(wiki.database, wiki.scope.tenant_id) == []
    assert await wiki.rows("webhook_deliveries") == []
    assert len(receiver.received) == 1


async def test_finished_deliveries_are_pruned_by_age(wiki: Wiki, receiver: Receiver) -> None:
    issued, tenant_id = await add_webhook(wiki, receiver), wiki.scope.tenant_id
    await create_topics(wiki, "Austin", "Boston", "Chicago")
    async with sender(wiki.database):
        rows = await wait_for_deliveries(wiki, issued.id, "delivered")
    age = "UPDATE webhook_deliveries SET status = $2, finished_at = $3 WHERE id = $1"
    now = rows[0]["finished_at"]
    await wiki.connection.execute(age, rows[0]["id"], "delivered", now - timedelta(days=8))
    await wiki.connection.execute(age, rows[1]["id"], "dead", now - timedelta(days=8))
    assert await prune_deliveries(wiki.database, tenant_id, now) == 1
    assert await prune_deliveries(wiki.database, tenant_id, now + timedelta(days=23)) == 2


async def test_a_test_delivery_reports_the_response(wiki: Wiki, receiver: Receiver) -> None:
    issued, tenant_id = await add_webhook(wiki, receiver), wiki.scope.tenant_id
    assert await send_test(wiki.database, tenant_id, issued.id, WebhookClient(LOOPBACK)) == 204
    assert [(delivery["body"]["type"], delivery["is_signed"]) for delivery in receiver.received] == [
        ("webhook.test", True)
    ]
    receiver.default_status = 401
    with pytest.raises(NotSent, match="401"):
        await send_test(wiki.database, tenant_id, issued.id, WebhookClient(LOOPBACK))
    with pytest.raises(NotFound):
        await send_test(wiki.database, tenant_id, UUID(int=1), WebhookClient(LOOPBACK))


async def test_a_webhook_uses_only_part_of_the_sender_slots(wiki: Wiki, receiver: Receiver) -> None:
    issued = await add_webhook(wiki, receiver)
    await create_topics(wiki, "Austin")
    busy = Sender(wiki.database, WebhookClient(LOOPBACK), "busy")
    waiting = [asyncio.create_task(asyncio.sleep(3600)) for _ in range(sending.SLOTS_OF_ONE)]
    busy.running = dict.fromkeys(waiting, issued.id)
    assert await busy.claim(wiki.scope.tenant_id) is None
    waiting[0].cancel()
    busy.running.pop(waiting[0])
    assert await busy.claim(wiki.scope.tenant_id) is not None
    for task in waiting:
        task.cancel()
