"""Updating rollup sections: listing their pages, dividing them by tag, and promoting them to topics, level by level."""

import logging
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from content.markdown.sections import Section, problem
from content.names import section_slug
from lib.threads import offload
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
from .promotion import SectionPromotion, find_promotions, place_topic, replacement_texts
from .rollups import Rollup, read_rollups
from .stored import Outlines, SectionKey, find_listed, find_outlines, move_placements, set_aggregations, store_compiled

PART_MIN = 5  # pages of a part


async def divide_main_sections(
    writer: Writer, pages: Mapping[UUID, Page], section_keys: Sequence[SectionKey], outlines: Outlines
) -> list[SectionKey]:
    """Divide the main sections of topics into parts by tag, and return the new sections.

    Their pages are moved to the new sections, which are added to `outlines`.
    """
    main_sections = [
        section_key
        for section_key in section_keys
        if (known := outlines.rollups[section_key[0]].get(section_key[1])) and known.is_whole
    ]
    if not main_sections:
        return []
    listed = await find_listed(writer, main_sections)
    moves: list[tuple[SectionKey, SectionKey, str | None]] = []
    for main in main_sections:
        for tag in divide(listed[main], part_tags(main[0], outlines)):
            part = main[0], part_slug(tag, pages[main[0]], outlines)
            outlines.rollups[main[0]][part[1]] = Aggregation(tag=tag)
            moves.append((main, part, tag))
    await move_placements(writer, moves)
    return [part for _, part, _ in moves]


def divide(children: Sequence[Child], excluded: Collection[str]) -> dict[str, list[Child]]:
    """Group pages by tag, the most common tag first, without the excluded tags.

    A group has at least PART_MIN pages, and at most half of those that are in no group yet.
    """
    parts: dict[str, list[Child]] = {}
    left = list(children)
    while tag := next_tag(left, {*excluded, *parts}):
        parts[tag] = [child for child in left if tag in child.tags]
        left = [child for child in left if tag not in child.tags]
    return parts


def next_tag(children: Sequence[Child], excluded: Collection[str]) -> str | None:
    """Return the most common tag of these pages that can make a group."""
    counts = Counter(tag for child in children for tag in set(child.tags) if tag not in excluded)
    fitting = [tag for tag, count in counts.items() if PART_MIN <= count <= len(children) / 2 and can_be_heading(tag)]
    return min(fitting, key=lambda tag: (-counts[tag], tag), default=None)


def can_be_heading(tag: str) -> bool:
    """Return whether a tag, which is untrusted, is a valid heading of a section."""
    return problem(Section("part", tag, "")) is None


def part_tags(page_id: UUID, outlines: Outlines) -> set[str]:
    """Return the tags of the parts that a topic has already."""
    return {known.tag for known in outlines.rollups[page_id].values() if known.tag}


def part_slug(tag: str, page: Page, outlines: Outlines) -> str:
    """Return a free section slug for a part."""
    taken = {section.slug for section in page.sections} | outlines.rollups[page.id].keys()
    return outline.next_free_slug(section_slug(tag), taken)


log = logging.getLogger(__name__)

ROUNDS = 20  # levels that are updated at once; further levels are updated with the next source
NOTE = "Listed what belongs here"
GREW = "Grown from a section"


async def update_sections(writer: Writer, section_keys: Collection[SectionKey], metrics: Metrics) -> None:
    """Update these sections, and the sections of the topics to which they are promoted."""
    for _ in range(ROUNDS):
        if not section_keys:
            return
        section_keys = await update_level(writer, sorted(section_keys), metrics)


async def update_level(writer: Writer, section_keys: Sequence[SectionKey], metrics: Metrics) -> list[SectionKey]:
    """Update these sections, and return the main sections of the topics to which some of them are promoted."""
    outlines = await find_outlines(writer, [page_id for page_id, _ in section_keys])
    pages = await find_open_pages(writer, section_keys, outlines)
    unpromoted = [
        section_key
        for section_key in section_keys
        if section_key[0] in pages and not is_promoted(section_key, outlines)
    ]
    parts = await divide_main_sections(writer, pages, unpromoted, outlines)
    rollups = await read_rollups(writer, pages, list(dict.fromkeys((*unpromoted, *parts))), outlines)
    promotions = await find_promotions(writer, rollups, pages, outlines)
    states = await compose_pages(writer, pages, rollups, promotions, metrics)
    promotions = [promotion for promotion in promotions if promotion.page.id in states]
    await store_pages(writer, pages, states, promotions, metrics)
    known = states_by_section([rollup for rollup in rollups if rollup.section_key[0] in states], promotions)
    metrics.add("parent_sections_updated", await set_aggregations(writer, known))
    await move_placements(
        writer, [(promotion.rollup.section_key, promotion.section_key, None) for promotion in promotions]
    )
    for promotion in promotions:
        await place_topic(writer, promotion)
    metrics.add("sections_promoted", len(promotions))
    refresh_hubness(writer, states)
    return [promotion.section_key for promotion in promotions]


