"""The diary of a wiki: its activity log by day as text, grouped by topic, action and page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import groupby
from uuid import UUID
from zoneinfo import ZoneInfo

from db.connection import Row
from db.database import Database
from db.scope import Scope

from .. import validation
from ..errors import BadInput
from ..permissions import Action, authorise
from ..transactions.transaction import read_connection
from ..transactions.writer import Writer
from .overview import OVERVIEW, page_label

DAYS, DAYS_MAX = 7, 31
LINES, LINES_MAX = 20, 100  # entries of a day
LOGGED_MAX = 1_000  # lines of the activity log that are read for a day
ZONE_MAX = 60

TOPICS: Mapping[str, Mapping[str, str]] = {
    "synthesized": {
        "page.compiled": "Synthesized {page}",
        "page.rewritten": "Rewrote {page} without what was forgotten",
        "section.promoted": "Gave a section of {page} its own page",
        "wiki.compiled": "Compiled new sources",
    },
    "superseded": {
        "claim.superseded": "Superseded a claim of {page}",
        "claim.withdrawn": "Took back a superseded claim of {page}",
        "contradiction.recorded": "Found a contradiction in {page}",
    },
    "merged": {
        "page.merged": "Merged another page into {page}",
        "page.renamed": "Renamed {page}",
        "page.transferred": "Transferred {page} between wikis",
    },
    "proposed": {
        "proposal.opened": "Proposed a change of {page}",
        "proposal.withdrawn": "Withdrew a proposal for {page}",
        "proposal.expired": "Let a proposal for {page} expire",
    },
    "decided": {
        "proposal.accepted": "Accepted a proposal for {page}",
        "proposal.declined": "Declined a proposal for {page}",
        "contradiction.resolved": "Resolved a contradiction in {page}",
        "decision.recorded": "Recorded the decision {page}",
        "decision.logged": "Logged a decision",
        "decision.asked": "Asked for a decision",
        "decision.withdrawn": "Withdrew a question",
    },
    "forgotten": {
        "source.forgotten": "Forgot a source",
        "page.deleted": "Deleted {page}",
        "page.archived": "Archived {page}",
        "wiki.archived": "Archived all pages",
        "wiki.reset": "Reset the compiler",
    },
    "written": {
        "page.created": "Created {page}",
        "page.updated": "Updated {page}",
        "page.edited": "Edited {page}",
        "page.appended": "Appended to {page}",
        "page.restored": "Restored an earlier version of {page}",
        "page.unarchived": "Brought back {page}",
        "section.patched": "Changed a section of {page}",
        "section.removed": "Removed a section of {page}",
        "history.imported": "Imported the history of {page}",
    },
    "learned": {
        "source.added": "Added a source",
        "source.retained": "Retained sources",
        "source.cited": "Cited a source in {page}",
        "mention.recorded": "Recorded a mention",
        "mention.promoted": "Gave a mentioned name its page {page}",
    },
    "maintained": {
        "page.moved": "Moved {page} in the hierarchy",
        "page.tagged": "Tagged {page}",
        "page.shared": "Shared {page} by a link",
        "page.share_withdrawn": "Withdrew a link that shared {page}",
        "section.moved": "Moved a section of {page}",
        "section.suppressed": "Kept a section of {page} from growing into a page",
        "section.released": "Let a section of {page} grow into a page again",
        "alias.added": "Added an alias of {page}",
        "alias.removed": "Removed an alias of {page}",
        "link.added": "Linked {page}",
        "link.removed": "Removed a link of {page}",
        "links.dropped": "Dropped links of a kind",
        "mention.ignored": "Ignored a mention",
        "lint.muted": "Muted a finding of lint",
        "lint.unmuted": "Unmuted a finding of lint",
        "lint.reported": "Ran lint",
        "wiki.settings_updated": "Changed the settings",
        "wiki.language_set": "Changed the language",
    },
}
"""The text of each action of the activity log, by topic. Topics and actions are shown in this order."""
ACTIONS = {action: (topic, words) for topic, actions in TOPICS.items() for action, words in actions.items()}
OTHER = "maintained"
PAGE = "{page}"


@dataclass(frozen=True, slots=True)
class Entry:
    """An action on a page, or without a page, that happened `times` times in a day. `at` is the last time."""

    topic: str
    action: str
    text: str
    times: int
    at: datetime
    page_id: UUID | None


@dataclass(frozen=True, slots=True)
class Day:
    """A day on which something happened."""

    date: date
    counts: Mapping[str, int]
    """The number of events by topic."""
    entries: Sequence[Entry]
    more: int
    """The number of entries that are not shown."""
    whole: bool
    """False if the day has more than LOGGED_MAX events: then only the newest ones are counted and shown."""


@dataclass(frozen=True, slots=True)
class Diary:
    """The days from `since` to `until`, both included, on which something happened, the newest first."""

    since: date
    until: date
    body: str
    days: Sequence[Day]


async def diary(
    database: Database,
    scope: Scope,
    *,
    since: str | None = None,
    until: str | None = None,
    time_zone: str | None = None,
    lines: int = LINES,
) -> Diary:
    """Return what happened in the scope's wiki, by day in a time zone. Raises BadInput."""
    zone = zone_of(time_zone)
    if lines < 1:
        raise BadInput("A day has at least one line.", "lines")
    first, last = day_range(day_of(since, "since"), day_of(until, "until"), datetime.now(zone).date())
    days = [last - timedelta(days=back) for back in range((last - first).days + 1)]
    midnight = [datetime.combine(day, time.min, zone).astimezone(UTC) for day in days]
    after = datetime.combine(last + timedelta(days=1), time.min, zone).astimezone(UTC)
    async with read_connection(database) as connection:
        await authorise(connection, scope, scope.owner_id, Action.READ)
        rows = await Writer(connection, scope).all(
            OVERVIEW["list_diary"],
            days=days,
            begins=midnight,
            ends=[after, *midnight[:-1]],
            actions=list(ACTIONS),
            limit=min(lines, LINES_MAX),
            max_logged=LOGGED_MAX + 1,
        )
    shown = [day_from(day, list(same)) for day, same in groupby(rows, lambda row: row["day"])]
    return Diary(first, last, "\n".join(render_diary(first, last, shown, zone)), shown)


