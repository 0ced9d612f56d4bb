"""The states of a page as they are stored and found again: each is one row, or one row and its base."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from content.edits.differences import Delta, apply_delta, delta
from db.connection import Connection, Row
from db.scope import Scope
from db.sql import statements
from lib.threads import read_in_thread

from ..errors import NotFound
from ..model.pages import Page
from ..transactions.writer import Writer

REVISIONS = statements("pages/revisions")
STATES_MAX = 64  # that rest on one base


@dataclass(frozen=True, slots=True)
class State:
    """A state of a page: what it said at one version."""

    version: int
    title: str
    summary: str | None
    body: str
    tags: tuple[str, ...]
    metadata: dict[str, Any] | None
    """None in states that were kept before it was."""


NO_BASE = dict.fromkeys(("base_version", "base_starts", "base_lengths", "base_texts"))
ELSEWHERE = dict.fromkeys(("slug", "metadata", "aliases"))


def full_columns(page: Page, body: str, aliases: Collection[str]) -> dict[str, Any]:
    """The columns that keep text, slug, metadata and aliases of a version by themselves."""
    return {"body_md": body, **NO_BASE, **facts(page, aliases), "facts_version": None}


def facts(page: Page, aliases: Collection[str]) -> dict[str, Any]:
    return {"slug": page.slug, "metadata": page.metadata or {}, "aliases": sorted(aliases)}


Known = Mapping[UUID, tuple[Page, Collection[str]]]
"""Pages by their ids, with their aliases."""


async def find_bases(writer: Writer, known: Known) -> dict[UUID, Row]:
    """The newest state of each page that is kept whole, and which since then has the same facts as the page now."""
    told = [{"page_id": str(id), **facts(page, aliases)} for id, (page, aliases) in known.items()]
    return {row["page_id"]: row for row in await writer.all(REVISIONS["find_bases"], pages=told)}


async def compact_rows(known: Known, bases: Mapping[UUID, Row]) -> dict[UUID, dict[str, Any]]:
    """The columns that keep text, slug, metadata and aliases of the new versions of known pages, by page.

    Facts that are those of a version since the base are kept there alone.
    """
    return {id: await columns(bases.get(id), page, aliases) for id, (page, aliases) in known.items()}


async def columns(base: Row | None, page: Page, aliases: Collection[str]) -> dict[str, Any]:
    """Return the columns of a new version. `base` is the newest whole state, with the version that has these facts."""
    body, found = page.body, None
    own = facts(page, aliases)
    if base is not None:
        age = page.version - base["version"]
        found = await read_in_thread(len(body), smaller_delta, base["body_md"], body, age)
    if base is None or found is None:
        return full_columns(page, body, aliases)
    told = base["facts_version"]
    return {
        **(own if told is None else ELSEWHERE),
        "facts_version": told,
        "body_md": "",
        "base_version": base["version"],
        "base_starts": found.starts,
        "base_lengths": found.lengths,
        "base_texts": found.texts,
    }


def smaller_delta(base: str, body: str, age: int) -> Delta | None:
    """Return how the text differs from its base, while that saves room.

    Differences grow by every edit. Once those since the base would take as much as a whole text, a new base is due.
    """
    if not 0 < age < STATES_MAX:
        return None
    found = delta(base, body)
    if found is None or found.size * age > len(body.encode()) or apply_delta(base, found) != body:
        return None
    return found


async def find_states(connection: Connection, scope: Scope, page_id: UUID, versions: Collection[int]) -> list[State]:
    """The page's states at these versions, in their order."""
    rows = await connection.all(
        REVISIONS["find_states"],
        tenant_id=scope.tenant_id,
        owner_id=scope.owner_id,
        page_id=page_id,
        versions=list(versions),
    )
    found = {row["version"]: row for row in rows}
    for version in versions:
        if version not in found:
            raise NotFound(f"The page has no version {version}. Its history says which there are.")
        if found[version]["erased_at"]:
            raise NotFound(
                f"The text of version {version} was erased: its source was forgotten, or it is kept no longer."
            )
    return [state(found[version]) for version in versions]


def state(row: Row) -> State:
    return State(row["version"], row["title"], row["summary"], row["body_md"], tuple(row["tags"]), row["metadata"])
