"""How much of a batch a job may still do: the first of its sources, as many as fit by what the plan asks for each."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from .planner import NewPage, PageUpdate, Plan, SourceText


class Room(NamedTuple):
    """New pages and sections that a job may still make."""

    pages: int
    sections: int


def fitting(plan: Plan, sources: Sequence[SourceText], room: Room) -> int:
    """A page and a section count for the first source that is cited for them: a plan of fewer asks for no more."""
    places = {source.id: place for place, source in enumerate(sources)}
    pages = Counter(min(firsts(page, places), default=0) for page in plan.new_pages)
    proposals: tuple[NewPage | PageUpdate, ...] = (*plan.new_pages, *plan.updates)
    sections = Counter(place for page in proposals for place in firsts(page, places))
    asked_pages = asked_sections = 0
    for place in range(len(sources)):
        asked_pages, asked_sections = asked_pages + pages[place], asked_sections + sections[place]
        if asked_pages > room.pages or asked_sections > room.sections:
            return place
    return len(sources)


def firsts(page: NewPage | PageUpdate, places: Mapping[UUID, int]) -> Iterator[int]:
    """For each section, where its first new source stands."""
    for section in page.sections:
        yield min((places[id] for id in section.source_ids if id in places), default=0)
