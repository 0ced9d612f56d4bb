"""Pages put where their evidence says that they belong: under the topics that it names, or in wait for them."""

import asyncio
from collections.abc import Collection, Iterator, Sequence
from uuid import UUID

from content.limits import TAGS
from resolvers.model.pages import Page
from resolvers.transactions.writer import Writer

from ..metrics import Metrics
from ..planner import PageCard
from ..read.stored import find_cards
from .kinds import kind_of
from .naming import Said, candidates, observed_tags, topic_names
from .parents import make_parents
from .routes import Place, route
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
    write_placements,
)


async def put_in_place(
    writer: Writer, page_ids: Collection[UUID], topics: Collection[Page], metrics: Metrics
) -> set[Spot]:
    """The sections that list something else now, or something of which there is news."""
    cards = await find_cards(writer, ids=page_ids)
    said = await find_said(writer, page_ids)
    wanted: dict[tuple[UUID, str], Placement] = {}
    for card in cards:
        wanted |= {(one.page_id, one.alias): one for one in wanted_for(card, said.get(card.id, ()))}
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
    placed = {key: placed_in(one, current.get(key), parents.get(one.alias), outlines) for key, one in wanted.items()}
    new = [one for key, one in placed.items() if one != current.get(key)]
    gone = [one for key, one in current.items() if key not in placed]
    await write_placements(writer, new)
    await drop_placements(writer, gone)
    metrics.add("deterministic_parents_derived", sum(is_derived(one, current) for one in new))
    touched = [one for one in placed.values() if one.page_id in page_ids or one in new]
    return {spot for one in (*touched, *current.values()) if (spot := one.spot)}


def wanted_for(card: PageCard, said: Sequence[Said]) -> Iterator[Placement]:
    """What the evidence of a page asks for, no matter where that is."""
    kind = kind_of(card, said)
    tags = tuple(dict.fromkeys((*observed_tags(said), *card.tags)))[: TAGS.most]
    for one in candidates(card, said):
        yield Placement(card.id, one.alias, one.name, one.bases, kind, tags)


def placed_in(wanted: Placement, before: Placement | None, parent: UUID | None, outlines: Outlines) -> Placement:
    """Where it is listed: once below a page that has grown, there; else under the topic of that name."""
    if before and before.parent_id and (before.is_delegated or before.parent_id in outlines.active):
        parent = before.parent_id
    if parent is None:
        return wanted
    start = Place(parent, outlines.slug_for(parent, wanted.kind))
    if before and before.is_delegated and before.section_slug:
        start = Place(parent, outlines.left_by(parent, before.section_slug, wanted.tags), True)
    place = route(start, wanted.tags, outlines.rollups)
    return wanted._replace(parent_id=place.page_id, section_slug=place.section_slug, is_delegated=place.is_delegated)


def is_derived(placement: Placement, current: dict[tuple[UUID, str], Placement]) -> bool:
    """Whether it has a parent, and had none."""
    before = current.get((placement.page_id, placement.alias))
    return placement.parent_id is not None and (before is None or before.parent_id is None)