def day_range(since: date | None, until: date | None, today: date) -> tuple[date, date]:
    """Return the first and the last requested day; without `since` it is a week. Raises BadInput."""
    last = until or (today if since is None else min(max(today, since), since + timedelta(days=DAYS_MAX - 1)))
    first = since or last - timedelta(days=DAYS - 1)
    if first > last:
        raise BadInput("The first day lies after the last one. Give them the other way round.", "since")
    if (last - first).days >= DAYS_MAX:
        raise BadInput(f"A diary has at most {DAYS_MAX} days. Ask for the others by themselves.", "since")
    return first, last


def day_of(text: str | None, field: str) -> date | None:
    """Return the day of a text such as 2026-01-31. Raises BadInput."""
    if text is None:
        return None
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise BadInput("Write a day as 2026-01-31.", field) from None
    if not 2 <= day.year <= 9_998:
        raise BadInput("A day lies in the years 2 to 9998.", field)
    return day


def zone_of(name: str | None) -> tzinfo:
    """Return the time zone of that name, or UTC. Raises BadInput."""
    if name is None or name == "UTC":
        return UTC
    try:
        return ZoneInfo(validation.text(name, "timeZone", ZONE_MAX))
    except (KeyError, ValueError, OSError):
        raise BadInput("This is no time zone. Give its IANA name, such as Europe/Berlin.", "timeZone") from None


def day_from(day: date, rows: Sequence[Row]) -> Day:
    """Return the day of these rows. The statement reads one line more than LOGGED_MAX to tell whether it is whole."""
    counts: dict[str, int] = dict.fromkeys(TOPICS, 0)
    for action, times in rows[0]["counts"].items():
        counts[topic_of(action)] += int(times)
    whole = sum(counts.values()) <= LOGGED_MAX
    shown = {topic: count for topic, count in counts.items() if count}
    return Day(day, shown, list(map(entry_from, rows)), rows[0]["lines"] - len(rows), whole)


def topic_of(action: str) -> str:
    return ACTIONS[action][0] if action in ACTIONS else OTHER


def entry_from(row: Row) -> Entry:
    action = row["action"]
    _, words = ACTIONS.get(action, (OTHER, f"{action}: {PAGE}"))
    page = page_label(row) or "a page"
    times = f", {row['times']:,} times" if row["times"] > 1 else ""
    by = f"{row['authors']:,} authors" if row["authors"] > 1 else f"{row['actor_kind']} {row['actor']}"
    text = f"{words.replace(PAGE, page)}{times} — {' '.join(by.split())}"
    return Entry(topic_of(action), action, text, row["times"], row["at"], row["page_id"])


def render_diary(first: date, last: date, days: Sequence[Day], zone: tzinfo) -> Iterator[str]:
    """Yield the lines of a diary in Markdown."""
    yield f"# Diary, {first} to {last}" if first < last else f"# Diary, {first}"
    if not days:
        yield "\nNothing happened."
    for day in days:
        total = sum(day.counts.values())
        number = f"{total:,}" if day.whole else f"More than {LOGGED_MAX:,}"
        topics = ", ".join(f"{count:,} {topic}" for topic, count in day.counts.items())
        yield f"\n## {day.date}\n\n{number} {'event' if total == 1 else 'events'}: {topics}.\n"
        for entry in day.entries:
            yield f"- {entry.at.astimezone(zone):%H:%M} {entry.text}"
        if day.more:
            yield f"- … and {day.more:,} more"
