"""Statements that read and write placements and rollup sections. Each function runs one, for any number of pages."""

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

from .density import Aggregation, parse_aggregation
from .listing import Child
from .naming import MetadataValue, topic_names
from .placement_evidence import parse_evidence

PLACEMENTS = statements("pages/placements")
AGGREGATION = statements("sources/aggregation")
LISTED_MAX = 200  # pages of one section
WAITING_MAX = 200  # waiting pages that are read at once

SectionKey = tuple[UUID, str]
"""A section: the id of its page, and its slug."""


class Placement(NamedTuple):
    """The fact that a page belongs to a parent, why it does, and the section that lists it.

    Without a `parent_id` there is no topic for the parent yet, and the page waits for it.
    """

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
    def key(self) -> tuple[UUID, str]:
        """Return the page and the normalised name of the parent, which identify a placement."""
        return self.page_id, self.alias

    @property
    def section_key(self) -> SectionKey | None:
        return (self.parent_id, self.section_slug) if self.parent_id and self.section_slug else None


@dataclass(frozen=True, slots=True)
class Outlines:
    """The sections of pages that list other pages."""

    active: set[UUID] = field(default_factory=set)
    """The pages that are active."""
    rollups: dict[UUID, dict[str, Aggregation]] = field(default_factory=lambda: defaultdict(dict))
    """The state of each rollup section, by page and section slug."""
    cited: set[SectionKey] = field(default_factory=set)
    """The sections that section writers write from sources."""

    def slug_for(self, page_id: UUID, slug: str) -> str:
        """Return the slug, or the next numbered slug if a section with this slug is written from sources."""
        n, free = 1, slug
        while (page_id, free) in self.cited:
            n += 1
            free = numbered_section(slug, n)
        return free

    def whole_of(self, page_id: UUID) -> str | None:
        """Return the slug of the main section of a topic that was made from a section, or None."""
        return next((slug for slug, known in self.rollups[page_id].items() if known.is_whole), None)

    def section_for_tags(self, page_id: UUID, slug: str, tags: Collection[str]) -> str:
        """Return the slug, or that of the main section if this section is the part for a tag that is not in `tags`."""
        known = self.rollups[page_id].get(slug)
        return (known and known.tag and known.tag not in tags and self.whole_of(page_id)) or slug


class Support(NamedTuple):
    """The number of sources that some pages cite, and when the first and the last of them were captured."""

    sources: int = 0
    first_at: datetime | None = None
    last_at: datetime | None = None


async def find_lists(writer: Writer, page_ids: Collection[UUID]) -> set[SectionKey]:
    """Return the sections that list these pages."""
    return {
        section_key for placement in await find_placements(writer, page_ids) if (section_key := placement.section_key)
    }


async def find_metadata(writer: Writer, page_ids: Collection[UUID]) -> Mapping[UUID, Sequence[MetadataValue]]:
    """Return the metadata of the sources that each page cites."""
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
    """Return the placements that wait for a topic with one of these names."""
    rows = await writer.all(PLACEMENTS["find_waiting"], aliases=sorted(aliases), limit=WAITING_MAX)
    return [
        Placement(row["page_id"], row["alias"], row["name"], tuple(row["bases"]), row["kind"], tuple(row["tags"]))
        for row in rows
    ]


async def find_topics(writer: Writer, wanted: Iterable[Placement]) -> dict[str, UUID]:
    """Return the ids of the active topics for the parents of these placements, by normalised name.

    This is the topic with exactly that title, or else, unless tags are the only basis, the oldest topic with a region
    after a comma: `Austin, Texas` for `Austin`.
    """
    regional: dict[str, bool] = {}
    for placement in wanted:
        is_regional = any(basis != "tag" for basis in placement.bases)
        regional[placement.alias] = regional.get(placement.alias, False) or is_regional
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
    """Return the sections of these pages, and of the topics to which their sections were promoted."""
    found = Outlines()
    for row in await writer.all(AGGREGATION["find_outlines"], page_ids=sorted(set(page_ids))):
        if row["status"] == "active":
            found.active.add(row["page_id"])
        if row["aggregation"] is not None:
            known = replace(parse_aggregation(row["aggregation"]), promoted_page_id=row["promoted_page_id"])
            found.rollups[row["page_id"]][row["section_slug"]] = known.as_suppressed if known.has_lost_page else known
        elif row["is_cited"]:
            found.cited.add((row["page_id"], row["section_slug"]))
    return found


async def find_listed(writer: Writer, section_keys: Sequence[SectionKey]) -> dict[SectionKey, list[Child]]:
    """Return the first LISTED_MAX pages that belong to each section."""
    found: dict[SectionKey, list[Child]] = {section_key: [] for section_key in section_keys}
    rows = await writer.all(
        AGGREGATION["find_listed"],
        page_ids=[page_id for page_id, _ in section_keys],
        slugs=[slug for _, slug in section_keys],
        limit=LISTED_MAX,
    )
    for row in rows:
        child = Child(row["id"], row["type"], row["slug"], row["title"], row["summary"], tuple(row["tags"]))
        found[section_keys[row["n"] - 1]].append(child)
    return found


async def find_support(writer: Writer, lists: Sequence[Sequence[UUID]]) -> list[Support]:
    """Return the support of each list of pages."""
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
            page_ids=[placement.page_id for placement in placements],
            aliases=[placement.alias for placement in placements],
            names=[placement.name for placement in placements],
            kinds=[placement.kind for placement in placements],
            lists=[{"bases": placement.bases, "tags": placement.tags} for placement in placements],
            parent_ids=[placement.parent_id for placement in placements],
            slugs=[placement.section_slug for placement in placements],
            delegated=[placement.is_delegated for placement in placements],
        )


async def drop_placements(writer: Writer, placements: Sequence[Placement]) -> None:
    if placements:
        await writer.run(
            PLACEMENTS["drop_placements"],
            page_ids=[placement.page_id for placement in placements],
            aliases=[placement.alias for placement in placements],
        )


async def set_aggregations(writer: Writer, known: Mapping[SectionKey, Aggregation]) -> int:
    """Store the state of sections; return how many have changed."""
    return await writer.run(
        AGGREGATION["set_aggregations"],
        page_ids=[page_id for page_id, _ in known],
        slugs=[slug for _, slug in known],
        known=[state.stored for state in known.values()],
        grown_ids=[state.promoted_page_id for state in known.values()],
        last_at=[state.last_source_at for state in known.values()],
    )


async def move_placements(writer: Writer, moves: Sequence[tuple[SectionKey, SectionKey, str | None]]) -> None:
    """Move placements from the first section of each move to the second: all, or those with the tag."""
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
"""A page before (None if it is new) and after."""


async def store_compiled(writer: Writer, states: Iterable[State], summary: str) -> list[Page]:
    """Save the pages that have changed, with the present time as the time of their compilation; return all pages."""
    all_states = list(states)
    changed = {after.id: (before, after) for before, after in all_states if before != after}
    differing = [(before, replace(after, last_compiled_at=writer.now), ()) for before, after in changed.values()]
    saved = {page.page_id: page for page in await save_all(writer, differing, edit_summary=summary)}
    await record_each(writer, "page.created", [page for page in saved.values() if page.created])
    await record_each(writer, "page.compiled", [page for page in saved.values() if not page.created])
    stored = {after.id: replace(after, version=saved[after.id].version) for _, after, _ in differing}
    return [stored.get(after.id, after) for _, after in all_states]
