"""The sender: signed, in order, again after failures, and nowhere that it may not go."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from db.database import Database
from resolvers.auth.owners import OwnerKind, create_owner
from resolvers.errors import BadInput, NotFound
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page, update_page
from resolvers.transactions.audit import list_events
from resolvers.webhooks import sending
from resolvers.webhooks.posting import NotSent, WebhookClient
from resolvers.webhooks.sending import Sender, pause_after, send_test
from resolvers.webhooks.webhooks import (
    DeliveryStatus,
    IssuedSecret,
    WebhookChanges,
    WebhookDraft,
    create_webhook,
    delete_webhook,
    find_webhook,
    list_deliveries,
    list_webhooks,
    prune_deliveries,
    redeliver,
    rotate_webhook_secret,
    update_webhook,
)
from tests.resolvers.webhooks.receiver import Receiver, receiving
from tests.waiting import within
from tests.wiki import Wiki

INSIDE = "127.0.0.0/8"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


@asynccontextmanager
async def sender(database: Database, networks: str | None = INSIDE, **given: Any) -> AsyncIterator[Sender]:
    made = Sender(database, WebhookClient(networks), "test", idle=0.02, **given)
    task = asyncio.create_task(made.work())
    try:
        yield made
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def hook(wiki: Wiki, receiver: Receiver, **given: Any) -> IssuedSecret:
    issued = await create_webhook(wiki.database, wiki.scope.tenant_id, WebhookDraft(receiver.url, **given))
    receiver.secret = issued.secret
    return issued


async def create(wiki: Wiki, *titles: str) -> list[UUID]:
    return [(await create_page(wiki.database, wiki.scope, PageDraft("topic", title))).page_id for title in titles]


async def settled(wiki: Wiki, webhook_id: UUID, *statuses: str) -> list[dict[str, Any]]:
    """Wait until every delivery has one of these statuses, and no sender has the queue."""
    async with asyncio.timeout(60):
        while True:
            rows = await wiki.rows("webhook_deliveries", "position", webhook_id=webhook_id)
            queues = await wiki.rows("webhook_queues", "webhook_id", webhook_id=webhook_id)
            if rows and all(row["status"] in statuses for row in rows) and not any(one["claimed_by"] for one in queues):
                return rows
            await asyncio.sleep(0.02)


async def attempted(wiki: Wiki, attempts: int) -> dict[str, Any]:
    """Wait until the one delivery was tried so often, and the queue is nobody's."""
    async with asyncio.timeout(60):
        while True:
            (row,) = await wiki.rows("webhook_deliveries")
            queue = await wiki.row("webhook_queues")
            if row["attempts"] >= attempts and not queue["claimed_by"]:
                return row
            await asyncio.sleep(0.02)


async def hurry(wiki: Wiki) -> None:
    """Let what waits for its next attempt be due now."""
    await wiki.look.execute("UPDATE webhook_queues SET due_at = now() WHERE due_at IS NOT NULL AND claimed_by IS NULL")


async def test_what_is_queued_arrives_signed_and_in_order(wiki: Wiki, receiver: Receiver) -> None:
    issued = await hook(wiki, receiver)
    ids = await create(wiki, "Austin", "Boston")
    await update_page(wiki.database, wiki.scope, ids[0], summary="Hot.")
    async with sender(wiki.database):
        rows = await settled(wiki, issued.id, "delivered")
    assert receiver.told() == [
        ("page.created", "austin", 1),
        ("page.created", "boston", 1),
        ("page.updated", "austin", 2),
    ]
    assert [one["id"] for one in receiver.heard] == [str(row["id"]) for row in rows]
    assert all(one["is_signed"] for one in receiver.heard)
    tenant = await wiki.look.fetchval("SELECT slug FROM tenants WHERE tenant_id = $1", wiki.scope.tenant_id)
    owner = await wiki.look.fetchval("SELECT slug FROM owners WHERE id = $1", wiki.scope.owner_id)
    body = receiver.bodies()[0]
    assert body["data"] == {
        "tenant": tenant, "owner": owner, "kind": "created", "pageId": str(ids[0]), "type": "topic", "slug": "austin",
        "version": 1,
    }  # fmt: skip
    assert body["timestamp"] == rows[0]["happened_at"].isoformat()
    assert (await wiki.row("webhook_queues"))["due_at"] is None


