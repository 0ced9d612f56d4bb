"""Sections that list pages: brought up to date, divided, and grown into topics of their own, level by level."""

import logging
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from content.markdown.sections import Section, problem
from content.names import section_slug
from lib.threads import read_in_thread
from resolvers.errors import BadInput
from resolvers.links.references import refresh_hubness
from resolvers.model import outline
from resolvers.model.drafts import SectionDraft
from resolvers.model.pages import Page, find_pages
from resolvers.transactions.writer import Writer

from ..metrics import Metrics
from ..write.page_changes import PageChange
from ..write.store import promote
from .density import PROMOTED, SUPPRESSED, Aggregation
from .listing import Child
from .promotion import Growth, find_growths, place_topic, replacement_texts
from .rollups import Rollup, read_rollups
from .stored import Outlines, Spot, find_listed, find_outlines, move_placements, set_aggregations, store_compiled

PART_LEAST = 5


async def divide_wholes(
    writer: Writer, pages: Mapping[UUID, Page], spots: Sequence[Spot], outlines: Outlines
) -> list[Spot]:
    """Divide whole lists by tag, and return the new sections.

    Their pages are listed there from now on; `outlines` knows them.
    """
    wholes = [spot for spot in spots if (known := outlines.rollups[spot[0]].get(spot[1])) and known.is_whole]
    if not wholes:
        return []
    listed = await find_listed(writer, wholes)
    moves: list[tuple[Spot, Spot, str | None]] = []
    for whole in wholes:
        for tag in divide(listed[whole], tags_of(whole[0], outlines)):
            part = whole[0], part_slug(tag, pages[whole[0]], outlines)
            outlines.rollups[whole[0]][part[1]] = Aggregation(tag=tag)
            moves.append((whole, part, tag))
    await move_placements(writer, moves)
    return [part for _, part, _ in moves]


def divide(children: Sequence[Child], but: Collection[str]) -> dict[str, list[Child]]:
    """Group pages by tag, the commonest first: at least five, at most half of those left. Tags in `but` are skipped."""
    parts: dict[str, list[Child]] = {}
    left = list(children)
    while tag := next_tag(left, {*but, *parts}):
        parts[tag] = [child for child in left if tag in child.tags]
        left = [child for child in left if tag not in child.tags]
    return parts


def next_tag(children: Sequence[Child], but: Collection[str]) -> str | None:
    counts = Counter(tag for child in children for tag in set(child.tags) if tag not in but)
    fitting = [tag for tag, count in counts.items() if PART_LEAST <= count <= len(children) / 2 and can_head(tag)]
    return min(fitting, key=lambda tag: (-counts[tag], tag), default=None)


def can_head(tag: str) -> bool:
    """Return whether a tag can be the heading of a section: tags come from outside."""
    return problem(Section("part", tag, "")) is None


def tags_of(page_id: UUID, outlines: Outlines) -> set[str]:
    """Return the parts that a page has already."""
    return {known.tag for known in outlines.rollups[page_id].values() if known.tag}


def part_slug(tag: str, page: Page, outlines: Outlines) -> str:
    taken = {section.slug for section in page.sections} | outlines.rollups[page.id].keys()
    return outline.next_free_slug(section_slug(tag), taken)


log = logging.getLogger(__name__)

ROUNDS = 20  # levels that can grow at once; what is left grows with the next source
NOTE = "Listed what belongs here"
GREW = "Grown from a section"


async def grow(writer: Writer, spots: Collection[Spot], metrics: Metrics) -> None:
    """Update these sections, and whatever grows out of them."""
    for _ in range(ROUNDS):
        if not spots:
            return
        spots = await grow_once(writer, sorted(spots), metrics)


