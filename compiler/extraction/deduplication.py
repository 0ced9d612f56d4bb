"""Deduplication: finding pages that are about the same thing by new evidence, however late it arrives.

If all sources had arrived at once, the two names would share one page. So the sources that the pages cite are weighed
again together with the new ones.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple
from uuid import UUID

from content.names import normalise

from ..planner import Citations, Knowledge, PageCard, PageMerge
from .counting import Counts
from .names.variants import KnownNames
from .reading_cache import reading_of
from .readings import Reading
from .standing import full_name
from .tallies import Tally


class Candidate(NamedTuple):
    """Two names that may mean the same thing. `introduced_by` is a source that says so explicitly, if there is one."""

    short: str
    whole: str
    introduced_by: UUID | None
    source_ids: tuple[UUID, ...]


def candidates(readings: Iterable[Reading], counts: Counts, known: KnownNames) -> list[Candidate]:
    """Return the pairs of names that may mean the same thing, first those that a source introduces as such.

    In the other pairs, a source of this batch uses a name as a part of the longer one, or the longer name has earned a
    page while its first or last word has one already.
    """
    used: dict[tuple[str, str], list[UUID]] = {}
    for reading in readings:
        for key, sighting in reading.sightings.items():
            if "part" in sighting.marks and (whole := normalise(sighting.name)) != key:
                used.setdefault((key, whole), []).append(reading.source.id)
    for key in counts.tallies:
        words = key.split()
        for word in (words[0], words[-1]) if len(words) > 1 else ():
            if word in known.pages and (word, key) not in used and counts.is_earned(key):
                used[word, key] = [reading.source.id for reading, _ in counts.sighted.get(key, ())]
    introduced = {
        (short, whole): id for short, (whole, _) in counts.shorter.items() if (id := counts.introduced.get(short))
    }
    return [Candidate(*pair, id, (id,)) for pair, id in introduced.items()] + [
        Candidate(*pair, None, tuple(ids)) for pair, ids in used.items() if pair not in introduced
    ]


class Duplicates(NamedTuple):
    """The result of a deduplication."""

    merges: list[PageMerge]
    """All merges to propose."""
    merged: list[tuple[PageCard, PageCard, list[Reading]]]
    """The merges of pages that only the compiler has written: (duplicate, remaining page, sources of the duplicate)."""
    named: list[tuple[PageCard, str]]
    """Pages that get a name which would otherwise earn a page of its own."""


class Deduplication:
    """Finds names of a batch that mean the same thing, if at least one of them has a page."""

    def __init__(
        self, known: KnownNames, counts: Counts, readings: Mapping[UUID, Reading], knowledge: Knowledge
    ) -> None:
        self.known, self.counts, self.readings, self.knowledge = known, counts, readings, knowledge
        self.cited: dict[UUID, Citations] = {}
        """The citations of the pages that may be duplicates."""
        self.older: dict[UUID, Reading] = {}
        """The readings of sources that the pages cite and that are not in the batch."""
        self.found = Duplicates([], [], [])

    async def find(self) -> Duplicates:
        """Return the duplicates. From then on, `known` leads the names of merged pages to the remaining page."""
        found = candidates(self.readings.values(), self.counts, self.known)
        looked_up = [
            pages
            for candidate in found
            if (pages := self._pages(candidate)) and (len(pages) == 2 or not candidate.introduced_by)
        ]
        if looked_up:
            self.cited = {**await self.knowledge.citations({page.id for pages in looked_up for page in pages})}
        for candidate in found:
            match self._pages(candidate):
                case [page]:
                    if await self._are_same(candidate, [page]):
                        name = candidate.whole if self._page(candidate.short) else candidate.short
                        self.found.named.append((page, name))
                case [short, whole]:
                    await self._compare(candidate, short, whole)
        return self.found

    def _pages(self, candidate: Candidate) -> list[PageCard]:
        """Return both pages of the names, or the only page if it may get the other name, or no page."""
        short, whole = self._page(candidate.short), self._page(candidate.whole)
        if short and whole:
            return [short, whole] if short.id != whole.id else []
        name = candidate.whole if short else candidate.short
        if name in self.known.pages or not (candidate.introduced_by or self.counts.is_earned(name)):
            return []
        return [page for page in (short, whole) if page]

    def _page(self, key: str) -> PageCard | None:
        """Return the active page of exactly this name, unless it is a decision."""
        page = self.known.pages.get(key)
        return None if page is None or page.is_archived or page.type == "decision" else page

    async def _compare(self, candidate: Candidate, short: PageCard, whole: PageCard) -> None:
        """Add a merge of two pages, if they are about the same thing and neither was merged before and restored."""
        cited = {page.id: self.cited[page.id] for page in (short, whole) if page.id in self.cited}
        if len(cited) < 2 or any(page.was_merged for page in cited.values()):
            return
        if not await self._are_same(candidate, [short, whole]):
            return
        self.found.merges.append(PageMerge(short.id, whole.id, candidate.source_ids))
        if all(page.is_compiled for page in cited.values()):
            self.found.merged.append((short, whole, await self._read(cited[short.id].source_ids)))
            self.known.redirect(short, whole)

    async def _are_same(self, candidate: Candidate, pages: Collection[PageCard]) -> bool:
        """Return whether both names mean the same thing by all known sources, weighed together."""
        if candidate.introduced_by:
            return True
        ids = {id for page in pages if page.id in self.cited for id in self.cited[page.id].source_ids}
        for name in (candidate.short, candidate.whole):
            if name not in self.known.pages and name in self.known.held:
                ids |= set(self.known.held[name].source_ids)
        readings = {reading.source.id: reading for reading in await self._read(sorted(ids, key=str))}
        return are_same(candidate.short, candidate.whole, {**readings, **self.readings}.values())

    async def _read(self, ids: Collection[UUID]) -> list[Reading]:
        """Return the readings of these sources, without those that are not known."""
        missing = [id for id in ids if id not in self.readings and id not in self.older]
        if missing:
            found = await self.knowledge.sources(missing)
            self.older |= {id: reading_of(source) for id, source in found.items()}
        return [reading for id in ids if (reading := self.readings.get(id) or self.older.get(id))]


def are_same(short: str, whole: str, readings: Iterable[Reading]) -> bool:
    """Return whether both names would share one page if all these sources were compiled at once."""
    tallies = {short: Tally(), whole: Tally()}
    for reading in readings:
        for key, tally in tallies.items():
            if key in reading.sightings:
                tally.add(reading.sightings[key], reading.source)
    tally = tallies[short]
    tally.whole_read = tallies[whole].read
    tally.is_known_person = tallies[whole].is_person
    full = full_name(short, tally)
    return full is not None and normalise(full) == whole