async def test_a_signature_by_another_secret_is_none(wiki: Wiki, receiver: Receiver) -> None:
    """So the tests above can fail."""
    issued = await hook(wiki, receiver)
    receiver.secret = "whsec_" + "QUJD" * 8
    await create(wiki, "Austin")
    async with sender(wiki.database):
        await settled(wiki, issued.id, "delivered")
    assert [one["is_signed"] for one in receiver.heard] == [False]


@pytest.mark.parametrize("overlap", [timedelta(hours=1), timedelta()])
async def test_a_rotated_secret_signs_beside_the_former_one_for_a_while(
    wiki: Wiki, receiver: Receiver, overlap: timedelta
) -> None:
    first = await hook(wiki, receiver)
    second = await rotate_webhook_secret(wiki.database, wiki.scope.tenant_id, first.id, overlap)
    with receiving(secret=second.secret) as other:
        async with sender(wiki.database):
            await create(wiki, "Austin")
            await settled(wiki, first.id, "delivered")
            changes = WebhookChanges(url=other.url)
            await update_webhook(wiki.database, wiki.scope.tenant_id, first.id, changes)
            await create(wiki, "Boston")
            await settled(wiki, first.id, "delivered")
        assert [one["is_signed"] for one in other.heard] == [True]
    assert [one["is_signed"] for one in receiver.heard] == [bool(overlap)]


async def test_a_failure_is_tried_again_and_holds_up_what_follows(wiki: Wiki, receiver: Receiver) -> None:
    issued = await hook(wiki, receiver)
    receiver.answers = [500]
    await create(wiki, "Austin", "Boston")
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
        assert receiver.heard == []
        await hurry(wiki)
        await settled(wiki, issued.id, "delivered")
    assert receiver.told() == [("page.created", "austin", 1), ("page.created", "boston", 1)]
    assert len(receiver.attempts) == 3
    assert (await find_webhook(wiki.database, tenant_id, issued.id)).state == "active"


async def test_a_receiver_that_takes_something_again_gets_the_rest_soon(wiki: Wiki, receiver: Receiver) -> None:
    """Not only after the pause of hours that other wikis had reached."""
    issued, other = await hook(wiki, receiver), await wiki.neighbour()
    await create(wiki, "Austin")
    await create(other, "Boston")
    await wiki.look.execute("UPDATE webhooks SET failing_since = now()")
    late = "UPDATE webhook_queues SET due_at = now() + interval '6 hours' WHERE owner_id = $1"
    await wiki.look.execute(late, other.scope.owner_id)
    async with sender(wiki.database):
        await settled(wiki, issued.id, "delivered")
    due = "SELECT due_at - now() FROM webhook_queues WHERE owner_id = $1"
    assert await wiki.look.fetchval(due, other.scope.owner_id) <= timedelta(minutes=1)


def test_pauses_grow_and_differ() -> None:
    pauses = [pause_after(attempt).total_seconds() for attempt in range(1, 40)]
    assert 4 <= pauses[0] <= 6
    assert all(one <= 6 * 3600 * 1.2 for one in pauses)
    assert sum(pauses[:20]) > 48 * 3600
    assert len({pause_after(3) for _ in range(10)}) > 1


