"""The knowledge map, the activity log and the diary of a wiki, rendered as Markdown."""

from datetime import datetime
from typing import Annotated, Any

import strawberry

from db import relations
from db.access import CHECKED_BY_STEP
from resolvers.knowledge import diary, overview
from selection import Step

from .enums import WikiDiaryTopic, WikiPageType
from .fields import OlderOwner, OwnerName, column, relation, source, whole
from .pages.pages import WikiPage
from .search.search_rows import texts

jobs = relations.jobs


@strawberry.type(description="A part of the knowledge map or the activity log.")
class WikiOverview:
    body_md: str = column("Text of this part, in Markdown. The first part has the title.")
    next_cursor: str | None = column("Cursor to pass as `after` for the next part. Null for the last part.")


@strawberry.type(description="Number of events of a topic on a day.")
class WikiDiaryCount:
    topic: WikiDiaryTopic = column("The topic.")
    total: int = column("Number of events.")


@strawberry.type(description="All occurrences of an action on one page (or on none) on a day.")
class WikiDiaryEntry:
    topic: WikiDiaryTopic = column("Topic of the action.")
    action: str = column("Name of the action, as in webhooks and the activity log, such as page.merged.")
    text: str = column("Description of the action with its page and its author, in Markdown.")
    times: int = column("Number of occurrences on that day.")
    at: datetime = column("Time of the last occurrence.")
    page: WikiPage | None = relation(jobs.page, "Page of the action. Null if it was deleted, or if there is none.")


@strawberry.type(description="A day on which something happened in a wiki.")
class WikiDiaryDay:
    date: str = column("Day in the requested time zone, such as 2026-01-31.")
    counts: list[WikiDiaryCount] = whole(
        jobs.diary_counts, "Numbers of events by topic. Topics without events are omitted."
    )
    entries: list[WikiDiaryEntry] = whole(jobs.diary_entries, "First entries, by topic and newest first.")
    more_total: int = column("Number of entries that are not shown.")
    is_whole: bool = column("Whether all events are counted. At most the last 1,000 log entries of a day are read.")


@strawberry.type(description="The diary of a wiki: what happened on each day.")
class WikiDiary:
    since: str = column("First day of the diary.")
    until: str = column("Last day of the diary.")
    body_md: str = column("The whole diary, in Markdown.")
    days: list[WikiDiaryDay] = whole(jobs.diary_days, "Days with events, newest first.")


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
        context.database, await context.scope_in(where), types=chosen, first=size, after=after
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
    part = await overview.activity_log(context.database, await context.scope_in(where), first=size, after=after)
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
    found = await diary.diary(
        context.database,
        await context.scope_in(where),
        since=since,
        until=until,
        time_zone=time_zone,
        lines=diary.LINES if lines is None else lines,
    )
    return [(str(found.since), str(found.until), found.body, {"days": list(map(day_row, found.days))})]


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
    strawberry.argument(
        description="First day, such as 2026-01-31. Defaults to a week before `until`; 31 days at most."
    ),
]
Until = Annotated[str | None, strawberry.argument(description="Last day, inclusive. Defaults to today.")]
TimeZone = Annotated[
    str | None, strawberry.argument(description="IANA time zone of the days, such as Europe/Berlin. Defaults to UTC.")
]
Lines = Annotated[int | None, strawberry.argument(description="Maximum number of entries per day, 100 at most.")]


@strawberry.type
class OverviewQueries:
    @source(
        jobs.report_rows,
        "The knowledge map: active pages by type and slug, as links with a summary each. Stubs are marked.",
        access=CHECKED_BY_STEP,
        step=Step(find_map, jobs.OVERVIEW, cost=overview.MAX_LINES),
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
        "The activity log of a wiki, newest first.",
        access=CHECKED_BY_STEP,
        step=Step(find_log, jobs.OVERVIEW, cost=overview.MAX_LINES),
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
        "The diary of a wiki: what happened on each day, in words.",
        access=CHECKED_BY_STEP,
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
