"""Pages made again from what they cite: all that rests on sources, or what rested on some that are forgotten.

Like a plan it is done twice: outside of any transaction it says what has to be written, inside everything is ready.
"""

import logging
from collections import defaultdict
from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from uuid import UUID

from content.names import normalise
from content.sections import Section
from content.words import words
from resolvers import outline
from resolvers.drafts import SectionDraft
from resolvers.errors import BadInput, Unavailable
from resolvers.long_texts import read_through
from resolvers.records import Page
from resolvers.writer import Writer
from resolvers.writing import looking

from .extraction.quoting import bullet
from .guards import Guard
from .knowledge import StoredKnowledge
from .leaf_pass import BUSY, ROUNDS, Run, in_turns
from .linking import Links
from .metrics import Metrics
from .planner import Knowledge, PageCard, Planner, SectionTask, SourceText
from .stored import COMPILING, find_cards, find_citations, find_compiled_summaries, find_pages, find_sources, source_of
from .tasks import RELATED_MAX, TaskKey, key_of
from .work import Work

T = TypeVar("T")
log = logging.getLogger(__name__)
QUOTED_MAX = 12  # sources that are quoted where the writer had nothing to say of them

Place = tuple[UUID, str]
SummaryKey = tuple[UUID, tuple[UUID, ...]]


@dataclass(frozen=True, slots=True)
class Gone:
    """What is forgotten: `words` are all that it said."""

    ids: frozenset[UUID] = frozenset()
    words: frozenset[str] = frozenset()


NOTHING_GONE = Gone()


