"""Failed deliveries are retried with growing pauses, given up after a time, and delay no other webhook."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from resolvers.auth.owners import OwnerKind, create_owner
from resolvers.errors import BadInput, NotFound
from resolvers.transactions.audit import list_events
from resolvers.webhooks import sending
from resolvers.webhooks.posting import NotSent, WebhookClient
from resolvers.webhooks.sending import Sender, pause_after
from resolvers.webhooks.webhooks import (
    DeliveryStatus,
    WebhookChanges,
    WebhookDraft,
    create_webhook,
    find_webhook,
    list_deliveries,
    redeliver,
    update_webhook,
)
from tests.resolvers.webhooks.receiver import Receiver, run_webhook_receiver
from tests.resolvers.webhooks.sender import (
    LOOPBACK,
    WAITING_FOR_THIS,
    add_webhook,
    create_topics,
    make_deliveries_due,
    sender,
    wait_for_attempts,
    wait_for_deliveries,
)
from tests.waiting import within
from tests.wiki import Wiki


async def test_a_failed_delivery_is_retried_before_later_ones(wiki: Wiki, receiver: Receiver) -> None:
    issued = await add_webhook(wiki, receiver)
    receiver.statuses = [500]
    await create_topics(wiki, "Austin", "Boston")
    tenant_id = wiki.scope.tenant_id
    async with sender(wiki.database):
        async with asyncio.timeout(60):
            while not (rows := await wiki.rows("webhook_deliveries", "position"))[0]["attempts"]:
                await asyncio.sleep(0.02)
        assert rows[1]["attempts"] == 0
        assert rows[0]["error"] == "the receiver answered 500"
        assert rows[0]["response_status"] == 500
        async with within("the queue was still claimed"):
            while (await wiki.row("webhook_queues"))["claimed_by"]:
                await asyncio.sleep(0.02)
        assert (await find_webhook(wiki.database, tenant_id, issued.id)).state == "failing"
        assert receiver.received == []
        await make_deliveries_due(wiki)
        await wait_for_deliveries(wiki, issued.id, "delivered")
    assert receiver.events() == [("page.created", "austin", 1), ("page.created", "boston", 1)]
    assert len(receiver.attempts) == 3
    assert (await find_webhook(wiki.database, tenant_id, issued.id)).state == "active"


async def test_a_recovered_receiver_gets_its_other_queues_within_a_minute(wiki: Wiki, receiver: Receiver) -> None:
    """The retry pause of another wiki's queue had grown to hours."""
    issued, other = await add_webhook(wiki, receiver), await wiki.neighbour()
    await create_topics(wiki, "Austin")
    await create_topics(other, "Boston")
    await wiki.connection.execute("UPDATE webhooks SET failing_since = now()")
    postpone = "UPDATE webhook_queues SET due_at = now() + interval '6 hours' WHERE owner_id = $1"
    await wiki.connection.execute(postpone, other.scope.owner_id)
    async with sender(wiki.database):
        await wait_for_deliveries(wiki, issued.id, "delivered")
    due = "SELECT due_at - now() FROM webhook_queues WHERE owner_id = $1"
    assert await wiki.connection.fetchval(due, other.scope.owner_id) <= timedelta(minutes=1)


def test_retry_pauses_grow_and_vary() -> None:
    pauses = [pause_after(attempt).total_seconds() for attempt in range(1, 40)]
    assert 4 <= pauses[0] <= 6
    assert all(pause <= 6 * 3600 * 1.2 for pause in pauses)
    assert sum(pauses[:20]) > 48 * 3600
    assert len({pause_after(3) for _ in range(10)}) > 1


async def test_undeliverable_events_are_dead_and_can_be_redelivered(wiki: Wiki, receiver: Receiver) -> None:
    issued, tenant_id = await add_webhook(wiki, receiver), wiki.scope.tenant_id
    receiver.default_status = 503
    await create_topics(wiki, "Austin", "Boston")
    await wiki.connection.execute("UPDATE webhook_deliveries SET retry_until = now()")
    async with sender(wiki.database):
        await wait_for_deliveries(wiki, issued.id, "dead")
        assert receiver.received == []
        receiver.default_status = 204
        found = await list_deliveries(wiki.database, tenant_id, issued.id, status=DeliveryStatus.DEAD)
        assert [delivery.slug for delivery in found] == ["boston", "austin"]
        assert await redeliver(wiki.database, tenant_id, issued.id) == 2
        await wait_for_deliveries(wiki, issued.id, "delivered")
        assert await redeliver(wiki.database, tenant_id, issued.id) == 0
        assert await redeliver(wiki.database, tenant_id, issued.id, found[1].id) == 1
        await wait_for_deliveries(wiki, issued.id, "delivered")
        async with within("the receiver heard too little"):
            while len(receiver.received) < 3:
                await asyncio.sleep(0.02)
    assert [slug for _, slug, _ in receiver.events()] == ["austin", "boston", "austin"]
    assert receiver.received[0]["id"] == receiver.received[2]["id"]
    with pytest.raises(NotFound):
        await redeliver(wiki.database, tenant_id, issued.id, UUID(int=1))


