"""The parts of a page that has grown out of a section: pages with a tag in common get a section there."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from content.sections import Section, problem
from content.slugs import section_slug
from resolvers.model import outline
from resolvers.model.pages import Page
from resolvers.transactions.writer import Writer

from .density import Aggregation
from .listing import Child
from .stored import Outlines, Spot, find_listed, move_placements

PART_LEAST = 5


async def divide_wholes(
    writer: Writer, pages: Mapping[UUID, Page], spots: Sequence[Spot], outlines: Outlines
) -> list[Spot]:
    """The new sections. Their pages are listed there from now on; `outlines` knows them."""
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
    """By tag, the commonest first: at least five pages, and at most half of those that are left. `but` are no parts."""
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
    """Whether it can stand above a section: tags come from outside."""
    return problem(Section("part", tag, "")) is None


def tags_of(page_id: UUID, outlines: Outlines) -> set[str]:
    """The parts that a page has already."""
    return {known.tag for known in outlines.rollups[page_id].values() if known.tag}


def part_slug(tag: str, page: Page, outlines: Outlines) -> str:
    taken = {section.slug for section in page.sections} | outlines.rollups[page.id].keys()
    return outline.unused(section_slug(tag), taken)
