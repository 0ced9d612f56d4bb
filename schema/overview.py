"""A wiki at a glance, rendered as markdown, and its diary."""

from datetime import datetime
from typing import Annotated, Any

import strawberry

from db import relations
from db.access import AS_CHECKED
from resolvers.knowledge import diary, overview
from selection import Step

from .enums import WikiDiaryTopic, WikiPageType
from .fields import OlderOwner, OwnerName, column, relation, source, whole
from .pages.pages import WikiPage
from .search.search_rows import owner_named, texts

jobs = relations.jobs


@strawberry.type(description="A part of an overview of a wiki.")
class WikiOverview:
    body_md: str = column("The part as markdown. The first one has the title.")
    next_cursor: str | None = column("`after` it comes the next part; null after the last one.")


@strawberry.type(description="How often something of a topic happened on a day.")
class WikiDiaryCount:
    topic: WikiDiaryTopic = column("The topic.")
    total: int = column("How often.")


@strawberry.type(description="An action on a page, or on none, however often on that day.")
class WikiDiaryEntry:
    topic: WikiDiaryTopic = column("The topic that it belongs to.")
    action: str = column("The action, as webhooks and the activity log name it, such as page.merged.")
    text: str = column("The action in words, with its page and who did it, as markdown.")
    times: int = column("How often on that day.")
    at: datetime = column("When it was done last.")
    page: WikiPage | None = relation(jobs.page, "The page; null where it was deleted, or where there is none.")


@strawberry.type(description="A day on which something happened in a wiki.")
class WikiDiaryDay:
    date: str = column("The day in the time zone that was asked for, as 2026-01-31.")
    counts: list[WikiDiaryCount] = whole(
        jobs.diary_counts, "How often something happened, by topic; those of none not."
    )
    entries: list[WikiDiaryEntry] = whole(jobs.diary_entries, "The first entries, by topic and then the newest first.")
    more_total: int = column("How many entries are not shown.")
    is_whole: bool = column("Whether everything is counted: of a day, the last 1,000 lines of the log are read.")


@strawberry.type(description="The diary of a wiki: what happened on each day.")
class WikiDiary:
    since: str = column("The first day that it tells of.")
    until: str = column("The last day that it tells of.")
    body_md: str = column("The whole diary as markdown.")
    days: list[WikiDiaryDay] = whole(jobs.diary_days, "The days on which something happened, the newest first.")


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


async def find_diary(
    context: Any,
    parent: Any,
    wanted: frozenset[str],
    since: str | None = None,
    until: str | None = None,
    time_zone: str | None = None,
    lines: int | None = None,
    **where: str | None,
) -> list[tuple[Any, ...]]:
    told = await diary.diary(
        context.database,
        await scope_of(context, where),
        since=since,
        until=until,
        time_zone=time_zone,
        lines=diary.LINES if lines is None else lines,
    )
    return [(str(told.since), str(told.until), told.body, {"days": list(map(day_row, told.days))})]


def day_row(day: diary.Day) -> dict[str, Any]:
    return {
        "date": str(day.date),
        "counts": [{"topic": topic, "total": total} for topic, total in day.counts.items()],
        "entries": [{name: getattr(entry, name) for name in jobs.DIARY_ENTRY} for entry in day.entries],
        "more_total": day.more,
        "is_whole": day.whole,
    }


Since = Annotated[
    str | None,
    strawberry.argument(description="The first day, as 2026-01-31; a week before `until` when left out. 31 at most."),
]
Until = Annotated[str | None, strawberry.argument(description="The last day, which is told too; today when left out.")]
TimeZone = Annotated[
    str | None, strawberry.argument(description="The IANA time zone of the days, such as Europe/Berlin; else UTC.")
]
Lines = Annotated[int | None, strawberry.argument(description="How many entries of a day at most: 20, 100 the most.")]


@strawberry.type
class OverviewQueries:
    @source(
        jobs.report_rows,
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
        jobs.report_rows,
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

    @source(
        jobs.report_rows,
        "The diary: what was synthesized, superseded, merged, proposed, decided and forgotten, in words, by day.",
        access=AS_CHECKED,
        step=Step(find_diary, jobs.DIARY, cost=diary.LOGGED_MAX),
    )
    def wiki_diary(
        since: Since = None,
        until: Until = None,
        time_zone: TimeZone = None,
        lines: Lines = None,
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> WikiDiary | None: ...
