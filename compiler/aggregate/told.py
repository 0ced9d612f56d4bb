"""The metadata of one source that says where a page belongs, read once for all the pages that rest on it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

from content.names import normalise

from ..extraction.texts.metadata import cities, is_number, tags_in, texts

SHORT_MAX = 2_000  # characters of metadata that are kept as they were read
KEPT_MAX = 4_000


@dataclass(frozen=True, slots=True)
class PlacementEvidence:
    """The metadata, read: `parents` are (basis, name, alias), each once; `tags` are as written, all else is aliases."""

    parents: tuple[tuple[str, str, str], ...] = ()
    places: frozenset[str] = frozenset()
    people: frozenset[str] = frozenset()
    projects: frozenset[str] = frozenset()
    tags: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset()
    """The tags as words that may lead a page into a section."""


def parse_evidence(metadata: str) -> PlacementEvidence:
    """Return what metadata says, an object in JSON."""
    return _kept(metadata) if len(metadata) <= SHORT_MAX else placement_evidence(orjson.loads(metadata))


def placement_evidence(metadata: Mapping[str, Any]) -> PlacementEvidence:
    tags = tags_in(metadata)
    return PlacementEvidence(
        tuple((basis, name, normalise(name)) for basis, name in dict.fromkeys(named_places(metadata))),
        places=aliases(metadata, "place"),
        people=aliases(metadata, "person") | aliases(metadata, "people"),
        projects=aliases(metadata, "project"),
        tags=tuple(dict.fromkeys(" ".join(tag.split()) for tag in tags)),
        kinds=frozenset(map(normalise, tags)),
    )


@lru_cache(KEPT_MAX)
def _kept(metadata: str) -> PlacementEvidence:
    return placement_evidence(orjson.loads(metadata))


def aliases(metadata: Mapping[str, Any], key: str) -> frozenset[str]:
    return frozenset(map(normalise, texts(metadata, key)))


def named_places(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from (("city", name) for name in cities(metadata))
    yield from (("place", name) for name in texts(metadata, "place"))
    journals = (*texts(metadata, "journal"), *texts(metadata, "journal_id"))
    yield from (("journal", name) for name in journals if not is_number(name))
    yield from (("tag", tag) for tag in tags_in(metadata))