async def test_what_cannot_be_delivered_in_time_is_dead_and_can_be_redelivered(wiki: Wiki, receiver: Receiver) -> None:
    issued, tenant_id = await hook(wiki, receiver), wiki.scope.tenant_id
    receiver.usual = 503
    await create(wiki, "Austin", "Boston")
    await wiki.look.execute("UPDATE webhook_deliveries SET retry_until = now()")
    async with sender(wiki.database):
        await settled(wiki, issued.id, "dead")
        assert receiver.heard == []
        receiver.usual = 204
        found = await list_deliveries(wiki.database, tenant_id, issued.id, status=DeliveryStatus.DEAD)
        assert [one.slug for one in found] == ["boston", "austin"]
        assert await redeliver(wiki.database, tenant_id, issued.id) == 2
        await settled(wiki, issued.id, "delivered")
        assert await redeliver(wiki.database, tenant_id, issued.id) == 0
        assert await redeliver(wiki.database, tenant_id, issued.id, found[1].id) == 1
        await settled(wiki, issued.id, "delivered")
        async with within("the receiver heard too little"):
            while len(receiver.heard) < 3:
                await asyncio.sleep(0.02)
    assert [slug for _, slug, _ in receiver.told()] == ["austin", "boston", "austin"]
    assert receiver.heard[0]["id"] == receiver.heard[2]["id"]
    with pytest.raises(NotFound):
        await redeliver(wiki.database, tenant_id, issued.id, UUID(int=1))


async def test_a_webhook_that_fails_for_long_is_disabled(wiki: Wiki, receiver: Receiver) -> None:
    issued, tenant_id = await hook(wiki, receiver), wiki.scope.tenant_id
    receiver.usual = 500
    await create(wiki, "Austin", "Boston")
    await wiki.look.execute("UPDATE webhooks SET failing_since = now() - interval '5 days'")
    async with sender(wiki.database):
        await settled(wiki, issued.id, "dead")
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
    receiver.usual = 204
    await update_webhook(wiki.database, tenant_id, issued.id, WebhookChanges(enabled=True))
    assert await redeliver(wiki.database, tenant_id, issued.id) == 2
    async with sender(wiki.database):
        await settled(wiki, issued.id, "delivered")
    assert [slug for _, slug, _ in receiver.told()] == ["austin", "boston"]


async def test_a_receiver_that_is_gone_is_disabled_at_once(wiki: Wiki, receiver: Receiver) -> None:
    issued = await hook(wiki, receiver)
    receiver.usual = 410
    await create(wiki, "Austin")
    async with sender(wiki.database):
        await settled(wiki, issued.id, "dead")
    assert (await find_webhook(wiki.database, wiki.scope.tenant_id, issued.id)).state == "disabled"


async def test_no_redirect_is_followed(wiki: Wiki, receiver: Receiver) -> None:
    await hook(wiki, receiver)
    receiver.usual = 307
    await create(wiki, "Austin")
    async with sender(wiki.database):
        row = await attempted(wiki, 1)
    assert row["error"] == "the receiver answered 307, and redirects are not followed"
    assert set(receiver.paths) == {"/hooks"}


async def test_nothing_is_sent_to_this_machine_unless_an_operator_says_so(wiki: Wiki, receiver: Receiver) -> None:
    await hook(wiki, receiver)
    await create(wiki, "Austin")
    async with sender(wiki.database, None):
        row = await attempted(wiki, 1)
    assert "CAIRN_WEBHOOK_NETWORKS" in row["error"]
    assert row["response_status"] is None
    assert receiver.attempts == []


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("https://app.example.org/", ["127.0.0.1"]),
        ("https://app.example.org/", ["10.1.2.3"]),
        ("https://app.example.org/", ["169.254.169.254"]),
        ("https://app.example.org/", ["192.168.1.1"]),
        ("https://app.example.org/", ["::1"]),
        ("https://app.example.org/", ["fd00::1"]),
        ("https://app.example.org/", ["fe80::1%eth0"]),
        ("https://app.example.org/", ["::ffff:127.0.0.1"]),
        ("https://app.example.org/", ["64:ff9b::7f00:1"]),
        ("https://app.example.org/", ["93.184.215.14", "127.0.0.1"]),
        ("https://app.example.org/", []),
        ("http://app.example.org/", ["93.184.215.14"]),
        ("https://2130706433/", ["127.0.0.1"]),
        ("https://localhost/", ["127.0.0.1"]),
    ],
)
async def test_addresses_inside_are_refused_whatever_they_are_called(url: str, found: Sequence[str]) -> None:
    async def look_up(host: str, port: int) -> Sequence[str]:
        return found

    client = WebhookClient("10.9.0.0/16", look_up=look_up)
    with pytest.raises(NotSent):
        async with client.to(url):
            raise AssertionError("a connection would be opened")