async def test_a_webhook_that_fails_for_long_is_disabled(wiki: Wiki, receiver: Receiver) -> None:
    issued, tenant_id = await add_webhook(wiki, receiver), wiki.scope.tenant_id
    receiver.default_status = 500
    await create_topics(wiki, "Austin", "Boston")
    await wiki.connection.execute("UPDATE webhooks SET failing_since = now() - interval '5 days'")
    async with sender(wiki.database):
        await wait_for_deliveries(wiki, issued.id, "dead")
    found = await find_webhook(wiki.database, tenant_id, issued.id)
    assert found.state == "disabled"
    assert found.disabled_reason == "It was disabled because the receiver answered 500."
    events = await list_events(wiki.database, tenant_id, action="webhook.disabled")
    assert [(event.subject, event.detail["reason"]) for event in events] == [
        (str(issued.id), "the receiver answered 500")
    ]
    assert len(receiver.attempts) == 1
    with pytest.raises(BadInput, match="disabled"):
        await redeliver(wiki.database, tenant_id, issued.id)
    receiver.default_status = 204
    await update_webhook(wiki.database, tenant_id, issued.id, WebhookChanges(enabled=True))
    assert await redeliver(wiki.database, tenant_id, issued.id) == 2
    async with sender(wiki.database):
        await wait_for_deliveries(wiki, issued.id, "delivered")
    assert [slug for _, slug, _ in receiver.events()] == ["austin", "boston"]


async def test_a_failure_after_a_success_does_not_disable_a_webhook_that_failed_for_long(
    wiki: Wiki, receiver: Receiver
) -> None:
    issued = await add_webhook(wiki, receiver)
    receiver.statuses = [204, 503]
    await create_topics(wiki, "Austin", "Boston")
    await wiki.connection.execute("UPDATE webhooks SET failing_since = now() - interval '6 days'")
    sending_one = Sender(wiki.database, WebhookClient(LOOPBACK), "one")
    claim = await sending_one.claim(wiki.scope.tenant_id)
    assert claim is not None
    await sending_one.send(claim)
    assert (await find_webhook(wiki.database, wiki.scope.tenant_id, issued.id)).state == "failing"
    assert [row["status"] for row in await wiki.rows("webhook_deliveries", "position")] == ["delivered", "pending"]


async def test_status_410_disables_a_webhook_at_once(wiki: Wiki, receiver: Receiver) -> None:
    issued = await add_webhook(wiki, receiver)
    receiver.default_status = 410
    await create_topics(wiki, "Austin")
    async with sender(wiki.database):
        await wait_for_deliveries(wiki, issued.id, "dead")
    assert (await find_webhook(wiki.database, wiki.scope.tenant_id, issued.id)).state == "disabled"


async def test_a_hanging_receiver_does_not_delay_other_webhooks(wiki: Wiki, receiver: Receiver) -> None:
    with run_webhook_receiver() as dead:
        dead.delay = 20
        await create_webhook(wiki.database, wiki.scope.tenant_id, WebhookDraft(dead.url))
        issued = await add_webhook(wiki, receiver, owner_ids=[wiki.scope.owner_id])
        for number in range(sending.SLOTS):
            owner = await create_owner(wiki.database, wiki.scope.tenant_id, OwnerKind.USER, f"other-{number}", "Other")
            await create_topics(replace(wiki, scope=wiki.scope.in_owner(owner.id)), "Elsewhere")
        await create_topics(wiki, "Austin")
        async with sender(wiki.database):
            await wait_for_deliveries(wiki, issued.id, "delivered")
        assert dead.received == []
    assert len(receiver.received) == 1


async def test_a_delivery_that_takes_too_long_fails(receiver: Receiver) -> None:
    receiver.delay = 5
    with pytest.raises(NotSent, match="took more than"):
        async with WebhookClient(LOOPBACK, seconds=0.2).to(receiver.url) as post:
            await post({"webhook-id": "1"}, b'{"data": {}}')


