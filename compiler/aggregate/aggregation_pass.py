"""The pass behind the leaf pass, in its transaction: what was just compiled is listed where it belongs.

Its work follows from the pages that the batch touched, and the lists they stand in, however large the wiki is. It asks
the rows alone, never the batch: the same wiki gives the same lists, whoever compiled it in whatever batches.
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
from .growing import grow
from .kinds import kind_of
from .naming import OWN_PAGES, MetadataValue, candidates, observed_tags, topic_names
from .stored import (
    Outlines,
    Placement,
    Spot,
    drop_placements,
    find_outlines,
    find_placements,
    find_said,
    find_topics,
    find_waiting,
    store_compiled,
    write_placements,
)
from .topics import claim

PAGES_LEAST = 3
NOTE = "Several pages belong here"


async def make_parents(writer: Writer, unknown: Sequence[Placement], metrics: Metrics) -> dict[str, UUID]:
    """Make topics of the names that enough pages wait for, and return their ids by alias."""
    earned = titles(unknown)
    claims = await claim(writer, list(earned.values())) if earned else {}
    made = {alias: claims[title] for alias, title in earned.items() if title in claims}
    await store_compiled(writer, [(one.before, one.page) for one in made.values()], NOTE)
    metrics.add("pages_created", sum(one.before is None for one in made.values()))
    changes = [PageChange(one.before, one.page, (), one.promotes, {}) for one in made.values()]
    await promote(writer, changes, metrics)
    return {alias: one.page.id for alias, one in made.items()}


def titles(unknown: Sequence[Placement]) -> dict[str, str]:
    """Return by alias the titles that the sources of enough pages name, in the form that most of them write."""
    pages: dict[str, dict[UUID, str]] = defaultdict(dict)
    for one in unknown:
        if any(basis in OWN_PAGES for basis in one.bases):
            pages[one.alias][one.page_id] = one.name
    return {
        alias: most_common(list(names.values())) for alias, names in sorted(pages.items()) if len(names) >= PAGES_LEAST
    }


def most_common(names: Sequence[str]) -> str:
    counts = Counter(names)
    return min(counts, key=lambda name: (-counts[name], name))


Rollups = Mapping[UUID, Mapping[str, Aggregation]]
"""Page → section slug → what it knows."""
LEVELS_MAX = 20


class ListPlace(NamedTuple):
    """A section of a page; `is_delegated` where it is below the topic that the evidence names."""

    page_id: UUID
    section_slug: str
    is_delegated: bool = False


def route(start: ListPlace, tags: Collection[str], rollups: Rollups) -> ListPlace:
    """Follow a section that has grown to its page, and there to the part of its tag, until one has not grown."""
    place = start
    for _ in range(LEVELS_MAX):
        if place.is_delegated:
            place = place._replace(section_slug=part_of(place, tags, rollups))
        known = rollups.get(place.page_id, {}).get(place.section_slug)
        if known is None or known.promoted_page_id is None:
            return place
        grown = known.promoted_page_id
        whole = next((slug for slug, one in rollups.get(grown, {}).items() if one.is_whole), None)
        if whole is None:
            return place
        place = ListPlace(grown, whole, True)
    return place


def part_of(place: ListPlace, tags: Collection[str], rollups: Rollups) -> str:
    """Return the first part, by its tag, that the page belongs to; else the section where it is."""
    parts = sorted((one.tag, slug) for slug, one in rollups.get(place.page_id, {}).items() if one.tag)
    return next((slug for tag, slug in parts if tag in tags), place.section_slug)


async def put_in_place(
    writer: Writer, page_ids: Collection[UUID], topics: Collection[Page], metrics: Metrics
) -> set[Spot]:
    """Place the pages, and return the sections that list something else now, or something of which there is news."""
    cards = await find_cards(writer, ids=page_ids)
    said = await find_said(writer, page_ids)
    wanted: dict[tuple[UUID, str], Placement] = {}
    for card in cards:
        wanted |= {(one.page_id, one.alias): one for one in wanted_placements(card, said.get(card.id, ()))}
        await asyncio.sleep(0)
    current = {(one.page_id, one.alias): one for one in await find_placements(writer, page_ids)}
    names = {alias for _, alias in wanted} | {name for topic in topics for name in topic_names(topic.title)}
    if not names and not current:
        return set()
    for one in await find_waiting(writer, names):
        wanted.setdefault((one.page_id, one.alias), one)
        current.setdefault((one.page_id, one.alias), one)
    parents = await find_topics(writer, wanted.values())
    unknown = [one for one in wanted.values() if one.alias not in parents]
    parents |= await make_parents(writer, unknown, metrics)
    known_parents = {one.parent_id for one in current.values() if one.parent_id}
    outlines = await find_outlines(writer, known_parents | set(parents.values()))
    placed = {key: place_under(one, current.get(key), parents.get(one.alias), outlines) for key, one in wanted.items()}
    new = [one for key, one in placed.items() if one != current.get(key)]
    gone = [one for key, one in current.items() if key not in placed]
    await write_placements(writer, new)
    await drop_placements(writer, gone)
    metrics.add("deterministic_parents_derived", sum(is_derived(one, current) for one in new))
    touched = [one for one in placed.values() if one.page_id in page_ids or one in new]
    return {spot for one in (*touched, *current.values()) if (spot := one.spot)}


def wanted_placements(card: PageCard, said: Sequence[MetadataValue]) -> Iterator[Placement]:
    """Yield a placement for each parent that the evidence of a page names, without looking up where it is."""
    kind = kind_of(card, said)
    tags = tuple(dict.fromkeys((*observed_tags(said), *card.tags)))[: TAGS.most]
    for one in candidates(card, said):
        yield Placement(card.id, one.alias, one.name, one.bases, kind, tags)


def place_under(wanted: Placement, before: Placement | None, parent: UUID | None, outlines: Outlines) -> Placement:
    """Return the placement with its list: below a grown page if it is there already, else under the named topic."""
    if before and before.parent_id and (before.is_delegated or before.parent_id in outlines.active):
        parent = before.parent_id
    if parent is None:
        return wanted
    start = ListPlace(parent, outlines.slug_for(parent, wanted.kind))
    if before and before.is_delegated and before.section_slug:
        start = ListPlace(parent, outlines.remaining_text(parent, before.section_slug, wanted.tags), True)
    place = route(start, wanted.tags, outlines.rollups)
    return wanted._replace(parent_id=place.page_id, section_slug=place.section_slug, is_delegated=place.is_delegated)


def is_derived(placement: Placement, current: dict[tuple[UUID, str], Placement]) -> bool:
    """Return whether the placement has a parent and had none before."""
    before = current.get((placement.page_id, placement.alias))
    return placement.parent_id is not None and (before is None or before.parent_id is None)


async def aggregate(writer: Writer, changes: Sequence[PageChange], metrics: Metrics) -> None:
    """List the pages of a batch, after pages, evidence and links are stored."""
    await list_anew(writer, [change.after for change in changes], metrics)


async def list_anew(writer: Writer, pages: Sequence[Page], metrics: Metrics, spots: Collection[Spot] = ()) -> None:
    """List these pages where their evidence puts them now, and update the lists that they leave, and `spots`."""
    topics = [page for page in pages if page.type == "topic"]
    others = [page.id for page in pages if page.type != "topic"]
    touched = await put_in_place(writer, others, topics, metrics) if pages else set()
    await grow(writer, {*touched, *spots}, metrics)
