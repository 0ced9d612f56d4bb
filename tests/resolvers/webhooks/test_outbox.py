"""Writes queue deliveries for webhooks: in their own transaction, filtered, in the order of commits."""

import asyncio
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from db.database import Database
from db.sql import statements
from resolvers.auth.owners import OwnerKind, create_owner
from resolvers.errors import BadInput, NotFound
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import archive_scope, create_page, delete_page, update_page
from resolvers.subscriptions.changes import ANNOUNCED_MAX, ChangeKind
from resolvers.transactions.outbox import queue_deliveries
from resolvers.transactions.transaction import writing
from resolvers.webhooks import webhooks
from resolvers.webhooks.webhooks import WebhookChanges, WebhookDraft, create_webhook, delete_webhook, update_webhook
from tests.wiki import Wiki

URL = "https://app.example.org/hooks"


async def add_webhook(wiki: Wiki, **given: Any) -> UUID:
    return (await create_webhook(wiki.database, wiki.scope.tenant_id, WebhookDraft(URL, **given))).id


async def create(wiki: Wiki, title: str, type: str = "topic", **given: Any) -> UUID:
    return (await create_page(wiki.database, wiki.scope, PageDraft(type, title, **given))).page_id


async def queued(wiki: Wiki, webhook_id: UUID) -> list[tuple[str, str | None, int | None]]:
    """Return the queued deliveries of the wiki, in the order in which they will be sent."""
    rows = await wiki.rows("webhook_deliveries", "position", webhook_id=webhook_id)
    assert [row["position"] for row in rows] == [*range(1, len(rows) + 1)]
    return [(row["kind"], row["slug"], row["version"]) for row in rows]


async def test_a_write_queues_a_delivery_for_each_change(wiki: Wiki) -> None:
    webhook_id = await add_webhook(wiki)
    page_id = await create(wiki, "Austin")
    await update_page(wiki.database, wiki.scope, page_id, title="Austin, Texas")
    await delete_page(wiki.database, wiki.scope, page_id)
    assert await queued(wiki, webhook_id) == [
        ("created", "austin", 1),
        ("renamed", "austin", 2),
        ("deleted", "austin", None),
    ]
    rows = await wiki.rows("webhook_deliveries")
    assert [row["page_type"] for row in rows] == ["topic"] * 3
    assert {row["page_id"] for row in rows} == {page_id}
    queue = await wiki.row("webhook_queues")
    assert queue["last_position"] == 3
    assert queue["due_at"] is not None


async def test_a_rolled_back_write_queues_nothing(wiki: Wiki) -> None:
    webhook_id = await add_webhook(wiki)

    async def fail() -> None:
        async with writing(wiki.database, wiki.scope) as writer:
            writer.changes.add(ChangeKind.UPDATED, None)
            await queue_deliveries(writer)
            assert await writer.value(statements("webhooks/webhooks")["count_deliveries"]) == 1
            raise BadInput("No.")

    with pytest.raises(BadInput, match="No"):
        await fail()
    assert await queued(wiki, webhook_id) == []


async def test_nothing_is_queued_without_a_webhook(wiki: Wiki) -> None:
    await create(wiki, "Austin")
    assert await wiki.rows("webhook_queues", "webhook_id") == []


async def test_a_webhook_gets_the_kinds_and_types_that_it_subscribed_to(wiki: Wiki) -> None:
    created, entities = await add_webhook(wiki, kinds=["created"]), await add_webhook(wiki, types=["entity"])
    page_id = await create(wiki, "Austin")
    await create(wiki, "Mara", "entity")
    await update_page(wiki.database, wiki.scope, page_id, title="Austin, Texas")
    await wiki.add_source()
    assert [line[:2] for line in await queued(wiki, created)] == [("created", "austin"), ("created", "mara")]
    assert [line[:2] for line in await queued(wiki, entities)] == [("created", "mara")]


async def test_events_of_the_whole_wiki_ignore_the_types_of_a_webhook(wiki: Wiki) -> None:
    entities = await add_webhook(wiki, types=["entity"])
    await create(wiki, "Austin")
    await archive_scope(wiki.database, wiki.scope)
    assert await queued(wiki, entities) == [("archived", None, None)]


async def test_a_webhook_gets_events_of_the_wikis_that_it_subscribed_to(wiki: Wiki) -> None:
    other = await create_owner(wiki.database, wiki.scope.tenant_id, OwnerKind.USER, "other", "Other")
    mine, theirs = (
        await add_webhook(wiki, owner_ids=[wiki.scope.owner_id]),
        await add_webhook(wiki, owner_ids=[other.id]),
    )
    everything = await add_webhook(wiki)
    await create(wiki, "Austin")
    there = replace(wiki, scope=wiki.scope.in_owner(other.id))
    await create(there, "Boston")
    assert len(await queued(wiki, mine)) == 1
    assert await queued(wiki, theirs) == []
    assert len(await queued(there, theirs)) == 1
    assert await queued(there, mine) == []
    assert len(await queued(wiki, everything)) == len(await queued(there, everything)) == 1


