"""Drafts of pages that a batch has something to say about, and the links between them.

Two pages are linked where one source relates them: in one sentence, by hand, or as a place and its city.
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
    """A draft of a page: `card` is the page if it is there, `names` are normalised, `readings` the sources about it."""

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
        """Return whether both drafts are about the page of one name."""
        if self.card or other.card:
            return self.card is not None and other.card is not None and self.card.id == other.card.id
        return (self.type, self.title) == (other.type, other.title)

    @property
    def subject(self) -> Subject:
        return subject_of(self.type, self.title, frozenset(self.names))

    def add_alias(self, name: str) -> None:
        """Add one more name, as it is written."""
        key = normalise(name)
        if key and key not in self.names and len(self.aliases) < ALIASES_MAX:
            self.aliases[name] = None
            self.names.add(key)

    @property
    def oldest_first(self) -> list[Reading]:
        return sorted(self.readings.values(), key=lambda one: (one.source.captured_at, one.source.id.int))


PAIRS_MAX = 16  # of one source, either way
GUESTS_MAX = 6  # pages that a note about a place is linked with


@dataclass(slots=True)
class Named:
    """The pages that one source names, sentence by sentence, and those that its metadata is about."""

    reading: Reading
    sentences: dict[int, list[Draft]] = field(default_factory=dict)
    about: list[Draft] = field(default_factory=list)


def links(named: Sequence[Named]) -> tuple[LinkProposal, ...]:
    """Return one proposal for each directed pair, with all the sources for it.

    Each draft learns which sources set it in relation to a page by that page's title: those can be shown.
    """
    found: dict[tuple[Draft, Draft], dict[UUID, None]] = {}
    for one in named:
        for start, end in _pairs(one):
            if not start.is_same(end):
                found.setdefault((start, end), {})[one.reading.source.id] = None
                if padded(normalised(end.title)) in one.reading.words:
                    start.linking[one.reading.source.id] = None
    return tuple(LinkProposal(start.name, end.name, tuple(ids)) for (start, end), ids in found.items())


def _pairs(named: Named) -> Iterator[tuple[Draft, Draft]]:
    found: dict[tuple[Draft, Draft], None] = {}
    for place in _of(named, "place"):
        for city in _of(named, "city"):
            found |= {(place, city): None, (city, place): None}
        for guest in _named(named)[:GUESTS_MAX]:  # who and what a visit is told with
            found |= {(place, guest): None, (guest, place): None}
    for start, end in _linked(named):
        found[start, end] = None
    for _, drafts in sorted(named.sentences.items()):
        for start, end in combinations(drafts, 2):
            if len(found) < 2 * PAIRS_MAX:
                found |= {(start, end): None, (end, start): None}
    yield from (pair for pair in found if pair[0] is not pair[1])


def _linked(named: Named) -> Iterator[tuple[Draft, Draft]]:
    """Yield pairs of a page that the source is about and a page that it links by hand."""
    keys = {key for key, sighting in named.reading.sightings.items() if "link" in sighting.marks}
    ends = [draft for draft in _named(named) if not keys.isdisjoint(draft.names)]
    for start in named.about[:PAIRS_MAX]:
        yield from ((start, end) for end in ends[:PAIRS_MAX])


def _named(named: Named) -> list[Draft]:
    """Return the pages of all its sentences, in order, each once."""
    return list(dict.fromkeys(draft for _, drafts in sorted(named.sentences.items()) for draft in drafts))


def _of(named: Named, kind: str) -> list[Draft]:
    names = named.reading.metadata.get(kind, set())
    return [draft for draft in named.about if not names.isdisjoint(draft.names)]
