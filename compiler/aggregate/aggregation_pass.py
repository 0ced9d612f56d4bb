"""The aggregation pass, which lists the compiled pages on the topics to which they belong.

It runs after the leaf pass, in the transaction of the batch. Its work depends on the number of changed pages and their
lists, not on the size of the wiki. It reads only stored rows, never the batch, so the same wiki gets the same lists,
whatever the batches were.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from content.limits import TAGS
from resolvers.model.pages import Page
from resolvers.transactions.writer import Writer

from ..metrics import Metrics
from ..planner import PageCard
from ..read.stored import find_cards
from ..write.page_changes import PageChange
from ..write.store import promote
from .density import Aggregation
from .kinds import kind_of
from .naming import OWN_PAGES, MetadataValue, candidates, observed_tags, topic_names
from .stored import (
    Outlines,
    Placement,
    SectionKey,
    drop_placements,
    find_metadata,
    find_outlines,
    find_placements,
    find_topics,
    find_waiting,
    store_compiled,
    write_placements,
)
from .topics import find_or_make_topics
from .updating import update_sections

PAGES_MIN = 3
NOTE = "Several pages belong here"


async def make_parents(writer: Writer, unknown: Sequence[Placement], metrics: Metrics) -> dict[str, UUID]:
    """Create or restore topics for parents without a topic to which enough pages belong; return their ids by alias."""
    earned = titles(unknown)
    topics = await find_or_make_topics(writer, list(earned.values())) if earned else {}
    by_alias = {alias: topics[title] for alias, title in earned.items() if title in topics}
    await store_compiled(writer, [(topic.before, topic.page) for topic in by_alias.values()], NOTE)
    metrics.add("pages_created", sum(topic.before is None for topic in by_alias.values()))
    changes = [PageChange(topic.before, topic.page, (), topic.promotes, {}) for topic in by_alias.values()]
    await promote(writer, changes, metrics)
    return {alias: topic.page.id for alias, topic in by_alias.items()}


def titles(unknown: Sequence[Placement]) -> dict[str, str]:
    """Return the titles of the parents that at least PAGES_MIN pages name, by alias, in their most common spelling."""
    pages: dict[str, dict[UUID, str]] = defaultdict(dict)
    for placement in unknown:
        if any(basis in OWN_PAGES for basis in placement.bases):
            pages[placement.alias][placement.page_id] = placement.name
    return {
        alias: most_common(list(names.values())) for alias, names in sorted(pages.items()) if len(names) >= PAGES_MIN
    }


def most_common(names: Sequence[str]) -> str:
    counts = Counter(names)
    return min(counts, key=lambda name: (-counts[name], name))


Rollups = Mapping[UUID, Mapping[str, Aggregation]]
"""The state of each rollup section, by page and section slug."""
LEVELS_MAX = 20  # levels of topics below each other


class ListPlace(NamedTuple):
    """A section that lists a page. If it `is_delegated`, its topic is below the topic that the evidence names."""

    page_id: UUID
    section_slug: str
    is_delegated: bool = False


def route(start: ListPlace, tags: Collection[str], rollups: Rollups) -> ListPlace:
    """Return the section that lists a page with these tags, starting from a section of the named topic.

    As long as the section was promoted to a topic, it continues with that topic: with the part for one of the tags, or
    else with the main section.
    """
    place = start
    for _ in range(LEVELS_MAX):
        if place.is_delegated:
            place = place._replace(section_slug=part_of(place, tags, rollups))
        known = rollups.get(place.page_id, {}).get(place.section_slug)
        if known is None or known.promoted_page_id is None:
            return place
        topic_id = known.promoted_page_id
        main = next((slug for slug, state in rollups.get(topic_id, {}).items() if state.is_whole), None)
        if main is None:
            return place
        place = ListPlace(topic_id, main, True)
    return place


def part_of(place: ListPlace, tags: Collection[str], rollups: Rollups) -> str:
    """Return the first part of the topic, ordered by tag, whose tag the page has, or else the present section."""
    parts = sorted((state.tag, slug) for slug, state in rollups.get(place.page_id, {}).items() if state.tag)
    return next((slug for tag, slug in parts if tag in tags), place.section_slug)


async def place_pages(
    writer: Writer, page_ids: Collection[UUID], topics: Collection[Page], metrics: Metrics
) -> set[SectionKey]:
    """Store the placements of these pages, and of pages that wait for these topics.

    Return the sections that must be updated, because their pages have changed or come from or go to another section.
    """
    cards = await find_cards(writer, ids=page_ids)
    metadata = await find_metadata(writer, page_ids)
    wanted: dict[tuple[UUID, str], Placement] = {}
    for card in cards:
        for placement in wanted_placements(card, metadata.get(card.id, ())):
            wanted[placement.key] = placement
        await asyncio.sleep(0)
    current = {placement.key: placement for placement in await find_placements(writer, page_ids)}
    names = {alias for _, alias in wanted} | {name for topic in topics for name in topic_names(topic.title)}
    if not names and not current:
        return set()
    for waiting in await find_waiting(writer, names):
        wanted.setdefault(waiting.key, waiting)
        current.setdefault(waiting.key, waiting)
    parents = await find_topics(writer, wanted.values())
    unknown = [placement for placement in wanted.values() if placement.alias not in parents]
    parents |= await make_parents(writer, unknown, metrics)
    known_parents = {placement.parent_id for placement in current.values() if placement.parent_id}
    outlines = await find_outlines(writer, known_parents | set(parents.values()))
    placed = {
        key: place_under(placement, current.get(key), parents.get(placement.alias), outlines)
        for key, placement in wanted.items()
    }
    new = [placement for key, placement in placed.items() if placement != current.get(key)]
    dropped = [placement for key, placement in current.items() if key not in placed]
    await write_placements(writer, new)
    await drop_placements(writer, dropped)
    metrics.add("deterministic_parents_derived", sum(is_derived(placement, current) for placement in new))
    changed = [placement for placement in placed.values() if placement.page_id in page_ids or placement in new]
    return {section_key for placement in (*changed, *current.values()) if (section_key := placement.section_key)}


def wanted_placements(card: PageCard, metadata: Sequence[MetadataValue]) -> Iterator[Placement]:
    """Yield a placement for each parent that the evidence of a page names, without its topic and section."""
    kind = kind_of(card, metadata)
    tags = tuple(dict.fromkeys((*observed_tags(metadata), *card.tags)))[: TAGS.maximum]
    for candidate in candidates(card, metadata):
        yield Placement(card.id, candidate.alias, candidate.name, candidate.bases, kind, tags)


def place_under(wanted: Placement, before: Placement | None, parent: UUID | None, outlines: Outlines) -> Placement:
    """Return the placement with its topic and section.

    This stays the promoted topic below the named one if the page was listed there before. Without a parent, the
    placement is returned unchanged.
    """
    if before and before.parent_id and (before.is_delegated or before.parent_id in outlines.active):
        parent = before.parent_id
    if parent is None:
        return wanted
    start = ListPlace(parent, outlines.slug_for(parent, wanted.kind))
    if before and before.is_delegated and before.section_slug:
        start = ListPlace(parent, outlines.section_for_tags(parent, before.section_slug, wanted.tags), True)
    place = route(start, wanted.tags, outlines.rollups)
    return wanted._replace(parent_id=place.page_id, section_slug=place.section_slug, is_delegated=place.is_delegated)


def is_derived(placement: Placement, current: dict[tuple[UUID, str], Placement]) -> bool:
    """Return whether the placement has a parent now, and had none before."""
    before = current.get((placement.page_id, placement.alias))
    return placement.parent_id is not None and (before is None or before.parent_id is None)


async def aggregate(writer: Writer, changes: Sequence[PageChange], metrics: Metrics) -> None:
    """List the pages of a batch. Its pages, citations and links must be stored before."""
    await update_lists(writer, [change.after for change in changes], metrics)


async def update_lists(
    writer: Writer, pages: Sequence[Page], metrics: Metrics, section_keys: Collection[SectionKey] = ()
) -> None:
    """List these pages where they belong by their evidence.

    The lists that they leave, and those in `section_keys`, are updated too.
    """
    topics = [page for page in pages if page.type == "topic"]
    others = [page.id for page in pages if page.type != "topic"]
    changed = await place_pages(writer, others, topics, metrics) if pages else set()
    await update_sections(writer, {*changed, *section_keys}, metrics)
