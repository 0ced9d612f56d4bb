"""Evidence of pages: the sources that they rest on, by section, and those that are forgotten."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from content.markdown.sections import Section
from content.search.words import words
from db.database import Database
from db.scope import Scope
from resolvers.model.pages import Page
from resolvers.transactions.transaction import read_connection
from resolvers.transactions.writer import Writer

from ..plan.pages import Work
from ..planner import EARLIER, LEADING, Citations, MentionCard, PageCard, SectionTask, SourceText
from ..quoting import find_refs
from ..write.tasks import RELATED_MAX
from .source_texts import Facts
from .stored import (
    COMPILING,
    find_all_names,
    find_cards,
    find_citations,
    find_mentions,
    find_page_citations,
    find_sources,
    find_synthesised,
    names_among,
    source_of,
)

Place = tuple[UUID, str]


@dataclass(frozen=True, slots=True)
class Gone:
    """The sources that are forgotten: `words` are all that they said."""

    ids: frozenset[UUID] = frozenset()
    words: frozenset[str] = frozenset()


NOTHING_GONE = Gone()


async def find_places(reader: Writer, page_ids: Collection[UUID], gone: Gone) -> list[Place]:
    """Return the sections to be written: all that rest on sources, or all that rested on forgotten ones."""
    rows = await reader.all(COMPILING["find_cited_sections"], page_ids=list(page_ids), gone=list(gone.ids))
    return [(row["page_id"], row["section_slug"]) for row in rows if row["has_gone"] or not gone.ids]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The sources that these pages rest on, by section, without those that are forgotten."""

    cited: Mapping[Place, Sequence[UUID]]
    sources: Mapping[UUID, SourceText]
    aliases: Mapping[UUID, frozenset[str]]
    related: Mapping[UUID, Sequence[tuple[str, str, str]]]
    synthesised: Collection[UUID]

    @classmethod
    async def read(cls, reader: Writer, page_ids: Collection[UUID]) -> "Evidence":
        rows = await reader.all(COMPILING["find_cited_sections"], page_ids=list(page_ids), gone=[])
        cited = await find_citations(reader, [(row["page_id"], row["section_slug"]) for row in rows])
        found = await find_sources(reader, {id for ids in cited.values() for id in ids})
        cards = await find_cards(reader, ids=page_ids)
        near: dict[UUID, list[tuple[str, str, str]]] = defaultdict(list)
        for row in await reader.all(COMPILING["find_together"], page_ids=list(page_ids), most=RELATED_MAX):
            near[row["page_id"]].append((row["title"], row["type"], row["slug"]))
        sources = {id: source_of(row) for id, row in found.items()}
        known = {place: [id for id in ids if id in sources] for place, ids in cited.items()}
        synthesised = await find_synthesised(reader, dict.fromkeys(page_ids, ()))
        return cls(known, sources, {card.id: card.aliases for card in cards}, near, synthesised)

    def of_page(self, page_id: UUID) -> tuple[SourceText, ...]:
        ids = {id for (page, _), ids in self.cited.items() if page == page_id for id in ids}
        return in_time(self.sources[id] for id in ids)

    def task(self, page: Page, slug: str) -> SectionTask:
        """Return the task of a section as if nobody had written it yet."""
        section = next(section for section in page.sections if section.slug == slug)
        return SectionTask(
            page_type=page.type,
            page_title=page.title,
            page_aliases=self.aliases[page.id],
            slug=slug,
            heading=section.heading,
            body="",
            sources=in_time(self.sources[id] for id in self.cited[page.id, slug]),
            related=tuple(self.related.get(page.id, ())),
            earlier=tuple(
                (one, in_time(self.sources[id] for id in self.cited[page.id, one]))
                for one in EARLIER.get(slug, LEADING)
                if (page.id, one) in self.cited
            ),
            is_synthesis=page.id in self.synthesised,
        )


def in_time(sources: Any) -> tuple[SourceText, ...]:
    return tuple(sorted(sources, key=lambda source: (source.captured_at, source.ref, source.id)))


def lost_words(gone: Gone, sources: Collection[SourceText], sections: Collection[Section]) -> frozenset[str]:
    """Return the words of forgotten sources that nothing else says which the page still rests on or says."""
    if not gone.ids:
        return frozenset()
    said = {word for source in sources for word in words(source_words(source))}
    said.update(word for section in sections for word in words(f"{section.heading}\n{section.body}"))
    return gone.words - said


def source_words(source: SourceText) -> str:
    return f"{source.title or ''}\n{source.content}\n{source.metadata}"


LINES_MAX = 60  # sources of one section that are asked for


async def with_standing(
    reader: Writer, work: Collection[Work], cited: Mapping[Place, Sequence[UUID]], facts: Facts
) -> dict[Place, Sequence[UUID]]:
    """Return the sources that sections rest on, with those that their lines name."""
    missing = [(place, ref) for place, ref in cited_pairs(work) if not is_among(ref, cited.get(place, ()), facts)]
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
        place = row["page_id"], row["slug"]
        found[place] = [*dict.fromkeys((*found.get(place, ()), row["source_id"]))]
    return found


def cited_pairs(work: Collection[Work]) -> list[tuple[Place, str]]:
    """Return each section that is to be written, with each source that it names."""
    return [
        ((one.page.id, section.slug), ref)
        for one in work
        for section in one.page.sections
        if section.slug in one.sections and "[^" in section.body
        for ref in find_refs(section.body)[:LINES_MAX]
    ]


def is_among(ref: str, ids: Collection[UUID], facts: Facts) -> bool:
    return any(id in facts and facts[id]["ref"] == ref for id in ids)


class StoredKnowledge:
    """A `Knowledge` of one wiki: a statement or two for each question. It holds no connection between two of them."""

    def __init__(self, database: Database, scope: Scope) -> None:
        self.database, self.scope = database, scope

    async def pages(self, aliases: Collection[str]) -> Mapping[str, Sequence[PageCard]]:
        async with read_connection(self.database) as connection:
            reader = Writer(connection, self.scope)
            names = await names_among(reader, frozenset(aliases))
            cards = await find_cards(reader, aliases=names)
        found: dict[str, list[PageCard]] = defaultdict(list)
        for card in cards:
            for alias in card.aliases & names:
                found[alias].append(card)
        return dict(found)

    async def names(self, most: int) -> Collection[str] | None:
        async with read_connection(self.database) as connection:
            return await find_all_names(Writer(connection, self.scope), most)

    async def mentions(self, aliases: Collection[str]) -> Mapping[str, MentionCard]:
        async with read_connection(self.database) as connection:
            return await find_mentions(Writer(connection, self.scope), aliases)

    async def sources(self, ids: Collection[UUID]) -> Mapping[UUID, SourceText]:
        async with read_connection(self.database) as connection:
            rows = await find_sources(Writer(connection, self.scope), ids)
        return {id: source_of(row) for id, row in rows.items()}

    async def citations(self, page_ids: Collection[UUID]) -> Mapping[UUID, Citations]:
        async with read_connection(self.database) as connection:
            return await find_page_citations(Writer(connection, self.scope), page_ids)
