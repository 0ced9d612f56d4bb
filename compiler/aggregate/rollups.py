"""Rollup sections: the new text, state and score of each."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from lib.threads import offload
from resolvers.model.pages import Page
from resolvers.transactions.writer import Writer

from .density import NONE, PROMOTED, TAGS_MAX, Aggregation, is_ready, score, status
from .kinds import HEADINGS
from .listing import Child, Listing, build_listing, without_promotion_text
from .stored import Outlines, SectionKey, find_listed, find_support


@dataclass(slots=True)
class Rollup:
    """One rollup section."""

    section_key: SectionKey
    heading: str
    body: str
    """The previous text."""
    before: Aggregation
    """The previous state."""
    children: list[Child]
    """All pages that belong to the section, including those whose lines a person removed."""
    text: Listing
    """The new text."""
    known: Aggregation
    """The new state."""

    @property
    def listed_children(self) -> list[Child]:
        return [child for child in self.children if child.id in self.text.ids]

    @property
    def tags(self) -> list[tuple[str, ...]]:
        return [child.tags for child in self.listed_children]

    @property
    def is_ready(self) -> bool:
        return is_ready(self.known, self.tags)

    @property
    def grown(self) -> Listing:
        """Return the text of the section on its own topic, without the text of people."""
        return build_listing("", self.children, Aggregation(dismissed_page_ids=self.text.dismissed))

    @property
    def known_there(self) -> Aggregation:
        """Return the state of the section on its own topic, where it is the main section."""
        return replace(
            self.known, line_digests=self.grown.digests, promotion_status=NONE, promoted_page_id=None, tag=None,
            is_whole=True,
        )  # fmt: skip

    def promoted_to(self, page_id: UUID) -> Aggregation:
        """Return the state of the section on its original page after its promotion to a topic."""
        return replace(self.known, promotion_status=PROMOTED, promoted_page_id=page_id)


async def read_rollups(
    writer: Writer, pages: Mapping[UUID, Page], section_keys: Sequence[SectionKey], outlines: Outlines
) -> list[Rollup]:
    """Return these sections with their new text, state and score, reading them in two statements."""
    listed = await find_listed(writer, section_keys)
    rollups = [
        await read_rollup(
            pages[section_key[0]],
            section_key,
            outlines.rollups[section_key[0]].get(section_key[1]) or Aggregation(),
            listed[section_key],
        )
        for section_key in section_keys
    ]
    supports = await find_support(writer, [rollup.text.ids for rollup in rollups])
    for rollup, support in zip(rollups, supports, strict=True):
        known = replace(
            rollup.before,
            linked_page_ids=rollup.text.ids,
            line_digests=rollup.text.digests,
            dismissed_page_ids=rollup.text.dismissed,
            supporting_record_count=support.sources,
            first_source_at=support.first_at,
            last_source_at=support.last_at,
            observed_tags=most_common(rollup.tags),
        )
        points = score(known, rollup.tags, len(rollup.text.body))
        rollup.known = replace(known, promotion_score=points, promotion_status=status(known, points))
    return rollups


async def read_rollup(page: Page, section_key: SectionKey, before: Aggregation, children: list[Child]) -> Rollup:
    """Return one section with its new text. Its new state is set later."""
    await asyncio.sleep(0)  # so other tasks get their turn between many short lists
    section = next((section for section in page.sections if section.slug == section_key[1]), None)
    body = section.body if section else ""
    if before.linked_page_ids and not before.line_digests:
        body = without_promotion_text(body, before)
    size = len(body) + sum(len(child.title) + len(child.summary or "") for child in children)
    text = await offload(size, build_listing, body, children, before)
    heading = section.heading if section else heading_of(section_key[1], before)
    return Rollup(section_key, heading, body, before, children, text, before)


def heading_of(slug: str, known: Aggregation) -> str:
    """Return the heading of a new section: its tag, or the heading of its kind. Slugs may end in a number."""
    name = known.tag or HEADINGS.get(slug.rstrip("_0123456789"), slug)
    return name[:1].upper() + name[1:]


def most_common(tags: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the most common tags of these pages."""
    counts = Counter(tag for page_tags in tags for tag in set(page_tags))
    return tuple(sorted(counts, key=lambda tag: (-counts[tag], tag))[:TAGS_MAX])
