"""Turning a model's answer into a valid plan, and dividing sources into requests.

Handles become ids, and invalid parts are left out. So each section of a plan cites sources of the request (or of a
mention in it), each update is for a page of the request, and each alias occurs in a cited source.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import UUID

from content.names import normalise

from ..extraction.readings import Reading
from ..extraction.texts.text import fold_text, padded
from ..planner import (
    HeldName,
    LinkProposal,
    MentionCard,
    NewPage,
    PageCard,
    PageName,
    PageUpdate,
    Plan,
    SectionProposal,
    SourceText,
)
from .answers import TYPES, HeldAnswer, LinkAnswer, PageAnswer, PlanAnswer, SectionAnswer, UpdateAnswer, is_verbatim

PAGES_MAX, UPDATES_MAX, HELD_MAX, LINKS_MAX = 25, 50, 60, 80  # of one request
SECTIONS_MAX, NAMES_MAX = 8, 10  # of one page

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Shown:
    """The sources, pages and mentions of a request, by handle. Handles like `n1` are pages of the answer itself."""

    readings: Mapping[str, Reading]
    pages: Mapping[str, PageCard] = field(default_factory=dict)
    mentions: Mapping[str, MentionCard] = field(default_factory=dict)

    def source(self, handle: str) -> SourceText | None:
        reading = self.readings.get(handle)
        return reading.source if reading else None


def plan_of(answer: PlanAnswer, shown: Shown) -> Plan:
    """Return the valid parts of an answer as a plan, whose `dropped` counts the other parts by reason."""
    return PlanReader(shown).plan(answer)


class PlanReader:
    """Reads one answer."""

    def __init__(self, shown: Shown) -> None:
        self.shown = shown
        self.dropped: Counter[str] = Counter()

    def plan(self, answer: PlanAnswer) -> Plan:
        answers = self.first(answer.pages, PAGES_MAX)
        new_pages = [(page.handle, new_page) for page in answers if (new_page := self.new_page(page))]
        names = {handle: PageName(type=page.type, title=page.title) for handle, page in reversed(new_pages) if handle}
        names |= {handle: PageName(id=card.id) for handle, card in self.shown.pages.items()}
        updates = tuple(filter(None, map(self.update, self.first(answer.updates, UPDATES_MAX))))
        held = tuple(filter(None, map(self.held_name, self.first(answer.held, HELD_MAX))))
        links = tuple(filter(None, (self.link(link, names) for link in self.first(answer.links, LINKS_MAX))))
        return Plan(tuple(page for _, page in new_pages), updates, held, links, dropped=dict(self.dropped))

    def new_page(self, answer: PageAnswer) -> NewPage | None:
        """Return the proposal of a new page, or None if its type, title or all sections are invalid."""
        if answer.type not in TYPES:
            self.drop("unknown_type")
            return None
        promoted = [card for handle in answer.promotes if (card := self.mention(handle))]
        earlier = dict.fromkeys(id for card in promoted for id in card.source_ids)
        sections = self.sections(answer.sections, earlier)
        cited = self.cited_readings(answer.sections)
        if not normalise(answer.title):
            self.drop("blank_slug")
            return None
        if not sections:
            self.drop("no_sections")
            return None
        return NewPage(
            answer.type,
            answer.title,
            sections,
            answer.summary,
            self.aliases(answer.aliases, cited),
            tuple(self.first(answer.tags, NAMES_MAX)),
            tuple(card.alias for card in promoted),
        )

    def update(self, answer: UpdateAnswer) -> PageUpdate | None:
        """Return the proposal of an update, or None if the page or all sections are invalid."""
        card = self.shown.pages.get(answer.page)
        if card is None:
            self.drop("unknown_page")
            return None
        sections = self.sections(answer.sections)
        if not sections:
            self.drop("no_sources")
            return None
        aliases = self.aliases(answer.aliases, self.cited_readings(answer.sections))
        tags = tuple(self.first(answer.tags, NAMES_MAX))
        return PageUpdate(card.id, sections, answer.summary, aliases, tags)

    def held_name(self, answer: HeldAnswer) -> HeldName | None:
        """Return the name with the model's quote, or with a sentence of the source if the quote is not verbatim."""
        reading = self.shown.readings.get(answer.source)
        if reading is None:
            self.drop("unknown_source")
            return None
        sentences = reading.sentences
        said = next((sentence.text for sentence in sentences if has_name(sentence.words, answer.name)), None)
        if said is None:
            self.drop("unsaid_name")
            return None
        quote = " ".join(answer.quote.split())
        is_valid = is_verbatim(quote, reading.source) and has_name(fold_text(quote), answer.name)
        type = answer.type if answer.type in TYPES else None
        return HeldName(answer.name, reading.source.id, quote if is_valid else said, type)

    def link(self, answer: LinkAnswer, names: Mapping[str, PageName]) -> LinkProposal | None:
        """Return the proposal of a link, or None if an end or all sources are invalid."""
        start, end = names.get(answer.start), names.get(answer.end)
        sources = self.source_ids(answer.sources)
        if start is None or end is None or start == end:
            self.drop("bad_link")
            return None
        if not sources:
            self.drop("no_sources")
            return None
        return LinkProposal(start, end, sources)

    def sections(self, answers: Sequence[SectionAnswer], earlier: Iterable[UUID] = ()) -> tuple[SectionProposal, ...]:
        """Return the sections that cite sources. The first one cites also the `earlier` sources of a mention."""
        first = self.first(answers, SECTIONS_MAX)
        cited = [(section, ids) for section in first if (ids := self.source_ids(section.sources))]
        self.dropped["no_sources"] += len(first) - len(cited)
        more = tuple(earlier)
        return tuple(
            SectionProposal(section.slug, tuple(dict.fromkeys(ids + more * (n == 0))), section.heading)
            for n, (section, ids) in enumerate(cited)
        )

    def source_ids(self, handles: Iterable[str]) -> tuple[UUID, ...]:
        found = [self.shown.source(handle) for handle in dict.fromkeys(handles)]
        self.dropped["unknown_source"] += found.count(None)
        return tuple(source.id for source in found if source)

    def cited_readings(self, sections: Sequence[SectionAnswer]) -> list[Reading]:
        handles = dict.fromkeys(handle for section in sections for handle in section.sources)
        return [self.shown.readings[handle] for handle in handles if handle in self.shown.readings]

    def mention(self, handle: str) -> MentionCard | None:
        found = self.shown.mentions.get(handle)
        self.dropped["unknown_mention"] += found is None
        return found

    def aliases(self, names: Sequence[str], cited: Collection[Reading]) -> tuple[str, ...]:
        """Return the names that occur in a cited source, so that a model cannot give a page the name of another
        page."""
        first = list(self.first(names, NAMES_MAX))
        said = [name for name in first if any(has_name(reading.words, name) for reading in cited)]
        self.dropped["unsaid_alias"] += len(first) - len(said)
        return tuple(said)

    def first(self, items: Sequence[T], limit: int) -> Sequence[T]:
        """Return the first items up to the limit, and count the others as dropped."""
        self.dropped["too_many"] += max(0, len(items) - limit)
        return items[:limit]

    def drop(self, reason: str) -> None:
        self.dropped[reason] += 1