@dataclass(slots=True)
class Drafts:
    """What was written and planned outside of the transaction."""

    texts: dict[TaskKey, str] = field(default_factory=dict)
    summaries: dict[SummaryKey, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Remade:
    """A page before and after. `gone_words` are those that nothing which it still rests on says."""

    before: Page
    after: Page
    sources: int
    gone_words: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Remaking:
    """While there is something to be written or summed up, it is not whole."""

    missing: Mapping[TaskKey, SectionTask]
    unsummed: Mapping[SummaryKey, tuple[Page, tuple[SourceText, ...]]]
    pages: tuple[Remade, ...] = ()


async def remake(reader: Writer, page_ids: Collection[UUID], drafts: Drafts, metrics: Metrics, gone: Gone) -> Remaking:
    """The next states of these pages, as the wiki is now."""
    pages = await find_pages(reader, page_ids)
    wanted = await find_places(reader, page_ids, gone)
    evidence = await Evidence.read(reader, page_ids)
    tasks = {place: evidence.task(pages[place[0]], place[1]) for place in wanted if evidence.cited.get(place)}
    missing = {key: task for task in tasks.values() if (key := key_of(task)) not in drafts.texts}
    compiled = await find_compiled_summaries(reader, [page.id for page in pages.values() if page.summary])
    sums = {id: (id, tuple(source.id for source in evidence.of_page(id))) for id in compiled | ids_of(wanted, gone)}
    unsummed = {key: (pages[id], evidence.of_page(id)) for id, key in sums.items() if key not in drafts.summaries}
    if missing or unsummed:
        return Remaking(missing, unsummed)
    links = Links(Guard(evidence.sources, pages, metrics), [Work(page, False) for page in pages.values()])
    written = {place: drafts.texts[key_of(task)] for place, task in tasks.items()}
    await links.look_up(reader, written.values())
    remade = []
    for page in pages.values():
        sections = await rewritten(page, wanted, written, links, evidence, gone)
        lost = await read_through(len(page.body), lost_words, gone, evidence.of_page(page.id), sections)
        summary = summed(page, drafts.summaries.get(sums.get(page.id, (page.id, ()))), lost, page.id in compiled)
        tags = tuple(tag for tag in page.tags if lost.isdisjoint(words(tag)))
        after = replace(page, sections=sections, summary=summary, tags=tags)
        remade.append(Remade(page, after, len(evidence.of_page(page.id)), lost))
    return Remaking({}, {}, tuple(remade))


def ids_of(places: Collection[Place], gone: Gone) -> set[UUID]:
    """The pages that lose something: whoever summed them up may have known it from there."""
    return {page_id for page_id, _ in places} if gone.ids else set()


async def find_places(reader: Writer, page_ids: Collection[UUID], gone: Gone) -> list[Place]:
    """The sections to be written: all that rest on sources, or all that rested on forgotten ones."""
    rows = await reader.all(COMPILING["find_cited_sections"], page_ids=list(page_ids), gone=list(gone.ids))
    return [(row["page_id"], row["section_slug"]) for row in rows if row["has_gone"] or not gone.ids]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What these pages rest on, by section, without what is forgotten."""

    cited: Mapping[Place, Sequence[UUID]]
    sources: Mapping[UUID, SourceText]
    aliases: Mapping[UUID, frozenset[str]]
    related: Mapping[UUID, Sequence[tuple[str, str, str]]]

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
        return cls(known, sources, {card.id: card.aliases for card in cards}, near)

    def of_page(self, page_id: UUID) -> tuple[SourceText, ...]:
        ids = {id for (page, _), ids in self.cited.items() if page == page_id for id in ids}
        return in_time(self.sources[id] for id in ids)

    def task(self, page: Page, slug: str) -> SectionTask:
        """As of a section that nobody has written yet."""
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
        )


def in_time(sources: Any) -> tuple[SourceText, ...]:
    return tuple(sorted(sources, key=lambda source: (source.captured_at, source.ref, source.id)))


async def rewritten(
    page: Page,
    wanted: Collection[Place],
    written: Mapping[Place, str],
    links: Links,
    evidence: Evidence,
    gone: Gone,
) -> outline.Outline:
    """The sections as their sources have them; what has none left is left out."""
    sections = page.sections
    for section in page.sections:
        place = page.id, section.slug
        if place not in wanted:
            continue
        body = written.get(place, "").strip()
        if not body and gone.ids and place in written:
            body = "\n".join(quotations(evidence, place))
        made = await with_text(page, sections, section, links.linked(body, page.id), links.guard) if body else None
        if made is not None:
            sections = made
        elif gone.ids:
            sections = tuple(other for other in sections if other.slug != section.slug)
    return sections


def quotations(evidence: Evidence, place: Place) -> list[str]:
    """What is left of a section whose writer finds nothing in what it still rests on: how that begins."""
    newest = in_time(evidence.sources[id] for id in evidence.cited[place])[::-1]
    return [bullet(source, (" ".join(source.content.split()),)) for source in newest[:QUOTED_MAX]]


async def with_text(
    page: Page, sections: outline.Outline, old: Section, body: str, guard: Guard
) -> outline.Outline | None:
    """None when it cannot stand there."""
    draft = SectionDraft(body, old.slug)
    try:
        return await read_through(outline.size(sections, [draft]), outline.merged, page.type, sections, [draft])
    except BadInput as error:
        guard.drop("bad_section", f"{page.title}: {error.message}")
        return None


def lost_words(gone: Gone, sources: Collection[SourceText], sections: Collection[Section]) -> frozenset[str]:
    """The words of what is forgotten that nothing else says which the page still rests on or says."""
    if not gone.ids:
        return frozenset()
    said = {word for source in sources for word in words(said_in(source))}
    said.update(word for section in sections for word in words(f"{section.heading}\n{section.body}"))
    return gone.words - said


def said_in(source: SourceText) -> str:
    return f"{source.title or ''}\n{source.content}\n{source.metadata}"


def summed(page: Page, planned: str | None, lost: frozenset[str], is_compiled: bool) -> str | None:
    """What a person wrote stays as long as none of it is forgotten."""
    stays = page.summary is None or lost.isdisjoint(words(page.summary))
    if is_compiled or not stays:
        return planned or (page.summary if stays else None)
    return page.summary


@dataclass(frozen=True, slots=True)
class Unsummed:
    """A wiki in which one page has no summary yet."""

    knowledge: Knowledge
    page_id: UUID

    async def pages(self, aliases: Collection[str]) -> Mapping[str, Sequence[PageCard]]:
        found = await self.knowledge.pages(aliases)
        return {alias: [self.shown(card) for card in cards] for alias, cards in found.items()}

    def shown(self, card: PageCard) -> PageCard:
        return replace(card, summary=None) if card.id == self.page_id else card

    async def mentions(self, aliases: Collection[str]) -> Any:
        return await self.knowledge.mentions(aliases)

    async def sources(self, ids: Collection[UUID]) -> Any:
        return await self.knowledge.sources(ids)


async def summary_of(planner: Planner, knowledge: Knowledge, page: Page, sources: Sequence[SourceText]) -> str | None:
    """What the planner would say that the page is about, knowing these sources alone."""
    if not sources:
        return None
    plan = await planner.plan(sources, Unsummed(knowledge, page.id))
    updates = (update.summary for update in plan.updates if update.page_id == page.id)
    own = page.type, normalise(page.title)
    made = (new.summary for new in plan.new_pages if (new.type, normalise(new.title)) == own)
    return next((summary for summary in (*updates, *made) if summary), None)


async def redraft(run: Run, page_ids: Collection[UUID], drafts: Drafts, gone: Gone = NOTHING_GONE) -> None:
    """Write and sum up what these pages need: no connection is held meanwhile."""
    knowledge = StoredKnowledge(run.database, run.scope)
    for _ in range(ROUNDS):
        async with looking(run.database) as connection:
            remaking = await remake(Writer(connection, run.scope), page_ids, drafts, Metrics(), gone)
        if not remaking.missing and not remaking.unsummed:
            return
        writing_now = (said(run, gone, run.authors.writer.write(task), "") for task in remaking.missing.values())
        drafts.texts.update(zip(remaking.missing, await in_turns(writing_now), strict=True))
        for key, (page, sources) in remaking.unsummed.items():
            summing_up = summary_of(run.authors.planner, knowledge, page, sources)
            drafts.summaries[key] = await said(run, gone, summing_up, None)
    raise Unavailable(BUSY)


async def said(run: Run, gone: Gone, asked: Awaitable[T], otherwise: T) -> T:
    """What a planner or a writer answers. What is to be forgotten does not stay because a model is out of order."""
    try:
        return await asked
    except Exception as error:
        if not gone.ids or not run.job.is_last_attempt:
            raise
        log.warning("Forgetting goes on without its planner or writer: %s", type(error).__name__)
        return otherwise
