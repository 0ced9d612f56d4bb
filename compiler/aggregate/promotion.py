"""Sections that have earned a page: which topic they grow into, and how that hangs under the page they stood on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from db.sql import statements
from resolvers.model import outline
from resolvers.model.drafts import SectionDraft
from resolvers.model.pages import Page
from resolvers.pages.hierarchy import place
from resolvers.transactions.writer import Writer, record

from .listing import shorten_section
from .rollups import Rollup
from .stored import Outlines, Spot, count_sources
from .topics import claim

PAGES = statements("pages/pages")
TAGS_MAX = 10


@dataclass(frozen=True, slots=True)
class Growth:
    """A section, the topic that it grows into, and the slug that it has there."""

    rollup: Rollup
    before: Page | None
    page: Page
    slug: str
    promotes: tuple[str, ...]

    @property
    def spot(self) -> Spot:
        return self.page.id, self.slug

    @property
    def draft(self) -> SectionDraft:
        """Return the section as it stands on the topic."""
        return SectionDraft(self.rollup.grown.body, self.slug, self.rollup.heading)


async def find_growths(
    writer: Writer, rollups: Sequence[Rollup], pages: Mapping[UUID, Page], outlines: Outlines
) -> list[Growth]:
    """Return the sections that are ready and can grow: what has their title is a topic, or nothing."""
    titles = {one.spot: title_for(one, pages[one.spot[0]], outlines) for one in rollups if one.is_ready}
    claims = await claim(writer, list(titles.values())) if titles else {}
    found: dict[UUID, Growth] = {}
    for one in rollups:
        wanted = claims.get(titles.get(one.spot, ""))
        if wanted is None or wanted.page.id in found:
            continue
        if wanted.before and not await may_hang(writer, wanted.before, one.spot[0]):
            continue
        page = wanted.page if wanted.before else introduce_topic(wanted.page, one, pages[one.spot[0]])
        slug = outline.next_free_slug(one.spot[1], {section.slug for section in page.sections})
        found[page.id] = Growth(one, wanted.before, page, slug, wanted.promotes)
    return list(found.values())


def title_for(rollup: Rollup, page: Page, outlines: Outlines) -> str:
    """Return a title: `Austin, Texas` and its section `Activities` make `Austin Activities`.

    The part `Music` of that makes `Austin Music`.
    """
    whole = outlines.whole_of(page.id)
    above = next((section.heading for section in page.sections if section.slug == whole), "")
    name = page.title.removesuffix(f" {above}") if above else page.title.partition(", ")[0]
    return f"{name} {rollup.heading}"


def introduce_topic(page: Page, rollup: Rollup, parent: Page) -> Page:
    """Return a new topic, with a summary and the tags of what it lists."""
    tags = rollup.known.observed_tags
    return replace(page, summary=f"{rollup.heading}: {parent.title}{tag_suffix(tags)}.", tags=tags[:TAGS_MAX])


def tag_suffix(tags: Sequence[str]) -> str:
    """Return the first of these tags in brackets, for the summary of a topic."""
    return f" ({', '.join(tags[:3])})" if tags else ""


async def may_hang(writer: Writer, page: Page, parent_id: UUID) -> bool:
    """Return whether a section of that page can grow into an existing topic: not the page itself or one above it."""
    if page.id == parent_id:
        return False
    return not await writer.value(PAGES["find_ancestor"], page_id=parent_id, ancestor_id=page.id)


async def replacement_texts(writer: Writer, growths: Sequence[Growth]) -> dict[Spot, SectionDraft]:
    """Return the text that replaces each section that has grown: a summary, highlights and a link to the topic."""
    if not growths:
        return {}
    counts = await count_sources(writer, {child.id for one in growths for child in one.rollup.children})
    drafts = {}
    for one in growths:
        section = one.rollup
        children = [child._replace(source_count=counts.get(child.id, 0)) for child in section.listed_children]
        body = shorten_section(section.body, children, section.known, one.page.title, one.page.slug)
        drafts[section.spot] = SectionDraft(body, section.spot[1], section.heading)
    return drafts


async def place_topic(writer: Writer, growth: Growth) -> None:
    """Put the topic under the page it came from, unless somebody has put it elsewhere."""
    parent_id, slug = growth.rollup.spot
    if growth.page.parent_id is None:
        await place(writer, growth.page, parent_id)
    await record(writer, "section.promoted", parent_id, sectionSlug=slug, promotedPageId=growth.page.id)
