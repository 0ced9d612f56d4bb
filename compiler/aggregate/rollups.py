"""Sections that list pages, as they will be: what each says, knows, and is worth."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from lib.threads import read_in_thread
from resolvers.model.pages import Page
from resolvers.transactions.writer import Writer

from .density import NONE, PROMOTED, TAGS_MAX, Aggregation, is_ready, score, status
from .kinds import HEADINGS
from .listing import Child, Listing, listing, undone
from .stored import Outlines, Spot, find_listed, find_support


@dataclass(slots=True)
class Rollup:
    """One section. `children` are all that belong there; the text may leave out what a person took out."""

    spot: Spot
    heading: str
    body: str
    before: Aggregation
    children: list[Child]
    text: Listing
    known: Aggregation

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
        """Return the text of the section on a page of its own: nothing of it is a person's."""
        return listing("", self.children, Aggregation(dismissed_page_ids=self.text.dismissed))

    @property
    def known_there(self) -> Aggregation:
        """Return the state of the section on its own page, where it is the whole of it."""
        return replace(
            self.known, line_digests=self.grown.digests, promotion_status=NONE, promoted_page_id=None, tag=None,
            is_whole=True,
        )  # fmt: skip

    def grown_into(self, page_id: UUID) -> Aggregation:
        """Return the state that stays for good where the section stood: promoted to that page."""
        return replace(self.known, promotion_status=PROMOTED, promoted_page_id=page_id)


async def read_rollups(
    writer: Writer, pages: Mapping[UUID, Page], spots: Sequence[Spot], outlines: Outlines
) -> list[Rollup]:
    """Read these sections with their support, score and status, in two statements for all of them."""
    listed = await find_listed(writer, spots)
    rollups = [
        await read_rollup(pages[spot[0]], spot, outlines.rollups[spot[0]].get(spot[1]) or Aggregation(), listed[spot])
        for spot in spots
    ]
    supports = await find_support(writer, [one.text.ids for one in rollups])
    for one, support in zip(rollups, supports, strict=True):
        known = replace(
            one.before,
            linked_page_ids=one.text.ids,
            line_digests=one.text.digests,
            dismissed_page_ids=one.text.dismissed,
            supporting_record_count=support.sources,
            first_source_at=support.first_at,
            last_source_at=support.last_at,
            observed_tags=most_common(one.tags),
        )
        points = score(known, one.tags, len(one.text.body))
        one.known = replace(known, promotion_score=points, promotion_status=status(known, points))
    return rollups


async def read_rollup(page: Page, spot: Spot, before: Aggregation, children: list[Child]) -> Rollup:
    """Read the text of one section; its state is set later."""
    await asyncio.sleep(0)  # for others, between many short lists
    section = next((one for one in page.sections if one.slug == spot[1]), None)
    body = section.body if section else ""
    if before.linked_page_ids and not before.line_digests:
        body = undone(body, before)
    size = len(body) + sum(len(child.title) + len(child.summary or "") for child in children)
    text = await read_in_thread(size, listing, body, children, before)
    heading = section.heading if section else heading_of(spot[1], before)
    return Rollup(spot, heading, body, before, children, text, before)


def heading_of(slug: str, known: Aggregation) -> str:
    """Return the heading of a new section: its tag, or that of its kind, whatever the number behind the slug."""
    name = known.tag or HEADINGS.get(slug.rstrip("_0123456789"), slug)
    return name[:1].upper() + name[1:]


def most_common(tags: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the tags that most pages have."""
    counts = Counter(tag for own in tags for tag in set(own))
    return tuple(sorted(counts, key=lambda tag: (-counts[tag], tag))[:TAGS_MAX])