@pytest.mark.parametrize(
    ("level", "recipients"), [(None, 3), ("public", 3), ("confidential", 2), ("Secret", 1), ("nonsense", 1), ("", 3)]
)
async def test_a_page_above_the_ceiling_is_not_sent(wiki: Wiki, level: str | None, recipients: int) -> None:
    """Neither its creation nor its deletion is queued."""
    ids = [await add_webhook(wiki, ceiling=ceiling) for ceiling in ("internal", "confidential", "secret")]
    metadata = None if level is None else {"sensitivity": level}
    page_id = await create(wiki, "Austin", metadata=metadata)
    await delete_page(wiki.database, wiki.scope, page_id)
    deliveries = [len(await queued(wiki, webhook_id)) for webhook_id in ids]
    assert deliveries == [0] * (3 - recipients) + [2] * recipients


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (None, "confidential", ["deleted", "updated", "updated"]),
        ("public", "nonsense", ["deleted", "deleted", "updated"]),
        ("confidential", "secret", [None, "deleted", "updated"]),
        ("public", "internal", ["updated", "updated", "updated"]),
        ("secret", None, ["updated", "updated", "updated"]),
    ],
)
async def test_a_page_that_rises_above_the_ceiling_is_sent_as_deleted(
    wiki: Wiki, before: str | None, after: str | None, told: list[str | None]
) -> None:
    page_id = await create(wiki, "Austin", metadata={"sensitivity": before} if before else None)
    ids = [await add_webhook(wiki, ceiling=ceiling) for ceiling in ("internal", "confidential", "secret")]
    await update_page(
        wiki.database, wiki.scope, page_id, title="The raid", slug="raid", metadata={"sensitivity": after}
    )
    for webhook_id, kind in zip(ids, told, strict=True):
        seen = {"deleted": [("deleted", "austin", None)], "updated": [("renamed", "raid", 2)], None: []}[kind]
        assert await queued(wiki, webhook_id) == seen


async def test_changes_beyond_the_limit_become_one_event(wiki: Wiki) -> None:
    webhook_id = await add_webhook(wiki, kinds=["created"], types=["entity"])
    async with writing(wiki.database, wiki.scope) as writer:
        for number in range(ANNOUNCED_MAX + 1):
            writer.changes.add(ChangeKind.UPDATED, UUID(int=number))
        await queue_deliveries(writer)
        writer.changes.found.clear()  # there are no such pages
    assert await queued(wiki, webhook_id) == [("resync", None, None)]


async def test_a_disabled_webhook_gets_no_events_until_it_is_enabled(wiki: Wiki) -> None:
    webhook_id, tenant_id = await add_webhook(wiki), wiki.scope.tenant_id
    await update_webhook(wiki.database, tenant_id, webhook_id, WebhookChanges(enabled=False))
    await create(wiki, "Austin")
    found = await update_webhook(wiki.database, tenant_id, webhook_id, WebhookChanges(enabled=True))
    assert found.state == "active"
    await create(wiki, "Boston")
    assert [line[:2] for line in await queued(wiki, webhook_id)] == [("created", "boston")]


async def test_deliveries_are_queued_in_the_order_of_commits(wiki: Wiki) -> None:
    """Versions of each page ascend in the queue under concurrent writers, and no position is used twice."""
    webhook_id = await add_webhook(wiki)
    pages = [await create(wiki, f"Page {number}") for number in range(3)]

    async def write(database: Database, writer: int) -> None:
        for turn in range(5):
            page_id = pages[(writer + turn) % len(pages)]
            await update_page(database, wiki.scope, page_id, summary=f"Writer {writer}, turn {turn}.")

    other = Database(wiki.database.dsn, size=4)  # as another process: the two meet at the lock of the wiki alone
    await other.open()
    try:
        await asyncio.gather(*(write((wiki.database, other)[number % 2], number) for number in range(6)))
    finally:
        await other.close()
    rows = await wiki.rows("webhook_deliveries", "position", webhook_id=webhook_id)
    assert [row["position"] for row in rows] == [*range(1, 3 + 6 * 5 + 1)]
    for page_id in pages:
        versions = [row["version"] for row in rows if row["page_id"] == page_id]
        assert versions == [*range(1, len(versions) + 1)]


async def test_a_webhook_can_be_deleted_during_writes(wiki: Wiki) -> None:
    """No write fails, and no delivery or queue is left."""
    tenant_id = wiki.scope.tenant_id

    async def write(number: int) -> None:
        for turn in range(4):
            await create(wiki, f"Page {number} {turn}")

    async def make_and_delete() -> None:
        for _ in range(6):
            webhook_id = await add_webhook(wiki)
            await asyncio.sleep(0.02)
            await delete_webhook(wiki.database, tenant_id, webhook_id)

    await asyncio.gather(*map(write, range(4)), make_and_delete())
    assert await wiki.rows("webhook_deliveries") == []
    assert await wiki.rows("webhook_queues", "webhook_id") == []
    with pytest.raises(NotFound):
        await delete_webhook(wiki.database, tenant_id, UUID(int=1))


@pytest.mark.parametrize(
    "given",
    [
        {"url": "ftp://example.org"},
        {"url": "https://"},
        {"url": "https://user:secret@example.org/"},
        {"url": "https://example.org/#part"},
        {"url": "https://example.org:99999/"},
        {"url": "https://192.168.1.256/"},
        {"url": "https://[v1.example]/"},
        {"url": "https://example.org/\x7f"},
        {"url": URL, "kinds": ["sold"]},
        {"url": URL, "types": ["car"]},
        {"url": URL, "ceiling": "low"},
    ],
)
async def test_invalid_webhooks_are_refused(wiki: Wiki, given: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        await create_webhook(wiki.database, wiki.scope.tenant_id, WebhookDraft(**given))


async def test_webhooks_per_tenant_are_limited(wiki: Wiki) -> None:
    for _ in range(webhooks.WEBHOOKS_MAX):
        await add_webhook(wiki)
    with pytest.raises(BadInput, match="20 webhooks"):
        await add_webhook(wiki)


async def test_owners_of_another_tenant_are_unknown(wiki: Wiki) -> None:
    with pytest.raises(NotFound):
        await add_webhook(wiki, owner_ids=[UUID(int=7)])
