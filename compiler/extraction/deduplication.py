"""Pages that new evidence says are about one thing, however late it comes: they become one.

Had all sources come at once, the two names would have one page. So what the pages cite is weighed again, as it would
have been then.
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
from .tallies import Tally, full_name


class Candidate(NamedTuple):
    """Two names that may mean one thing: `introduced_by` is a source that says so outright."""

    short: str
    whole: str
    introduced_by: UUID | None
    source_ids: tuple[UUID, ...]


def candidates(readings: Iterable[Reading], counts: Counts, known: KnownNames) -> list[Candidate]:
    """Return the pairs of names that sources may use for one thing, those first that one introduces.

    The others are used so by a source of this batch, or have earned a page while a part of them has one.
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
                used[word, key] = [reading.source.id for reading, _ in counts.sighted[key]]
    said = {(short, whole): id for short, (whole, _) in counts.shorter.items() if (id := counts.introduced.get(short))}
    return [Candidate(*pair, id, (id,)) for pair, id in said.items()] + [
        Candidate(*pair, None, tuple(ids)) for pair, ids in used.items() if pair not in said
    ]


class Duplicates(NamedTuple):
    """The pages to be merged, of those that only the compiler wrote with what the first cites, and names for pages."""

    merges: list[PageMerge]
    merged: list[tuple[PageCard, PageCard, list[Reading]]]
    named: list[tuple[PageCard, str]]


class Deduplication:
    """One look for names of a batch that mean one thing, where at least one of them has a page."""

    def __init__(
        self, known: KnownNames, counts: Counts, readings: Mapping[UUID, Reading], knowledge: Knowledge
    ) -> None:
        self.known, self.counts, self.readings, self.knowledge = known, counts, readings, knowledge
        self.cited: dict[UUID, Citations] = {}
        """What the pages cite that are looked at."""
        self.older: dict[UUID, Reading] = {}
        """The sources that the pages cite and that are not in the batch."""
        self.found = Duplicates([], [], [])

    async def find(self) -> Duplicates:
        """Return what is found; the names of a page that is merged lead to the other one from then on."""
        found = candidates(self.readings.values(), self.counts, self.known)
        pages = [some for one in found if (some := self._pages(one)) and (len(some) == 2 or not one.introduced_by)]
        if pages:
            self.cited = {**await self.knowledge.citations({page.id for some in pages for page in some})}
        for one in found:
            match self._pages(one):
                case [page]:
                    if await self._are_one(one, [page]):
                        self.found.named.append((page, one.whole if self._page(one.short) else one.short))
                case [short, whole]:
                    await self._compare(one, short, whole)
        return self.found

    def _pages(self, one: Candidate) -> list[PageCard]:
        """Return the pages to be looked at: both that there are, or one that may get the other name."""
        short, whole = self._page(one.short), self._page(one.whole)
        if short and whole:
            return [short, whole] if short.id != whole.id else []
        name = one.whole if short else one.short
        if name in self.known.pages or not (one.introduced_by or self.counts.is_earned(name)):
            return []
        return [page for page in (short, whole) if page]

    def _page(self, key: str) -> PageCard | None:
        """Return the active page of exactly this name, unless it is one of a decision."""
        page = self.known.pages.get(key)
        return None if page is None or page.is_archived or page.type == "decision" else page

    async def _compare(self, one: Candidate, short: PageCard, whole: PageCard) -> None:
        cited = {page.id: self.cited[page.id] for page in (short, whole) if page.id in self.cited}
        if len(cited) < 2 or any(page.was_merged for page in cited.values()):
            return
        if not await self._are_one(one, [short, whole]):
            return
        self.found.merges.append(PageMerge(short.id, whole.id, one.source_ids))
        if all(page.is_compiled for page in cited.values()):
            self.found.merged.append((short, whole, await self._read(cited[short.id].source_ids)))
            self.known.lead(short, whole)

    async def _are_one(self, one: Candidate, pages: Collection[PageCard]) -> bool:
        """Weigh what all known sources say of the two names, as if they had come at once."""
        if one.introduced_by:
            return True
        ids = {id for page in pages if page.id in self.cited for id in self.cited[page.id].source_ids}
        for name in (one.short, one.whole):
            if name not in self.known.pages and name in self.known.held:
                ids |= set(self.known.held[name].source_ids)
        readings = {reading.source.id: reading for reading in await self._read(sorted(ids, key=str))}
        return are_one(one.short, one.whole, {**readings, **self.readings}.values())

    async def _read(self, ids: Collection[UUID]) -> list[Reading]:
        missing = [id for id in ids if id not in self.readings and id not in self.older]
        if missing:
            found = await self.knowledge.sources(missing)
            self.older |= {id: reading_of(source) for id, source in found.items()}
        return [reading for id in ids if (reading := self.readings.get(id) or self.older.get(id))]


def are_one(short: str, whole: str, readings: Iterable[Reading]) -> bool:
    """Return whether both names would have one page had all these sources come at once."""
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