async def grow_once(writer: Writer, spots: Sequence[Spot], metrics: Metrics) -> list[Spot]:
    """Update one level, and return the sections that are new on the next."""
    outlines = await find_outlines(writer, [page_id for page_id, _ in spots])
    pages = await find_open_pages(writer, spots, outlines)
    standing = [spot for spot in spots if spot[0] in pages and not has_grown(spot, outlines)]
    parts = await divide_wholes(writer, pages, standing, outlines)
    rollups = await read_rollups(writer, pages, list(dict.fromkeys((*standing, *parts))), outlines)
    growths = await find_growths(writer, rollups, pages, outlines)
    states = await rewritten(writer, pages, rollups, growths, metrics)
    growths = [one for one in growths if one.page.id in states]
    await keep_pages(writer, pages, states, growths, metrics)
    known = state_by_spot([one for one in rollups if one.spot[0] in states], growths)
    metrics.add("parent_sections_updated", await set_aggregations(writer, known))
    await move_placements(writer, [(one.rollup.spot, one.spot, None) for one in growths])
    for one in growths:
        await place_topic(writer, one)
    metrics.add("sections_promoted", len(growths))
    refresh_hubness(writer, states)
    return [one.spot for one in growths]


async def find_open_pages(writer: Writer, spots: Sequence[Spot], outlines: Outlines) -> dict[UUID, Page]:
    """Find active pages, and those grown out of a section: like any page that sources speak of, these come back."""
    found = await find_pages(writer, {page_id for page_id, _ in spots})
    return {id: page for id, page in sorted(found.items()) if id in outlines.active or outlines.whole_of(id)}


def has_grown(spot: Spot, outlines: Outlines) -> bool:
    known = outlines.rollups[spot[0]].get(spot[1])
    return known is not None and known.promotion_status == PROMOTED


async def rewritten(
    writer: Writer,
    pages: Mapping[UUID, Page],
    rollups: Sequence[Rollup],
    growths: Sequence[Growth],
    metrics: Metrics,
) -> dict[UUID, Page]:
    """Return the pages with their lists.

    One that would not hold them stays as it is, with all that would grow out of it.
    """
    texts: dict[UUID, list[SectionDraft]] = defaultdict(list)
    left = await replacement_texts(writer, growths)
    for one in rollups:
        texts[one.spot[0]].append(left.get(one.spot) or SectionDraft(one.text.body, one.spot[1], one.heading))
    after = dict(pages)
    for growth in growths:
        after.setdefault(growth.page.id, growth.page)
        texts[growth.page.id].append(growth.draft)
    states = {
        id: state for id, drafts in texts.items() if (state := await with_lists(after[id], drafts, rollups, metrics))
    }
    for growth in growths:
        ends = {growth.page.id, growth.rollup.spot[0]}
        if not ends <= states.keys():
            for page_id in ends:
                states.pop(page_id, None)
    return states


async def with_lists(
    page: Page, drafts: Sequence[SectionDraft], rollups: Sequence[Rollup], metrics: Metrics
) -> Page | None:
    """Return the page with its lists. An empty list goes with its section, unless somebody has decided about that."""
    kept = {one.spot[1] for one in rollups if one.spot[0] == page.id and one.known.promotion_status == SUPPRESSED}
    empty = {draft.slug for draft in drafts if not draft.body.strip()} - kept
    sections = tuple(section for section in page.sections if section.slug not in empty)
    wanted = [draft for draft in drafts if draft.slug not in empty]
    try:
        size = outline.size(sections, wanted)
        merged = await read_in_thread(size, outline.merge_drafts, page.type, sections, wanted)
        return replace(page, sections=merged, status="active")
    except BadInput as error:
        log.info("The list for %s could not be made: %s", page.name, error.message)
        metrics.drop("bad_section")
        return None


async def keep_pages(
    writer: Writer,
    pages: Mapping[UUID, Page],
    states: Mapping[UUID, Page],
    growths: Sequence[Growth],
    metrics: Metrics,
) -> None:
    before: dict[UUID, Page | None] = {one.page.id: one.before for one in growths} | dict(pages)
    grown = {one.page.id for one in growths}
    for summary, ids in ((NOTE, states.keys() - grown), (GREW, states.keys() & grown)):
        await store_compiled(writer, [(before[page_id], states[page_id]) for page_id in sorted(ids)], summary)
    changes = [PageChange(one.before, one.page, (), one.promotes, {}) for one in growths]
    await promote(writer, changes, metrics)


def state_by_spot(rollups: Sequence[Rollup], growths: Sequence[Growth]) -> dict[Spot, Aggregation]:
    """Return the state that each section has from now on."""
    known = {one.spot: one.known for one in rollups}
    for growth in growths:
        known[growth.rollup.spot] = growth.rollup.grown_into(growth.page.id)
        known[growth.spot] = growth.rollup.known_there
    return known
