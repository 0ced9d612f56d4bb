"""Links between pages that one source relates: named in one sentence, linked by hand, a place and its city."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from uuid import UUID

from ..planner import LinkProposal
from .drafts import Draft
from .sightings import Reading
from .text import normalised, padded

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
