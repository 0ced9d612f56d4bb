"""A wiki at a glance, rendered as markdown."""

from typing import Any

import strawberry

from db import relations
from db.access import AS_CHECKED
from resolvers.knowledge import overview
from selection import Step

from .enums import WikiPageType
from .fields import OlderOwner, OwnerName, column, source
from .search.search_rows import owner_named, texts

jobs = relations.jobs


@strawberry.type(description="A part of an overview of a wiki.")
class WikiOverview:
    body_md: str = column("The part as markdown. The first one has the title.")
    next_cursor: str | None = column("`after` it comes the next part; null after the last one.")


async def scope_of(context: Any, where: dict[str, str | None]) -> Any:
    owner_id = await owner_named(context, where)
    return context.scope if owner_id is None else context.scope.in_owner(owner_id)


async def find_map(
    context: Any,
    parent: Any,
    wanted: frozenset[str],
    types: list[str] | None = None,
    first: int | None = None,
    after: str | None = None,
    **where: str | None,
) -> list[tuple[Any, ...]]:
    chosen = None if types is None else texts(types)
    size = overview.DEFAULT if first is None else first
    part = await overview.knowledge_map(
        context.database, await scope_of(context, where), types=chosen, first=size, after=after
    )
    return [(part.body, part.next_cursor)]


async def find_log(
    context: Any,
    parent: Any,
    wanted: frozenset[str],
    first: int | None = None,
    after: str | None = None,
    **where: str | None,
) -> list[tuple[Any, ...]]:
    size = overview.DEFAULT if first is None else first
    part = await overview.activity_log(context.database, await scope_of(context, where), first=size, after=after)
    return [(part.body, part.next_cursor)]


@strawberry.type
class OverviewQueries:
    @source(
        jobs.reported,
        "The knowledge map: active pages by type and slug, as links with a sentence each; stubs are marked.",
        access=AS_CHECKED,
        step=Step(find_map, jobs.OVERVIEW, cost=overview.MOST),
    )
    def wiki_knowledge_map(
        types: list[WikiPageType] | None = None,
        first: int | None = None,
        after: str | None = None,
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> WikiOverview | None: ...

    @source(
        jobs.reported,
        "The activity log: what was done in a wiki, when and by whom, the newest first.",
        access=AS_CHECKED,
        step=Step(find_log, jobs.OVERVIEW, cost=overview.MOST),
    )
    def wiki_activity_log(
        first: int | None = None,
        after: str | None = None,
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> WikiOverview | None: ...
