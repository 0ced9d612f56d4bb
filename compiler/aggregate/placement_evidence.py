"""Parsing the metadata of sources for evidence of where a page belongs. Parsed metadata is cached for all pages."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

from content.names import normalise

from ..extraction.texts.metadata import cities, is_number, tags_in, texts

SHORT_MAX = 2_000  # characters of metadata that is cached
CACHE_MAX = 4_000  # cached values


@dataclass(frozen=True, slots=True)
class PlacementEvidence:
    """The parsed metadata of a source."""

    parents: tuple[tuple[str, str, str], ...] = ()
    """(basis, name, normalised name) of each parent that it names."""
    places: frozenset[str] = frozenset()
    """The normalised names of places."""
    people: frozenset[str] = frozenset()
    projects: frozenset[str] = frozenset()
    tags: tuple[str, ...] = ()
    """The tags as they are written."""
    kinds: frozenset[str] = frozenset()
    """The normalised tags, which may show the kind of a page."""


def parse_evidence(metadata: str) -> PlacementEvidence:
    """Return the evidence in metadata, which is a JSON object as text."""
    return _cached_evidence(metadata) if len(metadata) <= SHORT_MAX else placement_evidence(orjson.loads(metadata))


def placement_evidence(metadata: Mapping[str, Any]) -> PlacementEvidence:
    """Return the evidence in parsed metadata."""
    tags = tags_in(metadata)
    return PlacementEvidence(
        tuple((basis, name, normalise(name)) for basis, name in dict.fromkeys(named_places(metadata))),
        places=aliases(metadata, "place"),
        people=aliases(metadata, "person") | aliases(metadata, "people"),
        projects=aliases(metadata, "project"),
        tags=tuple(dict.fromkeys(" ".join(tag.split()) for tag in tags)),
        kinds=frozenset(map(normalise, tags)),
    )


@lru_cache(CACHE_MAX)
def _cached_evidence(metadata: str) -> PlacementEvidence:
    return placement_evidence(orjson.loads(metadata))


def aliases(metadata: Mapping[str, Any], key: str) -> frozenset[str]:
    return frozenset(map(normalise, texts(metadata, key)))


def named_places(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (basis, name) of the cities, places, journals and tags."""
    yield from (("city", name) for name in cities(metadata))
    yield from (("place", name) for name in texts(metadata, "place"))
    journals = (*texts(metadata, "journal"), *texts(metadata, "journal_id"))
    yield from (("journal", name) for name in journals if not is_number(name))
    yield from (("tag", tag) for tag in tags_in(metadata))
