"""Reading what a wiki knows of parents and lists: each function is one statement, whatever the number of pages."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from content.names import normalise, numbered_section
from db.sql import statements
from resolvers.model.pages import Page
from resolvers.pages.update import save_all
from resolvers.transactions.writer import Writer, record_each

from .density import Aggregation, read
from .listing import Child
from .naming import MetadataValue, topic_names
from .told import parse_evidence

PLACEMENTS = statements("pages/placements")
AGGREGATION = statements("sources/aggregation")
LISTED_MAX = 200  # pages of one section
WAITING_MAX = 200  # pages that a name is looked at for, at once

Spot = tuple[UUID, str]
"""A section: the page, and its slug there."""


class Placement(NamedTuple):
    """A page that belongs to a parent of that name, why, and where it is listed; without a parent it waits for one."""

    page_id: UUID
    alias: str
    name: str
    bases: tuple[str, ...]
    kind: str
    tags: tuple[str, ...]
    parent_id: UUID | None = None
    section_slug: str | None = None
    is_delegated: bool = False

    @property
    def spot(self) -> Spot | None:
        return (self.parent_id, self.section_slug) if self.parent_id and self.section_slug else None


@dataclass(frozen=True, slots=True)
class Outlines:
    """Pages that list others: which are active, what their sections know, and which of these belong to a writer."""

    active: set[UUID] = field(default_factory=set)
    rollups: dict[UUID, dict[str, Aggregation]] = field(default_factory=lambda: defaultdict(dict))
    cited: set[Spot] = field(default_factory=set)

    def slug_for(self, page_id: UUID, slug: str) -> str:
        """Return the slug, or the next numbered one where a section of that slug is written from sources."""
        n, free = 1, slug
        while (page_id, free) in self.cited:
            n += 1
            free = numbered_section(slug, n)
        return free

    def whole_of(self, page_id: UUID) -> str | None:
        """Return the section that a page has grown from."""
        return next((slug for slug, known in self.rollups[page_id].items() if known.is_whole), None)

    def remaining_text(self, page_id: UUID, slug: str, tags: Collection[str]) -> str:
        """Return the section, or the whole of its page where it is the part of a tag that the page no longer has."""
        known = self.rollups[page_id].get(slug)
        return (known and known.tag and known.tag not in tags and self.whole_of(page_id)) or slug


class Support(NamedTuple):
    """The number of sources that pages rest on, and when the first and the last of them were taken."""

    sources: int = 0
    first_at: datetime | None = None
    last_at: datetime | None = None


async def find_lists(writer: Writer, page_ids: Collection[UUID]) -> set[Spot]:
    """Return the sections that list these pages."""
    return {spot for one in await find_placements(writer, page_ids) if (spot := one.spot)}


async def find_said(writer: Writer, page_ids: Collection[UUID]) -> Mapping[UUID, Sequence[MetadataValue]]:
    found: dict[UUID, list[MetadataValue]] = defaultdict(list)
    for row in await writer.all(PLACEMENTS["find_said"], page_ids=list(page_ids)):
        found[row["page_id"]].append(MetadataValue(parse_evidence(row["said"]), row["sources"]))
    return found


async def find_placements(writer: Writer, page_ids: Collection[UUID]) -> list[Placement]:
    return [
        Placement(
            row["page_id"], row["alias"], row["name"], tuple(row["bases"]), row["kind"], tuple(row["tags"]),
            row["parent_page_id"], row["section_slug"], row["is_delegated"],
        )
        for row in await writer.all(PLACEMENTS["find_placements"], page_ids=list(page_ids))
    ]  # fmt: skip


async def find_waiting(writer: Writer, aliases: Collection[str]) -> list[Placement]:
    rows = await writer.all(PLACEMENTS["find_waiting"], aliases=sorted(aliases), most=WAITING_MAX)
    return [
        Placement(row["page_id"], row["alias"], row["name"], tuple(row["bases"]), row["kind"], tuple(row["tags"]))
        for row in rows
    ]


async def find_topics(writer: Writer, wanted: Iterable[Placement]) -> dict[str, UUID]:
    """Find topics by alias: the active one of that title; else, but for a tag, the oldest one with a region.

    A region stands behind a comma.
    """
    regional: dict[str, bool] = {}
    for one in wanted:
        regional[one.alias] = regional.get(one.alias, False) or any(basis != "tag" for basis in one.bases)
    rows = await writer.all(
        PLACEMENTS["find_topics"],
        aliases=list(regional),
        ends=[f"{alias}!" if is_regional else alias for alias, is_regional in regional.items()],
    )
    named: dict[str, tuple[bool, UUID]] = {}
    for row in rows:
        if row["alias"] in topic_names(row["title"]):
            rank = (normalise(row["title"]) != row["alias"], row["id"])
            named[row["alias"]] = min(named.get(row["alias"], rank), rank)
    return {alias: page_id for alias, (_, page_id) in named.items() if regional[alias] or not named[alias][0]}


async def find_outlines(writer: Writer, page_ids: Iterable[UUID]) -> Outlines:
    """Read the outlines of these pages, and of those that have grown out of them."""
    found = Outlines()
    for row in await writer.all(AGGREGATION["find_outlines"], page_ids=sorted(set(page_ids))):
        if row["status"] == "active":
            found.active.add(row["page_id"])
        if row["aggregation"] is not None:
            known = replace(read(row["aggregation"]), promoted_page_id=row["promoted_page_id"])
            found.rollups[row["page_id"]][row["section_slug"]] = known.as_suppressed if known.is_bereft else known
        elif row["is_cited"]:
            found.cited.add((row["page_id"], row["section_slug"]))
    return found


async def find_listed(writer: Writer, spots: Sequence[Spot]) -> dict[Spot, list[Child]]:
    found: dict[Spot, list[Child]] = {spot: [] for spot in spots}
    rows = await writer.all(
        AGGREGATION["find_listed"],
        page_ids=[page_id for page_id, _ in spots],
        slugs=[slug for _, slug in spots],
        most=LISTED_MAX,
    )
    for row in rows:
        child = Child(row["id"], row["type"], row["slug"], row["title"], row["summary"], tuple(row["tags"]))
        found[spots[row["n"] - 1]].append(child)
    return found


async def find_support(writer: Writer, lists: Sequence[Sequence[UUID]]) -> list[Support]:
    """Return the support of each list: the sources that its pages rest on."""
    pairs = [(n, page_id) for n, page_ids in enumerate(lists) for page_id in page_ids]
    rows = await writer.all(
        AGGREGATION["find_support"], numbers=[n for n, _ in pairs], page_ids=[page_id for _, page_id in pairs]
    )
    found = {row["n"]: Support(row["sources"], row["first_at"], row["last_at"]) for row in rows}
    return [found.get(n, Support()) for n in range(len(lists))]


async def count_sources(writer: Writer, page_ids: Collection[UUID]) -> dict[UUID, int]:
    rows = await writer.all(AGGREGATION["count_sources"], page_ids=list(page_ids))
    return {row["page_id"]: row["sources"] for row in rows}


async def write_placements(writer: Writer, placements: Sequence[Placement]) -> None:
    if placements:
        await writer.run(
            PLACEMENTS["write_placements"],
            page_ids=[one.page_id for one in placements],
            aliases=[one.alias for one in placements],
            names=[one.name for one in placements],
            kinds=[one.kind for one in placements],
            lists=[{"bases": one.bases, "tags": one.tags} for one in placements],
            parent_ids=[one.parent_id for one in placements],
            slugs=[one.section_slug for one in placements],
            delegated=[one.is_delegated for one in placements],
        )


async def drop_placements(writer: Writer, placements: Sequence[Placement]) -> None:
    if placements:
        await writer.run(
            PLACEMENTS["drop_placements"],
            page_ids=[one.page_id for one in placements],
            aliases=[one.alias for one in placements],
        )


async def set_aggregations(writer: Writer, known: Mapping[Spot, Aggregation]) -> int:
    """Store the state of sections, and return how many have changed."""
    return await writer.run(
        AGGREGATION["set_aggregations"],
        page_ids=[page_id for page_id, _ in known],
        slugs=[slug for _, slug in known],
        known=[one.stored for one in known.values()],
        grown_ids=[one.promoted_page_id for one in known.values()],
        last_at=[one.last_source_at for one in known.values()],
    )


async def move_placements(writer: Writer, moves: Sequence[tuple[Spot, Spot, str | None]]) -> None:
    """Move placements from one section into another: all pages, or those with a tag."""
    if moves:
        await writer.run(
            PLACEMENTS["move_placements"],
            page_ids=[start[0] for start, _, _ in moves],
            slugs=[start[1] for start, _, _ in moves],
            tags=[tag for *_, tag in moves],
            to_page_ids=[end[0] for _, end, _ in moves],
            to_slugs=[end[1] for _, end, _ in moves],
        )


State = tuple[Page | None, Page]
"""A page before, if it was there, and after."""


async def store_compiled(writer: Writer, states: Iterable[State], summary: str) -> list[Page]:
    """Save these pages as compiled at this moment, and return them; one that does not differ is not saved again."""
    wanted = list(states)
    changed = {after.id: (before, after) for before, after in wanted if before != after}
    differing = [(before, replace(after, last_compiled_at=writer.now), ()) for before, after in changed.values()]
    saved = {one.page_id: one for one in await save_all(writer, differing, edit_summary=summary)}
    await record_each(writer, "page.created", [one for one in saved.values() if one.created])
    await record_each(writer, "page.compiled", [one for one in saved.values() if not one.created])
    kept = {after.id: replace(after, version=saved[after.id].version) for _, after, _ in differing}
    return [kept.get(after.id, after) for _, after in wanted]
