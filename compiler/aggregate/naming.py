"""The parents that a page's evidence names: what its sources' metadata and its summary say it belongs to."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from content.names import normalise
from content.sentences import first_sentence

from ..extraction.texts.metadata import short_name
from ..planner import PageCard
from .told import PlacementEvidence

SOURCES_LEAST = 2
TAGS_MAX = 20
NAMES_MAX = 50
OWN_PAGES = ("city", "journal")
"""What may get a page of its own; the others only lead to one that is there."""

# `BBQ joint in Austin, TX.`: what stands where is a run of capitals, and perhaps the region behind a comma.
CAPITAL = r"[^\W\d_a-zß-öø-ÿ][\w'’.-]*"
RUN = rf"{CAPITAL}(?: (?:(?:of|the|de|do|da|dos|das|del|la|le|les|am|an der) )?{CAPITAL}){{0,3}}"
LOCATED = re.compile(rf"\b(?:in|near|im|bei|en|em|à|près de)\s+({RUN})(?:,\s+({RUN}))?")


class MetadataValue(NamedTuple):
    """The metadata that some sources of a page have in common, and the number of these sources."""

    told: PlacementEvidence
    sources: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A parent by its normalised name. `bases` say why: city, journal, place, tag, summary."""

    alias: str
    name: str
    bases: tuple[str, ...]

    @property
    def may_have_page(self) -> bool:
        return any(basis in OWN_PAGES for basis in self.bases)


def candidates(card: PageCard, said: Sequence[MetadataValue]) -> list[Candidate]:
    """Return the parents that two sources of the page name, or one that is about the page itself, or its summary."""
    summary = (("summary", name, normalise(name)) for name in by_summary(card))
    firm: dict[str, dict[str, str]] = {}
    for basis, name, alias in (*by_metadata(card, said), *summary):
        if alias and alias not in card.aliases:
            firm.setdefault(alias, {}).setdefault(basis, name)
    return [Candidate(alias, min(names.values()), tuple(sorted(names))) for alias, names in sorted(firm.items())][
        :NAMES_MAX
    ]


def by_metadata(card: PageCard, said: Sequence[MetadataValue]) -> Iterator[tuple[str, str, str]]:
    """Yield (basis, name, alias) of what enough sources name; of its spellings the one that most sources write."""
    counts: Counter[tuple[str, str]] = Counter()
    forms: dict[tuple[str, str], Counter[str]] = {}
    about: set[tuple[str, str]] = set()
    for one in said:
        is_about = not one.told.places.isdisjoint(card.aliases)
        for basis, name, alias in one.told.parents:
            key = basis, alias
            counts[key] += one.sources
            forms.setdefault(key, Counter())[name] += one.sources
            if is_about:
                about.add(key)
    for key, count in counts.items():
        if count >= SOURCES_LEAST or key in about:
            form = min(forms[key], key=lambda name: (-forms[key][name], name))
            yield key[0], form, key[1]


def by_summary(card: PageCard) -> Iterator[str]:
    """Yield the places that the first sentence says it is in: `Austin`, and `Austin, TX`."""
    for found in LOCATED.finditer(first_sentence(card.summary or "")):
        place, region = (short_name((part or "").rstrip(".'’-")) for part in found.groups())
        if place:
            yield place
        if place and region:
            yield f"{place}, {region}"


def topic_names(title: str) -> list[str]:
    """Return the normalised names under which a topic of this title is a parent: `Austin, Texas` is also `austin`."""
    names = (title, title.partition(", ")[0])
    return list(dict.fromkeys(alias for name in names if (alias := normalise(name))))


def observed_tags(said: Sequence[MetadataValue]) -> tuple[str, ...]:
    """Return the tags of a page's sources, the commonest first."""
    counts: Counter[str] = Counter()
    for one in said:
        counts.update(dict.fromkeys(one.told.tags, one.sources))
    return tuple(sorted(counts, key=lambda tag: (-counts[tag], tag))[:TAGS_MAX])
