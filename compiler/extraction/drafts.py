"""A page that a batch has something to say about, there already or earned just now, and what is proposed for it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from uuid import UUID

from content.names import normalise
from content.rollups import first_sentence
from content.templates import TEMPLATES

from ..planner import NewPage, PageCard, PageName, PageUpdate, SectionProposal
from . import metadata
from .evidence import DEFINITION, Subject, definition, entries, is_tagged, naming, subject_of
from .sightings import Reading
from .text import Sentence, folded
from .writer import RELATED

SUMMARY_MAX = 200
TAGS_MAX = 8
ALIASES_MAX = 12
GENERIC_SECTION = ("notes", "Notes")
HEADINGS = {slug: heading for sections in TEMPLATES.values() for slug, heading in sections}
SECTIONS = {
    "entity": ("overview", "notes", "visits", "related"),
    "topic": ("summary", "highlights", "related_entities", "recent"),
    "decision": ("context", "decision", "rationale", "consequences"),
}


@dataclass(slots=True, eq=False)
class Draft:
    """`card` is the page when it is there. `names` are normalised, `readings` the sources that are about it."""

    type: str
    title: str
    names: set[str]
    card: PageCard | None = None
    readings: dict[UUID, Reading] = field(default_factory=dict)
    aliases: dict[str, None] = field(default_factory=dict)
    tags: Counter[str] = field(default_factory=Counter)
    promotes: dict[str, None] = field(default_factory=dict)
    linking: dict[UUID, None] = field(default_factory=dict)
    """The sources that set it in relation to another page."""

    @property
    def name(self) -> PageName:
        return PageName(id=self.card.id) if self.card else PageName(type=self.type, title=self.title)

    def is_same(self, other: "Draft") -> bool:
        """Whether both are about the page of one name."""
        if self.card or other.card:
            return self.card is not None and other.card is not None and self.card.id == other.card.id
        return (self.type, self.title) == (other.type, other.title)

    @property
    def subject(self) -> Subject:
        return subject_of(self.type, self.title, frozenset(self.names))

    def add_alias(self, name: str) -> None:
        """One more name, as it is written."""
        key = normalise(name)
        if key and key not in self.names and len(self.aliases) < ALIASES_MAX:
            self.aliases[name] = None
            self.names.add(key)

    def is_empty(self) -> bool:
        return not self.readings and not self.aliases


def new_page(draft: Draft) -> NewPage | None:
    """None when no source says a sentence about it."""
    sections = _sections(draft)
    if not sections:
        return None
    return NewPage(
        draft.type, draft.title, sections, _summary(draft) or _circumstances(draft), tuple(draft.aliases),
        tuple(tag for tag, _ in _ranked(draft.tags)[:TAGS_MAX]), tuple(draft.promotes),
    )  # fmt: skip


def page_update(draft: Draft) -> PageUpdate | None:
    """None when there is nothing new."""
    card = draft.card
    assert card is not None
    sections = _sections(draft)
    aliases = tuple(name for name in draft.aliases if normalise(name) not in card.aliases)
    tags = tuple(tag for tag, _ in _ranked(draft.tags) if tag not in card.tags)[: max(0, TAGS_MAX - len(card.tags))]
    if not sections and not aliases:
        return None
    return PageUpdate(card.id, sections, _summary(draft), aliases, tags)


def _sections(draft: Draft) -> tuple[SectionProposal, ...]:
    subject = draft.subject
    proposals = (
        SectionProposal(slug, _sources(draft, subject, slug), HEADINGS[slug])
        for slug in SECTIONS.get(draft.type, ("notes",))
    )
    return tuple(proposal for proposal in proposals if proposal.source_ids)


def _sources(draft: Draft, subject: Subject, slug: str) -> tuple[UUID, ...]:
    """Those that have something to say there, oldest first."""
    if slug in RELATED:
        return tuple(
            reading.source.id
            for reading in _oldest_first(draft.readings.values())
            if reading.source.id in draft.linking
        )
    readings = _oldest_first(draft.readings.values())
    if slug not in ("overview", "summary"):
        return tuple(reading.source.id for reading in readings if entries(slug, reading, subject))
    scored = [(found[0].score, reading.source.id) for reading in readings if (found := entries(slug, reading, subject))]
    defining = tuple(id for score, id in scored if score >= DEFINITION)
    if defining or not scored or (draft.card and slug in draft.card.section_slugs):
        return defining
    return (max(scored, key=lambda one: one[0])[1],)


def _summary(draft: Draft) -> str | None:
    """The best sentence that says what it is; for a page that is there only a better one than it has."""
    names = draft.names
    if draft.type == "decision":
        return None if draft.card else _decided(draft)
    found = [
        (definition(sentence, names), sentence.text)
        for reading in _oldest_first(draft.readings.values())
        for sentence in naming(reading, names)
    ]
    score, text = max(found, key=lambda one: (one[0], one[1]), default=(0.0, ""))
    if score < DEFINITION and (draft.card or not text or _circumstances(draft)):
        return None
    current = draft.card.summary if draft.card else None
    if current and (definition(Sentence(current, folded(current)), names), current) >= (score, text):
        return None
    return first_sentence(text, SUMMARY_MAX)


def _decided(draft: Draft) -> str | None:
    lines = [
        said
        for reading in draft.readings.values()
        for said in reading.sentences
        if normalise(draft.title)[:40] in said.words
    ]
    return first_sentence(lines[0].text, SUMMARY_MAX) if lines else None


def _circumstances(draft: Draft) -> str | None:
    """What the metadata say, where no sentence does: `Lisbon: food, tavern`."""
    if draft.type == "decision":
        return draft.title
    cities: Counter[str] = Counter()
    tags: Counter[str] = Counter()
    for reading in draft.readings.values():
        if is_tagged(reading, draft.subject, "place", "city"):
            tags.update(metadata.tags(reading.source))
        if is_tagged(reading, draft.subject, "place"):
            cities.update(metadata.texts(reading.source.metadata, "city")[:1])
    words = ", ".join(tag for tag, _ in _ranked(tags)[:3])
    city = next((city for city, _ in _ranked(cities)), "")
    return f"{city}: {words}" if city and words else city or words or None


def _ranked(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


def _oldest_first(readings: Iterable[Reading]) -> list[Reading]:
    return sorted(readings, key=lambda reading: (reading.source.captured_at, str(reading.source.id)))
