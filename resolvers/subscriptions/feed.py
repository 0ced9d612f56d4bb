"""The subscribers to changes in this process, each with a queue of its pending changes.

The changes of one page are merged in the queue, and a queue that grows too long becomes a single RESYNC. So a slow
subscriber misses no changed page, memory is bounded, and no subscriber waits for a slower one.
"""

from asyncio import Event
from collections import defaultdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID

from db.database import Database
from db.scope import Scope
from db.sql import statements

from ..errors import Forbidden, NotFound, Unavailable
from ..permissions import Action, authorise
from ..transactions.transaction import NO_PAGE, read_connection
from .changes import ChangeEvent, ChangeKind, Topic, merge_changes

PENDING_MAX = 256  # pending changes of one subscriber
Place = tuple[Topic, UUID, UUID]


class Subscriber:
    """An iterator over the changes of a wiki, or of one of its pages. It ends when the feed closes."""

    def __init__(self, feed: "Feed", place: Place, page_id: UUID | None = None) -> None:
        self.feed, self.place, self.page_id = feed, place, page_id
        self.pending: dict[UUID | None, ChangeEvent] = {}
        self.has_changes, self.ended = Event(), False
        feed.subscribers[place].add(self)

    def resync(self) -> None:
        """Replace all pending and missed changes by one RESYNC, which asks the client to read everything again."""
        topic, tenant_id, owner_id = self.place
        change = ChangeEvent(tenant_id, owner_id, topic, ChangeKind.RESYNC, self.page_id, None, datetime.now(UTC))
        self.pending = {self.page_id: change}
        self.has_changes.set()

    def receive(self, change: ChangeEvent) -> None:
        if not self.is_relevant(change):
            return
        key = self.page_id or change.id
        before = self.pending.get(key)
        change = change._replace(id=key)
        self.pending[key] = merge_changes(before, change) if before else change
        if len(self.pending) > PENDING_MAX or change.kind is ChangeKind.RESYNC:
            self.resync()
        self.has_changes.set()

    def is_relevant(self, change: ChangeEvent) -> bool:
        """Return whether a change concerns the page. Changes of the whole wiki do, except new evidence."""
        if self.page_id is None or change.id == self.page_id:
            return True
        return change.id is None and change.kind is not ChangeKind.EVIDENCE

    def __aiter__(self) -> "Subscriber":
        return self

    async def __anext__(self) -> ChangeEvent:
        """Return the next change. The iteration ends after the deletion of the page."""
        while not (self.pending or self.ended or self.feed.closed):
            self.has_changes.clear()
            await self.has_changes.wait()
        if self.ended or self.feed.closed:
            raise StopAsyncIteration
        change = self.pending.pop(next(iter(self.pending)))
        self.ended = self.page_id is not None and change.kind is ChangeKind.DELETED
        return change

    async def aclose(self) -> None:
        subscribers = self.feed.subscribers[self.place]
        subscribers.discard(self)
        if not subscribers:
            del self.feed.subscribers[self.place]


class Feed:
    """The distribution of changes to all subscribers of a process."""

    def __init__(self) -> None:
        self.subscribers: defaultdict[Place, set[Subscriber]] = defaultdict(set)
        self.closed = False

    def publish(self, change: ChangeEvent) -> None:
        place = change.topic, change.tenant_id, change.owner_id
        for subscriber in self.subscribers.get(place, ()):
            subscriber.receive(change)

    def resync(self) -> None:
        """Send all subscribers a RESYNC, because changes of any wiki may have been missed."""
        for subscriber in self.all():
            subscriber.resync()

    def close(self) -> None:
        """End the iteration of every subscriber now."""
        self.closed = True
        for subscriber in self.all():
            subscriber.has_changes.set()

    def all(self) -> list[Subscriber]:
        return [subscriber for subscribers in self.subscribers.values() for subscriber in subscribers]


if TYPE_CHECKING:
    from ..context import Context

PAGES = statements("pages/pages")


async def watch_page(context: "Context", page_id: UUID, *, initial: bool) -> Subscriber:
    """Subscribe to the changes of one page. Raises NotFound for a page that does not exist or may not be read."""
    scope = context.scope
    async with read_connection(context.database) as connection:
        owner_id = await connection.value(PAGES["find_owner"], tenant_id=scope.tenant_id, id=page_id)
        if owner_id is None:
            raise NotFound(NO_PAGE)
        try:
            await authorise(connection, scope, owner_id, Action.READ)
        except NotFound:
            raise NotFound(NO_PAGE) from None
    return subscriber(context, Topic.PAGES, owner_id, page_id, initial=initial)


async def watch_wiki(
    context: "Context", owner_id: UUID | None, *, initial: bool, topic: Topic = Topic.PAGES
) -> Subscriber:
    """Subscribe to the changes of the pages, compile jobs or proposals of a wiki, by default the caller's own."""
    owner_id = context.scope.owner_id if owner_id is None else owner_id
    async with read_connection(context.database) as connection:
        await authorise(connection, context.scope, owner_id, action_for(topic))
    return subscriber(context, topic, owner_id, initial=initial)


async def may_still_follow(database: Database, scope: Scope, subscriber: Subscriber) -> bool:
    """Return whether a caller who may not read an event goes on to follow its wiki, or False for that of one page.

    If the database is unavailable, that is decided at the next such event.
    """
    topic, _, owner_id = subscriber.place
    if subscriber.page_id is not None:
        return False
    try:
        async with read_connection(database) as connection:
            await authorise(connection, scope, owner_id, action_for(topic))
    except (Forbidden, NotFound):
        return False
    except Unavailable:
        return True
    return True


def action_for(topic: Topic) -> Action:
    """Return the action that a caller must be allowed in a wiki to follow its changes."""
    return Action.WRITE if topic is Topic.PROPOSALS else Action.READ


def subscriber(
    context: "Context", topic: Topic, owner_id: UUID, page_id: UUID | None = None, *, initial: bool
) -> Subscriber:
    """Return a subscriber to changes from now on. With `initial` it begins with a RESYNC, so that none is missed."""
    assert context.feed is not None, "whoever may follow has a feed"
    created = Subscriber(context.feed, (topic, context.scope.tenant_id, owner_id), page_id)
    if initial:
        created.resync()
    return created
