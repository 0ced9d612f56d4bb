"""Promoting rollup sections: the topic that a section becomes, and its place below the page of the section."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from content.sensitivity import FIELD, find_levels, is_stricter, level_of, stricter, strictest, strip_level
from db.sql import statements
from resolvers.model import outline
from resolvers.model.drafts import SectionDraft
from resolvers.model.pages import Page
from resolvers.pages.hierarchy import place
from resolvers.transactions.writer import Writer, record

from .listing import shorten_section
from .rollups import Rollup
from .stored import Outlines, SectionKey, count_sources
from .topics import find_or_make_topics

PAGES = statements("pages/pages")
TAGS_MAX = 10


@dataclass(frozen=True, slots=True)
class SectionPromotion:
    """The promotion of a section to a topic."""

    rollup: Rollup
    before: Page | None
    """The topic before the promotion; None for a new one."""
    page: Page
    """The topic."""
    slug: str
    """The slug of the section on the topic."""
    promotes: tuple[str, ...]
    """The mention that becomes the topic, if there is one."""

    @property
    def section_key(self) -> SectionKey:
        return self.page.id, self.slug

    @property
    def draft(self) -> SectionDraft:
        """Return the section on the topic."""
        return SectionDraft(self.rollup.grown.body, self.slug, self.rollup.heading)


async def find_promotions(
    writer: Writer, rollups: Sequence[Rollup], pages: Mapping[UUID, Page], outlines: Outlines
) -> list[SectionPromotion]:
    """Return the promotions of the sections that are dense enough and whose title is free or the title of a topic.

    An existing topic that is less sensitive than the section is left alone.
    """
    titles = {
        rollup.section_key: title_for(rollup, pages[rollup.section_key[0]], outlines)
        for rollup in rollups
        if rollup.is_ready
    }
    topics = await find_or_make_topics(writer, list(titles.values())) if titles else {}
    found: dict[UUID, SectionPromotion] = {}
    for rollup in rollups:
        wanted, parent = topics.get(titles.get(rollup.section_key, "")), pages[rollup.section_key[0]]
        if wanted is None or wanted.page.id in found:
            continue
        level = {FIELD: strictest([level_of(parent.metadata), *find_levels(rollup.heading)])}
        if wanted.before and is_stricter(level, wanted.before.metadata):
            continue
        if wanted.before and not await can_be_below(writer, wanted.before, parent.id):
            continue
        page = wanted.page if wanted.before else introduce_topic(wanted.page, rollup, parent, level)
        slug = outline.next_free_slug(rollup.section_key[1], {section.slug for section in page.sections})
        found[page.id] = SectionPromotion(rollup, wanted.before, page, slug, wanted.promotes)
    return list(found.values())


def title_for(rollup: Rollup, page: Page, outlines: Outlines) -> str:
    """Return the title of the topic to which a section is promoted.

    The section `Activities` of `Austin, Texas` becomes `Austin Activities`, and its part `Music` becomes `Austin
    Music`.
    """
    whole = outlines.whole_of(page.id)
    above = next((section.heading for section in page.sections if section.slug == whole), "")
    name = page.title.removesuffix(f" {above}") if above else page.title.partition(", ")[0]
    return f"{name} {strip_level(rollup.heading)}"


def introduce_topic(page: Page, rollup: Rollup, parent: Page, level: Mapping[str, str]) -> Page:
    """Return a new topic with a summary, the tags of the pages that it lists, and at least this sensitivity."""
    tags = rollup.known.observed_tags
    summary = f"{strip_level(rollup.heading)}: {parent.title}{tag_suffix(tags)}."
    return replace(page, summary=summary, tags=tags[:TAGS_MAX], metadata=stricter(page.metadata, level))


def tag_suffix(tags: Sequence[str]) -> str:
    """Return the first tags in brackets, for the summary of a topic."""
    return f" ({', '.join(tags[:3])})" if tags else ""


async def can_be_below(writer: Writer, page: Page, parent_id: UUID) -> bool:
    """Return whether an existing topic can be below the parent: it is neither the parent itself nor above it."""
    if page.id == parent_id:
        return False
    return not await writer.value(PAGES["find_ancestor"], page_id=parent_id, ancestor_id=page.id)


async def replacement_texts(writer: Writer, promotions: Sequence[SectionPromotion]) -> dict[SectionKey, SectionDraft]:
    """Return the text that replaces each promoted section: a summary, highlights and a link to the topic."""
    if not promotions:
        return {}
    counts = await count_sources(writer, {child.id for promotion in promotions for child in promotion.rollup.children})
    drafts = {}
    for promotion in promotions:
        section = promotion.rollup
        children = [child._replace(source_count=counts.get(child.id, 0)) for child in section.listed_children]
        body = shorten_section(section.body, children, section.known, promotion.page.title, promotion.page.slug)
        drafts[section.section_key] = SectionDraft(body, section.section_key[1], section.heading)
    return drafts


async def place_topic(writer: Writer, promotion: SectionPromotion) -> None:
    """Place the topic below the page of the section, unless it has a parent already."""
    parent_id, slug = promotion.rollup.section_key
    if promotion.page.parent_id is None:
        await place(writer, promotion.page, parent_id)
    await record(writer, "section.promoted", parent_id, sectionSlug=slug, promotedPageId=promotion.page.id)
