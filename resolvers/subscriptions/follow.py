"""Following what changes: who may, and what from."""

from typing import TYPE_CHECKING
from uuid import UUID

from db.sql import statements

from ..errors import NotFound
from ..permissions import Action, authorise
from ..transactions.transaction import NO_PAGE, looking
from .changes import Topic
from .feed import Watcher

if TYPE_CHECKING:
    from ..context import Context

PAGES = statements("pages")


async def watch_page(context: "Context", page_id: UUID, *, initial: bool) -> Watcher:
    """The changes of one page. One that may not be seen is as unknown as any."""
    scope = context.scope
    async with looking(context.database) as connection:
        owner_id = await connection.value(PAGES["find_owner"], tenant_id=scope.tenant_id, id=page_id)
        if owner_id is None:
            raise NotFound(NO_PAGE)
        try:
            await authorise(connection, scope, owner_id, Action.READ)
        except NotFound:
            raise NotFound(NO_PAGE) from None
    return watcher(context, Topic.PAGES, owner_id, page_id, initial=initial)


async def watch_wiki(
    context: "Context", owner_id: UUID | None, *, initial: bool, topic: Topic = Topic.PAGES
) -> Watcher:
    """The changes of a wiki, the caller's own when none is named, or those of its compile jobs."""
    owner_id = context.scope.owner_id if owner_id is None else owner_id
    async with looking(context.database) as connection:
        await authorise(connection, context.scope, owner_id, Action.READ)
    return watcher(context, topic, owner_id, initial=initial)


def watcher(context: "Context", topic: Topic, owner_id: UUID, page_id: UUID | None = None, *, initial: bool) -> Watcher:
    """One that hears from now on; with `initial` it begins with a RESYNC, and nothing is missed after it."""
    assert context.feed is not None, "whoever may follow has a feed"
    made = Watcher(context.feed, (topic, context.scope.tenant_id, owner_id), page_id)
    if initial:
        made.resync()
    return made