async def find_open_pages(writer: Writer, section_keys: Sequence[SectionKey], outlines: Outlines) -> dict[UUID, Page]:
    """Return the pages of these sections that are active, and archived topics that were made from a section.

    Such topics are restored when a new source belongs to them.
    """
    found = await find_pages(writer, {page_id for page_id, _ in section_keys})
    return {id: page for id, page in sorted(found.items()) if id in outlines.active or outlines.whole_of(id)}


def is_promoted(section_key: SectionKey, outlines: Outlines) -> bool:
    known = outlines.rollups[section_key[0]].get(section_key[1])
    return known is not None and known.promotion_status == PROMOTED


async def compose_pages(
    writer: Writer,
    pages: Mapping[UUID, Page],
    rollups: Sequence[Rollup],
    promotions: Sequence[SectionPromotion],
    metrics: Metrics,
) -> dict[UUID, Page]:
    """Return the pages with their updated lists.

    A page whose lists are not valid is left out, together with the promotions from and to it.
    """
    texts: dict[UUID, list[SectionDraft]] = defaultdict(list)
    replacements = await replacement_texts(writer, promotions)
    for rollup in rollups:
        texts[rollup.section_key[0]].append(
            replacements.get(rollup.section_key)
            or SectionDraft(rollup.text.body, rollup.section_key[1], rollup.heading)
        )
    after = dict(pages)
    for promotion in promotions:
        after.setdefault(promotion.page.id, promotion.page)
        texts[promotion.page.id].append(promotion.draft)
    states = {
        id: state for id, drafts in texts.items() if (state := await with_lists(after[id], drafts, rollups, metrics))
    }
    for promotion in promotions:
        ends = {promotion.page.id, promotion.rollup.section_key[0]}
        if not ends <= states.keys():
            for page_id in ends:
                states.pop(page_id, None)
    return states


async def with_lists(
    page: Page, drafts: Sequence[SectionDraft], rollups: Sequence[Rollup], metrics: Metrics
) -> Page | None:
    """Return the page with its updated lists, or None if they are not valid.

    The section of an empty list is removed, unless its promotion was suppressed by a person.
    """
    suppressed = {
        rollup.section_key[1]
        for rollup in rollups
        if rollup.section_key[0] == page.id and rollup.known.promotion_status == SUPPRESSED
    }
    empty = {draft.slug for draft in drafts if not draft.body.strip()} - suppressed
    sections = tuple(section for section in page.sections if section.slug not in empty)
    wanted = [draft for draft in drafts if draft.slug not in empty]
    try:
        size = outline.size(sections, wanted)
        merged = await offload(size, outline.merge_drafts, page.type, sections, wanted)
        return replace(page, sections=merged, status="active")
    except BadInput as error:
        log.info("The list for %s could not be made: %s", page.name, error.message)
        metrics.drop("bad_section")
        return None


async def store_pages(
    writer: Writer,
    pages: Mapping[UUID, Page],
    states: Mapping[UUID, Page],
    promotions: Sequence[SectionPromotion],
    metrics: Metrics,
) -> None:
    """Save the changed pages and the new topics, and promote the mentions that become topics."""
    before: dict[UUID, Page | None] = {promotion.page.id: promotion.before for promotion in promotions} | dict(pages)
    grown = {promotion.page.id for promotion in promotions}
    for summary, ids in ((NOTE, states.keys() - grown), (GREW, states.keys() & grown)):
        await store_compiled(writer, [(before[page_id], states[page_id]) for page_id in sorted(ids)], summary)
    changes = [PageChange(promotion.before, promotion.page, (), promotion.promotes, {}) for promotion in promotions]
    await promote(writer, changes, metrics)


def states_by_section(
    rollups: Sequence[Rollup], promotions: Sequence[SectionPromotion]
) -> dict[SectionKey, Aggregation]:
    """Return the new state of each section, including those that are promoted and the main sections of their topics."""
    known = {rollup.section_key: rollup.known for rollup in rollups}
    for promotion in promotions:
        known[promotion.rollup.section_key] = promotion.rollup.promoted_to(promotion.page.id)
        known[promotion.section_key] = promotion.rollup.known_there
    return known
