"""The subscribers of changes in this process, and what each has yet to be told.

A subscriber that is slower than the changes misses none of the pages that changed: what waits for it is kept once for
each page, and from a certain number on as one RESYNC. So memory is bounded, and nobody waits for the slowest.
"""

from asyncio import Event
from collections import defaultdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID

from db.sql import statements

from ..errors import NotFound
from ..permissions import Action, authorise
from ..transactions.transaction import NO_PAGE, read_connection
from .changes import ChangeEvent, ChangeKind, Topic, merge_changes

WAITING_MAX = 256  # changes that wait for one subscriber
Place = tuple[Topic, UUID, UUID]


class Subscriber:
    """The changes of one wiki, or of one page in it, from the moment it is made. Iterated until the feed closes."""

    def __init__(self, feed: "Feed", place: Place, page_id: UUID | None = None) -> None:
        self.feed, self.place, self.page_id = feed, place, page_id
        self.waiting: dict[UUID | None, ChangeEvent] = {}
        self.heard, self.ended = Event(), False
        feed.subscribers[place].add(self)

    def resync(self) -> None:
        """Replace whatever waits and whatever was missed by one change: read anew."""
        topic, tenant_id, owner_id = self.place
        told = ChangeEvent(tenant_id, owner_id, topic, ChangeKind.RESYNC, self.page_id, None, datetime.now(UTC))
        self.waiting = {self.page_id: told}
        self.heard.set()

    def hear(self, change: ChangeEvent) -> None:
        if not self.concerns(change):
            return
        key = self.page_id or change.id
        before = self.waiting.get(key)
        change = change._replace(id=key)
        self.waiting[key] = merge_changes(before, change) if before else change
        if len(self.waiting) > WAITING_MAX or change.kind is ChangeKind.RESYNC:
            self.resync()
        self.heard.set()

    def concerns(self, change: ChangeEvent) -> bool:
        """Return whether it concerns the page: what happens to the whole wiki does, except evidence alone."""
        if self.page_id is None or change.id == self.page_id:
            return True
        return change.id is None and change.kind is not ChangeKind.EVIDENCE

    def __aiter__(self) -> "Subscriber":
        return self

    async def __anext__(self) -> ChangeEvent:
        """Return the next change. A page that was deleted has no more changes."""
        while not (self.waiting or self.ended or self.feed.closed):
            self.heard.clear()
            await self.heard.wait()
        if self.ended or self.feed.closed:
            raise StopAsyncIteration
        change = self.waiting.pop(next(iter(self.waiting)))
        self.ended = self.page_id is not None and change.kind is ChangeKind.DELETED
        return change

    async def aclose(self) -> None:
        subscribers = self.feed.subscribers[self.place]
        subscribers.discard(self)
        if not subscribers:
            del self.feed.subscribers[self.place]


class Feed:
    """A feed of changes to all subscribers of a process."""

    def __init__(self) -> None:
        self.subscribers: defaultdict[Place, set[Subscriber]] = defaultdict(set)
        self.closed = False

    def tell(self, change: ChangeEvent) -> None:
        place = change.topic, change.tenant_id, change.owner_id
        for subscriber in self.subscribers.get(place, ()):
            subscriber.hear(change)

    def resync(self) -> None:
        """Tell all subscribers that changes may have been missed: nobody knows whose."""
        for subscriber in self.all():
            subscriber.resync()

    def close(self) -> None:
        """End every iteration now."""
        self.closed = True
        for subscriber in self.all():
            subscriber.heard.set()

    def all(self) -> list[Subscriber]:
        return [subscriber for subscribers in self.subscribers.values() for subscriber in subscribers]


if TYPE_CHECKING:
    from ..context import Context

PAGES = statements("pages/pages")


async def watch_page(context: "Context", page_id: UUID, *, initial: bool) -> Subscriber:
    """Watch the changes of one page. One that may not be seen is as unknown as any."""
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
    """Watch the changes of a wiki, the caller's own when none is named, or those of its compile jobs or proposals."""
    owner_id = context.scope.owner_id if owner_id is None else owner_id
    async with read_connection(context.database) as connection:
        action = Action.WRITE if topic is Topic.PROPOSALS else Action.READ
        await authorise(connection, context.scope, owner_id, action)
    return subscriber(context, topic, owner_id, initial=initial)


def subscriber(
    context: "Context", topic: Topic, owner_id: UUID, page_id: UUID | None = None, *, initial: bool
) -> Subscriber:
    """Return a subscriber that hears from now on; with `initial` it begins with a RESYNC and misses nothing."""
    assert context.feed is not None, "whoever may follow has a feed"
    made = Subscriber(context.feed, (topic, context.scope.tenant_id, owner_id), page_id)
    if initial:
        made.resync()
    return made
