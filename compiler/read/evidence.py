"""The evidence of pages: the sources that each section cites, and the sources that are forgotten."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from content.markdown.sections import Section
from content.search.words import words
from db.database import Database
from db.scope import Scope
from resolvers.model.pages import Page
from resolvers.transactions.transaction import read_connection
from resolvers.transactions.writer import Writer

from ..plan.pages import PagePlan
from ..planner import EARLIER, LEADING, Citations, MentionCard, PageCard, SectionTask, SourceText
from ..quoting import find_refs
from ..write.tasks import RELATED_MAX
from .source_texts import Facts
from .stored import (
    COMPILING,
    filter_names,
    find_all_names,
    find_cards,
    find_citations,
    find_mentions,
    find_page_citations,
    find_sources,
    find_sources_with,
    find_synthesised,
    source_of,
)

SectionKey = tuple[UUID, str]


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The sources that a job forgets, all words of their texts, and those of the words that are stop words."""

    ids: frozenset[UUID] = frozenset()
    words: frozenset[str] = frozenset()
    stop_words: frozenset[str] = frozenset()


NOTHING_FORGOTTEN = Forgotten()


async def find_section_keys(reader: Writer, page_ids: Collection[UUID], forgotten: Forgotten) -> list[SectionKey]:
    """Return the sections to be written again: all that cite sources, or only those that cited forgotten ones."""
    rows = await reader.all(COMPILING["find_cited_sections"], page_ids=list(page_ids), gone=list(forgotten.ids))
    return [(row["page_id"], row["section_slug"]) for row in rows if row["has_gone"] or not forgotten.ids]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The data for writing sections of some pages again. Forgotten sources are left out."""

    cited: Mapping[SectionKey, Sequence[UUID]]
    """The sources that each section cites."""
    sources: Mapping[UUID, SourceText]
    aliases: Mapping[UUID, frozenset[str]]
    """The normalised names of each page."""
    related: Mapping[UUID, Sequence[tuple[str, str, str]]]
    """(title, type, slug) of the pages that each page may name."""
    synthesised: Collection[UUID]
    """The pages that cite enough sources for a synthesis."""

    @classmethod
    async def read(cls, reader: Writer, page_ids: Collection[UUID]) -> "Evidence":
        """Read the evidence of these pages."""
        rows = await reader.all(COMPILING["find_cited_sections"], page_ids=list(page_ids), gone=[])
        cited = await find_citations(reader, [(row["page_id"], row["section_slug"]) for row in rows])
        found = await find_sources(reader, {id for ids in cited.values() for id in ids})
        cards = await find_cards(reader, ids=page_ids)
        related: dict[UUID, list[tuple[str, str, str]]] = defaultdict(list)
        for row in await reader.all(COMPILING["find_together"], page_ids=list(page_ids), limit=RELATED_MAX):
            related[row["page_id"]].append((row["title"], row["type"], row["slug"]))
        sources = {id: source_of(row) for id, row in found.items()}
        known = {section_key: [id for id in ids if id in sources] for section_key, ids in cited.items()}
        synthesised = await find_synthesised(reader, dict.fromkeys(page_ids, ()))
        return cls(known, sources, {card.id: card.aliases for card in cards}, related, synthesised)

    def of_page(self, page_id: UUID) -> tuple[SourceText, ...]:
        """Return all sources that the page cites, the oldest first."""
        ids = {id for (page, _), ids in self.cited.items() if page == page_id for id in ids}
        return oldest_first(self.sources[id] for id in ids)

    def task(self, page: Page, slug: str) -> SectionTask:
        """Return the task to write a section from its sources alone, without its present text."""
        section = next(section for section in page.sections if section.slug == slug)
        return SectionTask(
            page_type=page.type,
            page_title=page.title,
            page_aliases=self.aliases[page.id],
            slug=slug,
            heading=section.heading,
            body="",
            sources=oldest_first(self.sources[id] for id in self.cited[page.id, slug]),
            related=tuple(self.related.get(page.id, ())),
            earlier=tuple(
                (earlier, oldest_first(self.sources[id] for id in self.cited[page.id, earlier]))
                for earlier in EARLIER.get(slug, LEADING)
                if (page.id, earlier) in self.cited
            ),
            is_synthesis=page.id in self.synthesised,
        )


def oldest_first(sources: Iterable[SourceText]) -> tuple[SourceText, ...]:
    """Sort sources by when they were captured."""
    return tuple(sorted(sources, key=lambda source: (source.captured_at, source.ref, source.id)))


def lost_words(forgotten: Forgotten, sources: Collection[SourceText], sections: Collection[Section]) -> frozenset[str]:
    """Return the words that only the forgotten sources have: neither the other sources nor the sections have them."""
    if not forgotten.ids:
        return frozenset()
    remaining = {word for source in sources for word in words(all_text(source))}
    remaining.update(word for section in sections for word in words(f"{section.heading}\n{section.body}"))
    return forgotten.words - remaining


def all_text(source: SourceText) -> str:
    """Return the title, content and metadata of a source as one text."""
    return f"{source.title or ''}\n{source.content}\n{source.metadata}"


REFS_MAX = 60  # sources in the text of one section that are looked up


async def add_named_sources(
    reader: Writer, page_plans: Collection[PagePlan], cited: Mapping[SectionKey, Sequence[UUID]], facts: Facts
) -> dict[SectionKey, Sequence[UUID]]:
    """Return the `cited` sources of each section, with those that the marks in its present text name."""
    missing = [
        (section_key, ref)
        for section_key, ref in named_refs(page_plans)
        if not has_ref(ref, cited.get(section_key, ()), facts)
    ]
    if not missing:
        return dict(cited)
    rows = await reader.all(
        COMPILING["find_standing"],
        page_ids=[page_id for (page_id, _), _ in missing],
        slugs=[slug for (_, slug), _ in missing],
        refs=[ref for _, ref in missing],
    )
    found = dict(cited)
    for row in rows:
        section_key = row["page_id"], row["slug"]
        found[section_key] = [*dict.fromkeys((*found.get(section_key, ()), row["source_id"]))]
    return found


def named_refs(page_plans: Collection[PagePlan]) -> list[tuple[SectionKey, str]]:
    """Return (section, ref) for each source that the text of a section to be written cites."""
    return [
        ((planned.page.id, section.slug), ref)
        for planned in page_plans
        for section in planned.page.sections
        if section.slug in planned.sections and "[^" in section.body
        for ref in find_refs(section.body)[:REFS_MAX]
    ]


def has_ref(ref: str, ids: Collection[UUID], facts: Facts) -> bool:
    """Return whether one of these sources has this ref."""
    return any(id in facts and facts[id]["ref"] == ref for id in ids)


class StoredKnowledge:
    """A `Knowledge` of one wiki. Each method runs one or two statements; no connection is held between two calls."""

    def __init__(self, database: Database, scope: Scope) -> None:
        self.database, self.scope = database, scope

    async def pages(self, aliases: Collection[str]) -> Mapping[str, Sequence[PageCard]]:
        async with read_connection(self.database) as connection:
            reader = Writer(connection, self.scope)
            names = await filter_names(reader, frozenset(aliases))
            cards = await find_cards(reader, aliases=names)
        found: dict[str, list[PageCard]] = defaultdict(list)
        for card in cards:
            for alias in card.aliases & names:
                found[alias].append(card)
        return dict(found)

    async def names(self, max_names: int) -> Collection[str] | None:
        async with read_connection(self.database) as connection:
            return await find_all_names(Writer(connection, self.scope), max_names)

    async def mentions(self, aliases: Collection[str]) -> Mapping[str, MentionCard]:
        async with read_connection(self.database) as connection:
            return await find_mentions(Writer(connection, self.scope), aliases)

    async def sources(self, ids: Collection[UUID]) -> Mapping[UUID, SourceText]:
        async with read_connection(self.database) as connection:
            rows = await find_sources(Writer(connection, self.scope), ids)
        return {id: source_of(row) for id, row in rows.items()}

    async def sources_with(self, names: Collection[str], max_sources: int) -> Mapping[str, Sequence[UUID]]:
        async with read_connection(self.database) as connection:
            return await find_sources_with(Writer(connection, self.scope), names, max_sources)

    async def citations(self, page_ids: Collection[UUID]) -> Mapping[UUID, Citations]:
        async with read_connection(self.database) as connection:
            return await find_page_citations(Writer(connection, self.scope), page_ids)