async def test_a_failure_of_one_queue_pauses_the_other_queues_of_its_webhook(
    wiki: Wiki, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise each queue would reach a long retry pause during an outage."""
    monkeypatch.setattr(sending, "COOLING", 3600.0)
    await add_webhook(wiki, receiver)
    receiver.default_status = 500
    await create_topics(wiki, "Austin")
    await create_topics(await wiki.neighbour(), "Boston")
    failing = Sender(wiki.database, WebhookClient(LOOPBACK), "one")
    claim = await failing.claim(wiki.scope.tenant_id)
    assert claim is not None
    await failing.release(claim, await failing.drain(claim))
    assert await failing.claim(wiki.scope.tenant_id) is None
    failing.cooling.clear()
    assert await failing.claim(wiki.scope.tenant_id) is not None


async def test_a_new_url_is_not_blamed_for_the_failures_of_the_former_one(wiki: Wiki, receiver: Receiver) -> None:
    tenant_id = wiki.scope.tenant_id
    issued = await create_webhook(wiki.database, tenant_id, WebhookDraft("http://127.0.0.1:9/"))
    await create_topics(wiki, "Austin")
    await wiki.connection.execute("UPDATE webhooks SET failing_since = now() - interval '6 days'")
    same = await update_webhook(wiki.database, tenant_id, issued.id, WebhookChanges(url="http://127.0.0.1:9/"))
    assert same.state == "failing"
    moved = await update_webhook(wiki.database, tenant_id, issued.id, WebhookChanges(url=receiver.url))
    assert moved.state == "active"
    receiver.default_status = 503
    async with sender(wiki.database):
        await wait_for_attempts(wiki, 1)
    assert (await find_webhook(wiki.database, tenant_id, issued.id)).state == "failing"


@pytest.mark.parametrize("enabled", [True, False])
async def test_an_answer_of_a_former_url_does_not_disable_the_webhook(
    wiki: Wiki, receiver: Receiver, enabled: bool
) -> None:
    """An admin changes the URL, or disables the webhook, while the receiver answers that it is gone."""
    tenant_id = wiki.scope.tenant_id

    class Slow(WebhookClient):
        async def status_of(self, request: Any) -> int:
            await update_webhook(wiki.database, tenant_id, issued.id, changes)
            return await super().status_of(request)

    with run_webhook_receiver() as gone:
        gone.default_status = 410
        issued = await add_webhook(wiki, gone)
        changes = WebhookChanges(url=receiver.url) if enabled else WebhookChanges(enabled=False)
        await create_topics(wiki, "Austin")
        sending_one = Sender(wiki.database, Slow(LOOPBACK), "one")
        claim = await sending_one.claim(tenant_id)
        assert claim is not None
        await sending_one.send(claim)
    found = await find_webhook(wiki.database, tenant_id, issued.id)
    assert (found.state, found.disabled_reason) == ("active" if enabled else "disabled", None)
    await update_webhook(wiki.database, tenant_id, issued.id, WebhookChanges(url=receiver.url, enabled=True))
    async with sender(wiki.database):
        await wait_for_deliveries(wiki, issued.id, "delivered")
    assert [slug for _, slug, _ in receiver.events()] == ["austin"]


@pytest.mark.parametrize("is_stored", [True, False])
async def test_a_queue_that_failed_just_before_the_receiver_recovered_is_due_within_a_minute(
    wiki: Wiki, receiver: Receiver, is_stored: bool
) -> None:
    """It is released after the success of another queue was stored, or while it is being stored."""
    await add_webhook(wiki, receiver)
    other = await wiki.neighbour()
    await create_topics(wiki, "Austin")
    await wiki.connection.execute("UPDATE webhook_deliveries SET attempts = 10")
    await create_topics(other, "Boston")
    await wiki.connection.execute("UPDATE webhooks SET failing_since = now() - interval '1 day'")
    senders = [Sender(wiki.database, WebhookClient(LOOPBACK), name) for name in ("one", "two")]
    claims = [claim for each in senders if (claim := await each.claim(wiki.scope.tenant_id))]
    assert [claim.owner_id for claim in claims] == [wiki.scope.owner_id, other.scope.owner_id]
    receiver.statuses = [500]
    pause = await senders[0].drain(claims[0])
    assert pause > timedelta(hours=1)
    async with wiki.connection.transaction():
        await wiki.connection.execute("SELECT FROM webhook_deliveries FOR UPDATE")
        delivering = asyncio.create_task(senders[1].drain(claims[1]))
        async with within("the success is not being stored"):
            while not await wiki.connection.fetchval(WAITING_FOR_THIS):
                await asyncio.sleep(0.01)
        releasing = None if is_stored else asyncio.create_task(senders[0].release(claims[0], pause))
        await asyncio.sleep(0 if is_stored else 0.5)
    await delivering
    await (releasing or senders[0].release(claims[0], pause))
    due = "SELECT due_at - now() FROM webhook_queues WHERE owner_id = $1"
    assert await wiki.connection.fetchval(due, wiki.scope.owner_id) <= timedelta(minutes=1)
