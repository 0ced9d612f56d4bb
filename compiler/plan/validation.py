"""Validation of plans: rejecting invalid proposals, matching proposed with stored pages, and the limits of a job."""

import logging
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from uuid import UUID

from content.limits import HEADING, QUOTE
from content.names import NoSlug, normalise, section_slug, slugify
from db.tables import PAGE_TYPES
from resolvers import validation
from resolvers.errors import BadInput
from resolvers.transactions.writer import Writer

from ..metrics import Metrics
from ..planner import HeldName, LinkProposal, NewPage, PageCard, PageUpdate, Plan, SectionProposal, SourceText
from ..read.stored import COMPILING, find_cards


@dataclass(frozen=True, slots=True)
class NamedProposal:
    """A proposed page with its slug and its normalised names, of which its title is the first."""

    page: NewPage
    slug: str
    aliases: tuple[str, ...]


def make_proposal(page: NewPage) -> NamedProposal:
    """Return the proposal with its slug and normalised names. Raises NoSlug for a title without letters and
    digits."""
    aliases = dict.fromkeys(alias for name in (page.title, *page.aliases) if (alias := normalise(name)))
    return NamedProposal(page, slugify(page.title), tuple(aliases))


async def match(reader: Writer, pages: Sequence[NamedProposal], metrics: Metrics) -> list[UUID | None]:
    """Return for each proposed page the id of the stored page that it stands for, or None.

    This is the active page of its type that has one of its names, or else the page of its type with its slug, even an
    archived one, or else the active page of its type with a very similar name. A page of another type with the same
    name is only counted as a possible duplicate.
    """
    if not pages:
        return []
    cards = await find_cards(reader, aliases={alias for page in pages for alias in page.aliases})
    slugs = await find_slugs(reader, pages)
    found = [find_same_name(page, cards, metrics) or slugs.get((page.page.type, page.slug)) for page in pages]
    for _ in filter(None, found):
        metrics.add("alias_dedup_merged")
    unmatched = [n for n, page_id in enumerate(found) if page_id is None]
    similar = await find_similar(reader, [pages[n] for n in unmatched])
    for place, n in enumerate(unmatched):
        if page_id := similar.get(place):
            found[n] = page_id
            metrics.add("fuzzy_dedupe_merges")
    return found


def find_same_name(page: NamedProposal, cards: Sequence[PageCard], metrics: Metrics) -> UUID | None:
    """Return the oldest active page of the same type with one of the names, preferably with the name of the title."""
    named = [card for card in cards if not card.is_archived and card.aliases.intersection(page.aliases)]
    same_type = [card for card in named if card.type == page.page.type]
    if not same_type and named:
        metrics.add("duplicate_candidates_count")
    same_type.sort(key=lambda card: page.aliases[0] not in card.aliases)
    return same_type[0].id if same_type else None


async def find_slugs(reader: Writer, pages: Sequence[NamedProposal]) -> Mapping[tuple[str, str], UUID]:
    """Return the ids of the stored pages by (type, slug)."""
    rows = await reader.all(
        COMPILING["find_by_slugs"], types=[page.page.type for page in pages], slugs=[page.slug for page in pages]
    )
    return {(row["type"], row["slug"]): row["id"] for row in rows}


async def find_similar(reader: Writer, pages: Sequence[NamedProposal]) -> Mapping[int, UUID]:
    """Return the id of the page with the most similar name, by index in `pages`. Names must not differ by a number."""
    names = [(n, page.page.type, alias) for n, page in enumerate(pages) for alias in page.aliases]
    if not names:
        return {}
    rows = await reader.all(
        COMPILING["find_alike"], types=[type for _, type, _ in names], aliases=[alias for *_, alias in names]
    )
    found: dict[int, UUID] = {}
    for row in rows:
        if not differ_by_number(row["alias"], row["wanted"]):
            found.setdefault(names[row["n"] - 1][0], row["id"])
    return found


def differ_by_number(one: str, other: str) -> bool:
    """Return whether a word with a digit is in only one of the names: `pier 39` and `pier 38` are different things."""
    differing = set(one.split()) ^ set(other.split())
    return any(letter.isdigit() for word in differing for letter in word)


log = logging.getLogger(__name__)