def has_name(words: str, name: str) -> bool:
    """Return whether normalised words contain a name."""
    key = normalise(name)
    return bool(key) and padded(key) in words


def join_plans(plans: Iterable[Plan], read: int | None = None) -> Plan:
    """Join the plans into one, in their order."""
    all_of = list(plans)
    dropped: Counter[str] = Counter()
    for plan in all_of:
        dropped.update(plan.dropped)
    return Plan(
        tuple(page for plan in all_of for page in plan.new_pages),
        tuple(update for plan in all_of for update in plan.updates),
        tuple(distinct(held for plan in all_of for held in plan.held)),
        tuple(dict.fromkeys(link for plan in all_of for link in plan.links)),
        dropped={reason: times for reason, times in dropped.items() if times},
        read=read,
    )


def distinct(held: Iterable[HeldName]) -> Iterator[HeldName]:
    """Yield each name once per source, even if several parts of the source contain it."""
    seen: set[tuple[str | None, UUID]] = set()
    for name in held:
        key = normalise(name.name), name.source_id
        if key not in seen:
            seen.add(key)
            yield name


REQUEST_MAX = 24_000  # characters of all sources in one request
SOURCES_MAX = 10  # sources of one request
READ_MAX = 200_000  # characters of one source


@dataclass(frozen=True, slots=True)
class SourcePart:
    """A source, or one part of a long source, in a request: part `number` (from 1) of `of`."""

    source: SourceText
    text: str
    number: int = 1
    of: int = 1


@dataclass(frozen=True, slots=True)
class SourceGroup:
    """Whole sources with the requests that show them. A planner plans all sources of a group or none of them."""

    sources: tuple[SourceText, ...]
    requests: tuple[tuple[SourcePart, ...], ...]


def groups(sources: Sequence[SourceText]) -> Iterator[SourceGroup]:
    """Divide the sources into groups, in their order. A source that exceeds a request is a group of its own."""
    waiting: list[SourceText] = []
    size = 0
    for source in sources:
        length = min(len(source.content), READ_MAX)
        is_full = len(waiting) == SOURCES_MAX or size + length > REQUEST_MAX
        if waiting and is_full:
            yield group_sources(waiting)
            waiting, size = [], 0
        if length > REQUEST_MAX:
            yield single_source(source)
        else:
            waiting.append(source)
            size += length
    if waiting:
        yield group_sources(waiting)


def group_sources(sources: Sequence[SourceText]) -> SourceGroup:
    return SourceGroup(tuple(sources), (tuple(SourcePart(source, source.content) for source in sources),))


def single_source(source: SourceText) -> SourceGroup:
    texts = list(pieces(source.content[:READ_MAX]))
    return SourceGroup(
        (source,), tuple((SourcePart(source, text, n, len(texts)),) for n, text in enumerate(texts, start=1))
    )


def pieces(text: str) -> Iterator[str]:
    """Yield pieces of at most REQUEST_MAX characters, cut between paragraphs, lines or words if possible."""
    start = 0
    while len(text) - start > REQUEST_MAX:
        end = cut(text, start + REQUEST_MAX // 2, start + REQUEST_MAX)
        yield text[start:end]
        start = end
    yield text[start:]


def cut(text: str, start: int, end: int) -> int:
    """Return the best position between `start` and `end` to cut the text, or `end`."""
    for mark in ("\n\n", "\n", " "):
        found = text.rfind(mark, start, end)
        if found >= 0:
            return found + len(mark)
    return end
