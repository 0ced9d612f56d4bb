"""Overviews of a wiki as Markdown, in parts: the map of its pages, and its activity log."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any
from uuid import UUID

import orjson

from content.markdown.links import rollup_line, title_link
from db.connection import Row
from db.database import Database
from db.scope import Scope
from db.sql import statements
from db.tables import PAGE_TYPES

from .. import validation
from ..errors import BadInput
from ..permissions import Action, authorise
from ..transactions.transaction import read_connection
from ..transactions.writer import Writer

OVERVIEW = statements("pages/overview")
DEFAULT, MAX_LINES = 100, 200  # lines of one part
CURSOR_MAX = 1_000
NEVER = datetime.max.replace(tzinfo=UTC)
LAST_ID = UUID(int=2**128 - 1)


@dataclass(frozen=True, slots=True)
class Overview:
    """A part of a map or log. `next_cursor` is the cursor of the next part, or None for the last part."""

    body: str
    next_cursor: str | None


async def knowledge_map(
    database: Database, scope: Scope, *, types: Sequence[str] | None = None, first: int = DEFAULT, after: str | None
) -> Overview:
    """Return the active pages of the scope's wiki in the order of type and slug.

    Each page is a link with the first sentence of its summary. Raises BadInput.
    """
    size = clamp_lines(first)
    chosen = [type for type in PAGE_TYPES if types is None or type in types]
    type, slug = read_cursor(after, str, str) or (None, None)
    if type is not None and type not in chosen:
        raise BadInput("This cursor belongs to a map of other types.", "after")
    left = chosen[chosen.index(type) :] if type else chosen
    async with read_connection(database) as connection:
        await authorise(connection, scope, scope.owner_id, Action.READ)
        reader = Writer(connection, scope)
        rows = await reader.all(OVERVIEW["list_map"], types=left, after=slug, limit=size + 1)
    pages = [row for row in rows if row["slug"] is not None]
    shown = pages[:size]
    parts = [] if type else [f"# Knowledge map\n\n{page_counts(rows)}"]
    for page_type, same in groupby(shown, lambda row: row["type"]):
        lines = list(same)
        total = ", continued" if page_type == type else f" ({lines[0]['total']:,})" if lines[0]["total"] else ""
        parts.append(f"## {page_type.capitalize()}{total}\n\n" + "\n".join(map(map_line, lines)))
    is_whole = len(pages) <= size
    return Overview("\n\n".join(parts), None if is_whole else make_cursor(shown[-1]["type"], shown[-1]["slug"]))


def page_counts(rows: Sequence[Row]) -> str:
    """Return a sentence with the number of pages of each type."""
    counts = {row["type"]: row["total"] for row in rows if row["total"]}
    if not counts:
        return "There are no pages yet."
    return f"Pages: {sum(counts.values()):,} ({', '.join(f'{total:,} {type}' for type, total in counts.items())})."


def map_line(row: Row) -> str:
    line = rollup_line(row["title"], row["type"], row["slug"], row["summary"])
    return f"{line} *(stub)*" if row["is_stub"] else line


async def activity_log(database: Database, scope: Scope, *, first: int = DEFAULT, after: str | None) -> Overview:
    """Return the activity log of the scope's wiki, the newest line first, by day in UTC. Raises BadInput."""
    size = clamp_lines(first)
    at, id = read_cursor(after, datetime.fromisoformat, UUID) or (NEVER, LAST_ID)
    if at.tzinfo is None:
        raise BadInput("This is not a cursor of this list.", "after")
    async with read_connection(database) as connection:
        await authorise(connection, scope, scope.owner_id, Action.READ)
        reader = Writer(connection, scope)
        rows = await reader.all(OVERVIEW["list_activity"], before_at=at, before_id=id, limit=size + 1)
    shown = rows[:size]
    parts = [] if after else ["# Activity log"]
    for day, same in groupby(shown, lambda row: row["at"].astimezone(UTC).date()):
        parts.append(f"## {day.isoformat()}\n\n" + "\n".join(map(log_line, same)))
    if not rows and not after:
        parts.append("Nothing has happened yet.")
    more = make_cursor(shown[-1]["at"].isoformat(), str(shown[-1]["id"])) if len(rows) > size else None
    return Overview("\n\n".join(parts), more)


def log_line(row: Row) -> str:
    """Return a line of the log: time, action, page and actor. Only numbers of the details are shown, no content."""
    page = page_label(row)
    numbers = [f"{name} {value}" for name, value in row["detail"].items() if type(value) is int]
    by = f"{row['actor_kind']} {' '.join(row['actor'].split())}".strip()
    about = f" {page}" if page else ""
    return f"- {row['at'].astimezone(UTC):%H:%M} {row['action']}{about} — {', '.join([by, *numbers])}"


def page_label(row: Row) -> str:
    """Return the page of a line of the log: a link, `TYPE/SLUG` if it is archived, or an empty string if deleted."""
    if row["title"] is None:
        return ""
    if row["status"] != "active":
        return f"{row['type']}/{row['slug']}"
    return title_link(" ".join(row["title"].split()), row["type"], row["slug"])


def clamp_lines(first: int) -> int:
    """Return the number of lines, at most MAX_LINES. Raises BadInput for less than one."""
    if first < 1:
        raise BadInput("A part has at least one line.", "first")
    return min(first, MAX_LINES)


def make_cursor(*place: str) -> str:
    return urlsafe_b64encode(orjson.dumps(place)).decode()


def read_cursor(text: str | None, *kinds: Any) -> tuple[Any, ...] | None:
    """Return the position in a cursor, converted by `kinds`, or None without a cursor. Raises BadInput."""
    if not text:
        return None
    try:
        place = orjson.loads(urlsafe_b64decode(text[:CURSOR_MAX].encode("ascii")))
        if len(place) != len(kinds) or not all(isinstance(part, str) for part in place):
            raise ValueError
        return tuple(kind(validation.text(part, "after", CURSOR_MAX)) for kind, part in zip(kinds, place, strict=True))
    except (ValueError, TypeError) as error:
        raise BadInput("This is not a cursor of this list.", "after") from error