class Guard:
    """Validates the proposals of one plan, and counts the rejected ones in the metrics.

    `source_ids` and `page_ids` are the sources and pages that exist, of those that the plan names.
    """

    def __init__(self, source_ids: Collection[UUID], page_ids: Collection[UUID], metrics: Metrics) -> None:
        self.source_ids, self.page_ids, self.metrics = source_ids, page_ids, metrics

    def drop(self, reason: str, what: object) -> None:
        """Count a rejected proposal, and log it for debugging, because it may be a text of a source."""
        log.debug("Dropped from a plan (%s): %.200s", reason, what)
        self.metrics.drop(reason)

    def new_pages(self, plan: Plan) -> list[NamedProposal]:
        return [make_proposal(page) for proposed in plan.new_pages if (page := self.new_page(proposed))]

    def new_page(self, page: NewPage) -> NewPage | None:
        """Return the valid parts of a proposed page, or None if its type, title or all of its sections are invalid."""
        if page.type not in PAGE_TYPES:
            self.drop("unknown_type", page.type)
            return None
        try:
            clean = replace(
                page,
                title=validation.title(page.title),
                summary=self.summary(page.summary),
                sections=tuple(self.sections(page.sections)),
                aliases=tuple(self.aliases(page.aliases)),
                tags=tuple(self.tags(page.tags)),
                promotes=tuple(alias for name in page.promotes if (alias := normalise(name))),
            )
            make_proposal(clean)
        except (BadInput, NoSlug):
            self.drop("blank_slug", page.title)
            return None
        return clean if clean.sections else None

    def updates(self, plan: Plan) -> Iterator[PageUpdate]:
        """Yield the valid updates of a plan, with the valid parts of each."""
        for update in plan.updates:
            if update.page_id not in self.page_ids:
                self.drop("unknown_page", update.page_id)
                continue
            sections = tuple(self.sections(update.sections))
            if sections or not update.sections:
                yield replace(
                    update,
                    summary=self.summary(update.summary),
                    sections=sections,
                    aliases=tuple(self.aliases(update.aliases)),
                    tags=tuple(self.tags(update.tags)),
                )

    def sections(self, sections: Collection[SectionProposal]) -> Iterator[SectionProposal]:
        """Yield the sections with a slug and at least one known source."""
        for section in sections:
            if not section.slug.strip():
                self.drop("blank_section", section.heading)
                continue
            known = tuple(self.known_sources(section.source_ids))
            if not known:
                self.drop("no_sources", section.slug)
                continue
            heading = " ".join((section.heading or "").split())[: HEADING.maximum].strip() or None
            yield SectionProposal(section_slug(section.slug), known, heading)

    def known_sources(self, source_ids: Collection[UUID]) -> Iterator[UUID]:
        """Yield the ids of the sources that exist, each once."""
        for source_id in dict.fromkeys(source_ids):
            if source_id in self.source_ids:
                yield source_id
            else:
                self.drop("unknown_source", source_id)

    def held_names(self, plan: Plan) -> Iterator[HeldName]:
        """Yield the valid sightings of a plan. An unknown type is dropped from a sighting."""
        for held in plan.held:
            if held.source_id not in self.source_ids:
                self.drop("unknown_source", held.source_id)
            elif next(self.aliases([held.name]), None) is not None:
                known = held.suggested_type is None or held.suggested_type in PAGE_TYPES
                if not known:
                    self.drop("unknown_type", held.suggested_type)
                context = held.context.replace("\0", "")[: QUOTE.maximum].strip()
                yield replace(held, context=context, suggested_type=held.suggested_type if known else None)

    def links(self, plan: Plan) -> Iterator[LinkProposal]:
        """Yield the links of a plan with at least one known source."""
        for link in plan.links:
            if any(self.known_sources(link.source_ids)):
                yield link
            else:
                self.drop("no_sources", (link.start, link.end))

    def aliases(self, names: Collection[str]) -> Iterator[str]:
        """Yield the valid names."""
        for name in names:
            try:
                yield validation.alias(name)
            except BadInput:
                self.drop("bad_alias", name)

    def tags(self, tags: Collection[str]) -> Iterator[str]:
        """Yield the valid tags."""
        for tag in tags:
            try:
                yield from validation.tags([tag])
            except BadInput:
                self.drop("bad_tag", tag)

    def summary(self, summary: str | None) -> str | None:
        """Return the summary if it is valid, or else None."""
        try:
            return validation.summary(summary)
        except BadInput:
            self.drop("bad_summary", summary)
            return None


class Room(NamedTuple):
    """The numbers of pages that a job may still create and of sections that it may still write."""

    pages: int
    sections: int


def sources_that_fit(plan: Plan, sources: Sequence[SourceText], room: Room) -> int:
    """Return how many of these sources, from the first one on, a job can compile within the remaining limits.

    Each page and each section counts for the first source that it cites, because a plan for the sources before that one
    would not contain it.
    """
    places = {source.id: place for place, source in enumerate(sources)}
    pages = Counter(min(first_places(page, places), default=0) for page in plan.new_pages)
    proposals: tuple[NewPage | PageUpdate, ...] = (*plan.new_pages, *plan.updates)
    sections = Counter(place for page in proposals for place in first_places(page, places))
    page_count = section_count = 0
    for place in range(len(sources)):
        page_count += pages[place]
        section_count += sections[place]
        if page_count > room.pages or section_count > room.sections:
            return place
    return len(sources)


def first_places(page: NewPage | PageUpdate, places: Mapping[UUID, int]) -> Iterator[int]:
    """Yield for each section the index of the first source of the batch that it cites."""
    for section in page.sections:
        yield min((places[id] for id in section.source_ids if id in places), default=0)
