"""Drafts of the pages that a batch of sources is about or names, and the links between them.

Two pages are linked if a source relates them: it names them in one sentence, links them by hand, or has them as place
and city in its metadata.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from uuid import UUID

from content.names import normalise

from ..planner import LinkProposal, PageCard, PageName
from .evidence import Subject, subject_of
from .readings import Reading
from .texts.text import normalised, padded

ALIASES_MAX = 12


@dataclass(slots=True, eq=False)
class Draft:
    """A draft of a new page, or of an update of a stored page."""

    type: str
    title: str
    names: set[str]
    """The normalised names."""
    card: PageCard | None = None
    """The stored page; None for a new one."""
    readings: dict[UUID, Reading] = field(default_factory=dict)
    """The sources that are about the page or name it."""
    aliases: dict[str, None] = field(default_factory=dict)
    """New names, as they are written."""
    tags: Counter[str] = field(default_factory=Counter)
    promotes: dict[str, None] = field(default_factory=dict)
    """The normalised names of the mentions that become part of the page."""
    linking: dict[UUID, None] = field(default_factory=dict)
    """The sources that relate the page to another page."""

    @property
    def name(self) -> PageName:
        return PageName(id=self.card.id) if self.card else PageName(type=self.type, title=self.title)

    def is_same(self, other: "Draft") -> bool:
        """Return whether both drafts are about the same page."""
        if self.card or other.card:
            return self.card is not None and other.card is not None and self.card.id == other.card.id
        return (self.type, self.title) == (other.type, other.title)

    @property
    def new_names(self) -> set[str]:
        """Return the normalised names that the stored page does not have."""
        return self.names - self.card.aliases if self.card else self.names

    @property
    def subject(self) -> Subject:
        return subject_of(self.type, self.title, frozenset(self.names))

    def add_alias(self, name: str) -> None:
        """Add a name as it is written, unless the page has it already or has ALIASES_MAX new names."""
        key = normalise(name)
        if key and key not in self.names and len(self.aliases) < ALIASES_MAX:
            self.aliases[name] = None
            self.names.add(key)

    @property
    def oldest_first(self) -> list[Reading]:
        return sorted(self.readings.values(), key=lambda reading: (reading.source.captured_at, reading.source.id.int))


PAIRS_MAX = 16  # pairs of pages of one source, each of which makes two links
GUESTS_MAX = 6  # pages that a note about a place links with the place


@dataclass(slots=True)
class NamedPages:
    """The drafts of the pages that one source names."""

    reading: Reading
    sentences: dict[int, list[Draft]] = field(default_factory=dict)
    """By the index of the sentence. Pages that only a link names, outside of sentences, have negative indexes."""
    about: list[Draft] = field(default_factory=list)
    """Those that the source is about by its metadata."""


def links(sources: Sequence[NamedPages]) -> tuple[LinkProposal, ...]:
    """Return one proposal for each directed pair of pages, with all sources that relate them.

    As a side effect, `linking` of each draft gets the sources that relate it to a page whose title they contain.
    """
    found: dict[tuple[Draft, Draft], dict[UUID, None]] = {}
    for named in sources:
        for start, end in _pairs(named):
            if not start.is_same(end):
                found.setdefault((start, end), {})[named.reading.source.id] = None
                if padded(normalised(end.title)) in named.reading.words:
                    start.linking[named.reading.source.id] = None
    return tuple(LinkProposal(start.name, end.name, tuple(ids)) for (start, end), ids in found.items())


def _pairs(named: NamedPages) -> Iterator[tuple[Draft, Draft]]:
    """Yield the directed pairs of drafts that one source relates."""
    found: dict[tuple[Draft, Draft], None] = {}
    for place in _of_kind(named, "place"):
        for city in _of_kind(named, "city"):
            found |= {(place, city): None, (city, place): None}
        for guest in _all_named(named)[:GUESTS_MAX]:  # the people and things that a note about a visit names
            found |= {(place, guest): None, (guest, place): None}
    for start, end in _linked(named):
        found[start, end] = None
    for _, drafts in sorted(named.sentences.items()):
        for start, end in combinations(drafts, 2):
            if len(found) < 2 * PAIRS_MAX:
                found |= {(start, end): None, (end, start): None}
    yield from (pair for pair in found if pair[0] is not pair[1])


def _linked(named: NamedPages) -> Iterator[tuple[Draft, Draft]]:
    """Yield pairs of a page that the source is about and a page that it links by hand."""
    keys = {key for key, sighting in named.reading.sightings.items() if "link" in sighting.marks}
    ends = [draft for draft in _all_named(named) if not keys.isdisjoint(draft.names)]
    for start in named.about[:PAIRS_MAX]:
        yield from ((start, end) for end in ends[:PAIRS_MAX])


def _all_named(named: NamedPages) -> list[Draft]:
    """Return the drafts that any sentence names, in the order of the sentences, each once."""
    return list(dict.fromkeys(draft for _, drafts in sorted(named.sentences.items()) for draft in drafts))


def _of_kind(named: NamedPages, kind: str) -> list[Draft]:
    """Return the drafts that the source is about and that this kind of its metadata names."""
    names = named.reading.metadata.get(kind, set())
    return [draft for draft in named.about if not names.isdisjoint(draft.names)]