async def test_a_name_is_looked_up_once_so_that_it_cannot_mean_another_machine_then(receiver: Receiver) -> None:
    asked: list[str] = []

    async def look_up(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["127.0.0.2"]

    url = f"http://rebound.example.org:{receiver.port}/hooks"
    async with WebhookClient(INSIDE, look_up=look_up).to(url) as post:
        for _ in range(2):
            assert await post({"webhook-id": "1"}, b'{"data": {}}') == 204
    assert asked == ["rebound.example.org"]


async def test_an_endpoint_that_does_not_answer_holds_up_no_other(wiki: Wiki, receiver: Receiver) -> None:
    with receiving() as dead:
        dead.slow = 20
        await create_webhook(wiki.database, wiki.scope.tenant_id, WebhookDraft(dead.url))
        issued = await hook(wiki, receiver, owner_ids=[wiki.scope.owner_id])
        for number in range(sending.SLOTS):
            owner = await create_owner(wiki.database, wiki.scope.tenant_id, OwnerKind.USER, f"other-{number}", "Other")
            await create(replace(wiki, scope=wiki.scope.in_owner(owner.id)), "Elsewhere")
        await create(wiki, "Austin")
        async with sender(wiki.database):
            await settled(wiki, issued.id, "delivered")
        assert dead.heard == []
    assert len(receiver.heard) == 1


async def test_a_receiver_that_takes_too_long_has_not_taken_it(receiver: Receiver) -> None:
    receiver.slow = 5
    with pytest.raises(NotSent, match="took more than"):
        async with WebhookClient(INSIDE, seconds=0.2).to(receiver.url) as post:
            await post({"webhook-id": "1"}, b'{"data": {}}')


async def test_two_senders_keep_the_order_of_a_queue(wiki: Wiki, receiver: Receiver) -> None:
    """However many send, one at a time has a queue."""
    receiver.slow = 0.01
    issued = await hook(wiki, receiver)
    other = Database(wiki.database.dsn, size=4)
    await other.open()
    (page_id,) = await create(wiki, "Austin")
    try:
        async with sender(wiki.database), sender(other), sender(other):
            for turn in range(40):
                await update_page(wiki.database, wiki.scope, page_id, summary=f"Turn {turn}.")
            await settled(wiki, issued.id, "delivered")
    finally:
        await other.close()
    assert [version for _, _, version in receiver.told()] == [*range(1, 42)]
    assert receiver.most_at_once == 1


async def test_what_a_lost_sender_had_is_sent_by_another_with_the_same_id(wiki: Wiki, receiver: Receiver) -> None:
    issued = await hook(wiki, receiver)
    await create(wiki, "Austin", "Boston")
    lost = Sender(wiki.database, WebhookClient(INSIDE), "lost", lease=0.5)
    claim = await lost.claim(wiki.scope.tenant_id)
    assert claim is not None
    assert await lost.claim(wiki.scope.tenant_id) is None
    async with sender(wiki.database):
        await settled(wiki, issued.id, "delivered")
    assert [slug for _, slug, _ in receiver.told()] == ["austin", "boston"]
    await lost.release(claim, timedelta())
    assert (await wiki.row("webhook_queues"))["due_at"] is None


async def test_what_is_queued_while_a_queue_is_left_is_not_forgotten(wiki: Wiki, receiver: Receiver) -> None:
    issued = await hook(wiki, receiver)
    await create(wiki, "Austin")
    early = Sender(wiki.database, WebhookClient(INSIDE), "early")
    claim = await early.claim(wiki.scope.tenant_id)
    assert claim is not None
    await early.drain(claim)
    await create(wiki, "Boston")
    await early.release(claim, timedelta())
    assert (await wiki.row("webhook_queues"))["due_at"] is not None
    async with sender(wiki.database):
        await settled(wiki, issued.id, "delivered")
    assert len(receiver.heard) == 2


async def test_a_deleted_webhook_leaves_nothing(wiki: Wiki, receiver: Receiver) -> None:
    issued = await hook(wiki, receiver)
    await create(wiki, "Austin")
    async with sender(wiki.database):
        await settled(wiki, issued.id, "delivered")
        await delete_webhook(wiki.database, wiki.scope.tenant_id, issued.id)
        await create(wiki, "Boston")
    assert await list_webhooks(wiki.database, wiki.scope.tenant_id) == []
    assert await wiki.rows("webhook_deliveries") == []
    assert len(receiver.heard) == 1


async def test_what_is_over_goes_after_a_while(wiki: Wiki, receiver: Receiver) -> None:
    issued, tenant_id = await hook(wiki, receiver), wiki.scope.tenant_id
    await create(wiki, "Austin", "Boston", "Chicago")
    async with sender(wiki.database):
        rows = await settled(wiki, issued.id, "delivered")
    age = "UPDATE webhook_deliveries SET status = $2, finished_at = $3 WHERE id = $1"
    now = rows[0]["finished_at"]
    await wiki.look.execute(age, rows[0]["id"], "delivered", now - timedelta(days=8))
    await wiki.look.execute(age, rows[1]["id"], "dead", now - timedelta(days=8))
    assert await prune_deliveries(wiki.database, tenant_id, now) == 1
    assert await prune_deliveries(wiki.database, tenant_id, now + timedelta(days=23)) == 2


async def test_a_test_delivery_says_what_was_answered(wiki: Wiki, receiver: Receiver) -> None:
    issued, tenant_id = await hook(wiki, receiver), wiki.scope.tenant_id
    assert await send_test(wiki.database, tenant_id, issued.id, WebhookClient(INSIDE)) == 204
    assert [(one["body"]["type"], one["is_signed"]) for one in receiver.heard] == [("webhook.test", True)]
    receiver.usual = 401
    with pytest.raises(NotSent, match="401"):
        await send_test(wiki.database, tenant_id, issued.id, WebhookClient(INSIDE))
    with pytest.raises(NotFound):
        await send_test(wiki.database, tenant_id, UUID(int=1), WebhookClient(INSIDE))


async def test_an_outage_of_a_receiver_is_found_by_few_of_its_queues(
    wiki: Wiki, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or each of them would have a pause when it is over."""
    monkeypatch.setattr(sending, "COOLING", 3600.0)
    await hook(wiki, receiver)
    receiver.usual = 500
    await create(wiki, "Austin")
    await create(await wiki.neighbour(), "Boston")
    one = Sender(wiki.database, WebhookClient(INSIDE), "one")
    claim = await one.claim(wiki.scope.tenant_id)
    assert claim is not None
    await one.release(claim, await one.drain(claim))
    assert await one.claim(wiki.scope.tenant_id) is None
    one.cooling.clear()
    assert await one.claim(wiki.scope.tenant_id) is not None


async def test_one_webhook_takes_a_part_of_the_slots(wiki: Wiki, receiver: Receiver) -> None:
    issued = await hook(wiki, receiver)
    await create(wiki, "Austin")
    busy = Sender(wiki.database, WebhookClient(INSIDE), "busy")
    waiting = [asyncio.create_task(asyncio.sleep(3600)) for _ in range(sending.SLOTS_OF_ONE)]
    busy.running = dict.fromkeys(waiting, issued.id)
    assert await busy.claim(wiki.scope.tenant_id) is None
    waiting[0].cancel()
    busy.running.pop(waiting[0])
    assert await busy.claim(wiki.scope.tenant_id) is not None
    for task in waiting:
        task.cancel()
