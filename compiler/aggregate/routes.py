"""Where a page is listed: the section of its kind, or what that has grown into, down to the last page of that line."""

from collections.abc import Collection, Mapping
from typing import NamedTuple
from uuid import UUID

from .density import Aggregation

Rollups = Mapping[UUID, Mapping[str, Aggregation]]
"""Page → section slug → what it knows."""
LEVELS_MAX = 20


class Place(NamedTuple):
    """A section of a page; `is_delegated` below the topic that the evidence names."""

    page_id: UUID
    section_slug: str
    is_delegated: bool = False


def route(start: Place, tags: Collection[str], rollups: Rollups) -> Place:
    """From a section on: what has grown leads to the page that it grew into, and there to the part of its tag."""
    place = start
    for _ in range(LEVELS_MAX):
        if place.is_delegated:
            place = place._replace(section_slug=part_of(place, tags, rollups))
        known = rollups.get(place.page_id, {}).get(place.section_slug)
        if known is None or known.promoted_page_id is None:
            return place
        grown = known.promoted_page_id
        whole = next((slug for slug, one in rollups.get(grown, {}).items() if one.is_whole), None)
        if whole is None:
            return place
        place = Place(grown, whole, True)
    return place


def part_of(place: Place, tags: Collection[str], rollups: Rollups) -> str:
    """The first part, by its tag, that the page belongs to; else where it is."""
    parts = sorted((one.tag, slug) for slug, one in rollups.get(place.page_id, {}).items() if one.tag)
    return next((slug for tag, slug in parts if tag in tags), place.section_slug)
