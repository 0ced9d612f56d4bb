"""Store and read the revisions of a page. A revision is stored whole, or as a difference from a base revision."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from content.edits.differences import Delta, apply_delta, delta
from db.connection import Connection, Row
from db.scope import Scope
from db.sql import statements
from lib.threads import offload

from ..errors import NotFound
from ..model.pages import Page
from ..transactions.writer import Writer

REVISIONS = statements("pages/revisions")
VERSIONS = range(1, 2**31)
"""The numbers that a version may have in the database."""
STATES_MAX = 64  # revisions with the same base


@dataclass(frozen=True, slots=True)
class State:
    """The content of a page at one version."""

    version: int
    title: str
    summary: str | None
    body: str
    tags: tuple[str, ...]
    metadata: dict[str, Any] | None
    """None for versions of a release that did not store the metadata."""


NO_BASE = dict.fromkeys(("base_version", "base_starts", "base_lengths", "base_texts"))
ELSEWHERE = dict.fromkeys(("slug", "metadata", "aliases"))


def full_columns(page: Page, body: str, aliases: Collection[str]) -> dict[str, Any]:
    """Return the columns of a revision that is stored whole: text, slug, metadata and aliases."""
    return {"body_md": body, **NO_BASE, **facts(page, aliases), "facts_version": None}


def facts(page: Page, aliases: Collection[str]) -> dict[str, Any]:
    """Return the parts of a revision besides the text that may be stored in an earlier revision only."""
    return {"slug": page.slug, "metadata": page.metadata or {}, "aliases": sorted(aliases)}


NamedPages = Mapping[UUID, tuple[Page, Collection[str]]]
"""Pages with their aliases, by page id."""


async def find_bases(writer: Writer, known: NamedPages) -> dict[UUID, Row]:
    """Return the newest revision of each page that is stored whole.

    The row also names the newest version since then that stores the same facts as the page has now, if there is one.
    """
    pages = [{"page_id": str(id), **facts(page, aliases)} for id, (page, aliases) in known.items()]
    return {row["page_id"]: row for row in await writer.all(REVISIONS["find_bases"], pages=pages)}


async def compact_rows(known: NamedPages, bases: Mapping[UUID, Row]) -> dict[UUID, dict[str, Any]]:
    """Return the columns for text, slug, metadata and aliases of the new revisions of pages, by page id.

    Facts that an earlier revision since the base has stored are not stored again.
    """
    return {id: await columns(bases.get(id), page, aliases) for id, (page, aliases) in known.items()}


async def columns(base: Row | None, page: Page, aliases: Collection[str]) -> dict[str, Any]:
    """Return the columns of a new revision. `base` is a row of `find_bases`."""
    body, found = page.body, None
    own = facts(page, aliases)
    if base is not None:
        age = page.version - base["version"]
        found = await offload(len(body), smaller_delta, base["body_md"], body, age)
    if base is None or found is None:
        return full_columns(page, body, aliases)
    facts_version = base["facts_version"]
    return {
        **(own if facts_version is None else ELSEWHERE),
        "facts_version": facts_version,
        "body_md": "",
        "base_version": base["version"],
        "base_starts": found.starts,
        "base_lengths": found.lengths,
        "base_texts": found.texts,
    }


def smaller_delta(base: str, body: str, age: int) -> Delta | None:
    """Return the difference of a text from its base, or None if the revision should be stored whole.

    Differences grow with every edit. A new base is stored once the differences since the last base are estimated to
    take as much space as a whole text.
    """
    if not 0 < age < STATES_MAX:
        return None
    found = delta(base, body)
    if found is None or found.size * age > len(body.encode()) or apply_delta(base, found) != body:
        return None
    return found


async def find_states(connection: Connection, scope: Scope, page_id: UUID, versions: Collection[int]) -> list[State]:
    """Return the states of a page at these versions, in the given order.

    Raises NotFound for a version that does not exist or was erased.
    """
    rows = await connection.all(
        REVISIONS["find_states"],
        tenant_id=scope.tenant_id,
        owner_id=scope.owner_id,
        page_id=page_id,
        versions=[version for version in versions if version in VERSIONS],
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
