"""The parents of a page: the topics to which it belongs by the metadata of its sources and by its summary."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from content.names import normalise
from content.sentences import first_sentence

from ..extraction.texts.metadata import short_name
from ..planner import PageCard
from .placement_evidence import PlacementEvidence

SOURCES_MIN = 2  # sources that must name a parent
TAGS_MAX = 20
NAMES_MAX = 50  # parents of one page
OWN_PAGES = ("city", "journal")
"""The bases for which a topic may be created. For all other bases, a page belongs only to existing topics."""

# `BBQ joint in Austin, TX.`: a preposition, a run of words with capitals, and optionally a region after a comma.
CAPITAL = r"[^\W\d_a-zß-öø-ÿ][\w'’.-]*"
RUN = rf"{CAPITAL}(?: (?:(?:of|the|de|do|da|dos|das|del|la|le|les|am|an der) )?{CAPITAL}){{0,3}}"
LOCATED = re.compile(rf"\b(?:in|near|im|bei|en|em|à|près de)\s+({RUN})(?:,\s+({RUN}))?")


class MetadataValue(NamedTuple):
    """Parsed metadata, and the number of sources of a page that have exactly this metadata."""

    evidence: PlacementEvidence
    sources: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A parent of a page. `alias` is its normalised name; `bases` say why: city, journal, place, tag or summary."""

    alias: str
    name: str
    bases: tuple[str, ...]


def candidates(card: PageCard, metadata: Sequence[MetadataValue]) -> list[Candidate]:
    """Return the parents that the summary of the page, enough of its sources, or a source about the page name."""
    summary = (("summary", name, normalise(name)) for name in by_summary(card))
    by_alias: dict[str, dict[str, str]] = {}
    for basis, name, alias in (*by_metadata(card, metadata), *summary):
        if alias and alias not in card.aliases:
            by_alias.setdefault(alias, {}).setdefault(basis, name)
    found = [Candidate(alias, min(names.values()), tuple(sorted(names))) for alias, names in sorted(by_alias.items())]
    return found[:NAMES_MAX]


def by_metadata(card: PageCard, metadata: Sequence[MetadataValue]) -> Iterator[tuple[str, str, str]]:
    """Yield (basis, name, alias) of the parents that enough sources name, in their most common spelling."""
    counts: Counter[tuple[str, str]] = Counter()
    forms: dict[tuple[str, str], Counter[str]] = {}
    about: set[tuple[str, str]] = set()
    for value in metadata:
        is_about = not value.evidence.places.isdisjoint(card.aliases)
        for basis, name, alias in value.evidence.parents:
            key = basis, alias
            counts[key] += value.sources
            forms.setdefault(key, Counter())[name] += value.sources
            if is_about:
                about.add(key)
    for key, count in counts.items():
        if count >= SOURCES_MIN or key in about:
            form = min(forms[key], key=lambda name: (-forms[key][name], name))
            yield key[0], form, key[1]


def by_summary(card: PageCard) -> Iterator[str]:
    """Yield the places where the first sentence of the summary locates the page: `Austin`, and `Austin, TX`."""
    for found in LOCATED.finditer(first_sentence(card.summary or "")):
        place, region = (short_name((part or "").rstrip(".'’-")) for part in found.groups())
        if place:
            yield place
        if place and region:
            yield f"{place}, {region}"


def topic_names(title: str) -> list[str]:
    """Return the normalised names of a topic with this title as a parent: `Austin, Texas` is also `austin`."""
    names = (title, title.partition(", ")[0])
    return list(dict.fromkeys(alias for name in names if (alias := normalise(name))))


def observed_tags(metadata: Sequence[MetadataValue]) -> tuple[str, ...]:
    """Return the tags of a page's sources, the most common first."""
    counts: Counter[str] = Counter()
    for value in metadata:
        counts.update(dict.fromkeys(value.evidence.tags, value.sources))
    return tuple(sorted(counts, key=lambda tag: (-counts[tag], tag))[:TAGS_MAX])
