"""A model's answer made into a plan: handles become ids, and what it was not shown or cannot have read is left out.

Whatever an answer says, each section of the plan cites sources of the request, each update is for a page that was
shown, and each other name is one that a cited source really writes.
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
    """The texts and pages that a request showed, by handle.

    A page that it may link to by `n1` is one of its own answer.
    """

    readings: Mapping[str, Reading]
    pages: Mapping[str, PageCard] = field(default_factory=dict)
    mentions: Mapping[str, MentionCard] = field(default_factory=dict)

    def source(self, handle: str) -> SourceText | None:
        reading = self.readings.get(handle)
        return reading.source if reading else None


def plan_of(answer: PlanAnswer, shown: Shown) -> Plan:
    """Return the plan that can stand of it; `dropped` counts the rest by the reason."""
    return PlanReader(shown).plan(answer)


class PlanReader:
    """A reader of one answer."""

    def __init__(self, shown: Shown) -> None:
        self.shown = shown
        self.dropped: Counter[str] = Counter()

    def plan(self, answer: PlanAnswer) -> Plan:
        asked = self.first(answer.pages, PAGES_MAX)
        made = [(page.handle, made) for page in asked if (made := self.new_page(page))]
        names = {handle: PageName(type=page.type, title=page.title) for handle, page in reversed(made) if handle}
        names |= {handle: PageName(id=card.id) for handle, card in self.shown.pages.items()}
        updates = tuple(filter(None, map(self.update, self.first(answer.updates, UPDATES_MAX))))
        held = tuple(filter(None, map(self.held_name, self.first(answer.held, HELD_MAX))))
        links = tuple(filter(None, (self.link(link, names) for link in self.first(answer.links, LINKS_MAX))))
        return Plan(tuple(page for _, page in made), updates, held, links, dropped=dict(self.dropped))

    def new_page(self, answer: PageAnswer) -> NewPage | None:
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
        """Return the name with a sentence that says it, even if that is another one than the model quotes."""
        reading = self.shown.readings.get(answer.source)
        if reading is None:
            self.drop("unknown_source")
            return None
        said = next((one.text for one in reading.sentences if has_name(one.words, answer.name)), None)
        if said is None:
            self.drop("unsaid_name")
            return None
        quote = " ".join(answer.quote.split())
        is_good = is_verbatim(quote, reading.source) and has_name(fold_text(quote), answer.name)
        type = answer.type if answer.type in TYPES else None
        return HeldName(answer.name, reading.source.id, quote if is_good else said, type)

    def link(self, answer: LinkAnswer, names: Mapping[str, PageName]) -> LinkProposal | None:
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
        """Return the sections that cite something; the first rests on the `earlier` sources of a mention, too."""
        cited = [(one, ids) for one in self.first(answers, SECTIONS_MAX) if (ids := self.source_ids(one.sources))]
        self.dropped["no_sources"] += len(answers[:SECTIONS_MAX]) - len(cited)
        more = tuple(earlier)
        return tuple(
            SectionProposal(one.slug, tuple(dict.fromkeys(ids + more * (n == 0))), one.heading)
            for n, (one, ids) in enumerate(cited)
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
        """Return the names that a cited source writes: a model may not give a page the name of another one."""
        given = list(self.first(names, NAMES_MAX))
        said = [name for name in given if any(has_name(reading.words, name) for reading in cited)]
        self.dropped["unsaid_alias"] += len(given) - len(said)
        return tuple(said)

    def first(self, given: Sequence[T], most: int) -> Sequence[T]:
        self.dropped["too_many"] += max(0, len(given) - most)
        return given[:most]

    def drop(self, reason: str) -> None:
        self.dropped[reason] += 1


def has_name(words: str, name: str) -> bool:
    """Return whether normalised words hold a name."""
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
    """Yield a name once for each source, however many parts of it say it."""
    seen: set[tuple[str | None, UUID]] = set()
    for one in held:
        key = normalise(one.name), one.source_id
        if key not in seen:
            seen.add(key)
            yield one


REQUEST_MAX = 24_000
SOURCES_MAX = 10
READ_MAX = 200_000


@dataclass(frozen=True, slots=True)
class SourcePart:
    """The part of a source that a request holds: all of it, or the `number`-th of `of` pieces."""

    source: SourceText
    text: str
    number: int = 1
    of: int = 1


@dataclass(frozen=True, slots=True)
class SourceGroup:
    """Whole sources, and the requests that they take: a planner reads all of a group or nothing of it."""

    sources: tuple[SourceText, ...]
    requests: tuple[tuple[SourcePart, ...], ...]


def groups(sources: Sequence[SourceText]) -> Iterator[SourceGroup]:
    """Yield groups of sources, each source in one of them, in their order."""
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
    """Yield pieces of at most REQUEST_MAX characters, cut between paragraphs, lines or words where there are any."""
    start = 0
    while len(text) - start > REQUEST_MAX:
        end = cut(text, start + REQUEST_MAX // 2, start + REQUEST_MAX)
        yield text[start:end]
        start = end
    yield text[start:]


def cut(text: str, least: int, most: int) -> int:
    for mark in ("\n\n", "\n", " "):
        found = text.rfind(mark, least, most)
        if found >= 0:
            return found + len(mark)
    return most
