"""Events that wait for a subscriber: bounded, coalesced, in order."""

import asyncio
from datetime import UTC, datetime
from itertools import permutations
from uuid import UUID

import pytest

from db.ids import new_id
from resolvers.subscriptions.changes import ChangeEvent, ChangeKind, Topic, merge_changes
from resolvers.subscriptions.feed import PENDING_MAX, Feed, Subscriber

TENANT, OWNER, PAGE = new_id(), new_id(), new_id()
PLACE = (Topic.PAGES, TENANT, OWNER)


def change_event(
    kind: ChangeKind = ChangeKind.UPDATED, id: UUID | None = PAGE, version: int | None = None
) -> ChangeEvent:
    return ChangeEvent(TENANT, OWNER, Topic.PAGES, kind, id, version, datetime.now(UTC))


async def pending_events(subscriber: Subscriber) -> list[tuple[ChangeKind, UUID | None]]:
    """Return all pending events."""
    found = []
    while subscriber.pending:
        change = await anext(subscriber)
        found.append((change.kind, change.id))
    return found


async def test_a_slow_subscriber_gets_each_page_once(feed: Feed) -> None:
    subscriber, pages = Subscriber(feed, PLACE), [new_id() for _ in range(3)]
    for version in range(1000):
        for page in pages:
            feed.publish(change_event(id=page, version=version))
    assert [change.version for change in subscriber.pending.values()] == [999, 999, 999]
    assert await pending_events(subscriber) == [(ChangeKind.UPDATED, page) for page in pages]


async def test_a_subscriber_with_too_many_pending_events_gets_a_resync(feed: Feed) -> None:
    subscriber = Subscriber(feed, PLACE)
    for _ in range(PENDING_MAX * 3 + 1):
        feed.publish(change_event(id=new_id()))
        assert len(subscriber.pending) <= PENDING_MAX
    found = await pending_events(subscriber)
    assert found[0] == (ChangeKind.RESYNC, None)
    assert len(found) <= PENDING_MAX


async def test_events_of_the_whole_wiki_reach_subscribers_of_a_page(feed: Feed) -> None:
    subscriber = Subscriber(feed, PLACE, PAGE)
    feed.publish(change_event(ChangeKind.EVIDENCE, None))
    feed.publish(change_event(ChangeKind.UPDATED, new_id()))
    assert await pending_events(subscriber) == []
    feed.publish(change_event(ChangeKind.ARCHIVED, None))
    assert await pending_events(subscriber) == [(ChangeKind.ARCHIVED, PAGE)]
    feed.publish(change_event(ChangeKind.RESYNC, None))
    assert await pending_events(subscriber) == [(ChangeKind.RESYNC, PAGE)]


async def test_events_of_other_wikis_tenants_and_topics_are_not_sent(feed: Feed) -> None:
    subscriber = Subscriber(feed, PLACE)
    for change in (
        change_event()._replace(tenant_id=new_id()),
        change_event()._replace(owner_id=new_id()),
        change_event()._replace(topic=Topic.JOBS),
    ):
        feed.publish(change)
    assert not subscriber.pending


async def test_closing_the_feed_ends_every_subscriber(feed: Feed) -> None:
    subscriber = Subscriber(feed, PLACE)
    waiting = asyncio.create_task(anext(subscriber))
    await asyncio.sleep(0)
    feed.close()
    with pytest.raises(StopAsyncIteration):
        await waiting


async def test_a_subscriber_that_leaves_is_removed(feed: Feed) -> None:
    subscribers = [Subscriber(feed, PLACE), Subscriber(feed, PLACE)]
    for subscriber in subscribers:
        await subscriber.aclose()
        await subscriber.aclose()
    assert not feed.subscribers


def test_merged_changes_have_the_most_significant_kind() -> None:
    kinds = [kind for kind in ChangeKind if kind is not ChangeKind.RESTORED]
    for earlier, later in permutations(kinds, 2):
        assert merge_changes(change_event(earlier), change_event(later)).kind == max(earlier, later, key=kinds.index)
    archived, restored = change_event(ChangeKind.ARCHIVED), change_event(ChangeKind.RESTORED)
    assert merge_changes(archived, restored).kind is ChangeKind.RESTORED
    assert merge_changes(restored, archived).kind is ChangeKind.ARCHIVED


@pytest.fixture
def feed() -> Feed:
    return Feed()
