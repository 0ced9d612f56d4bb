"""A cache of readings, because plans and section writers need the readings of the same sources several times."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from uuid import UUID

from content.languages import load_words

from ..planner import SourceText
from .readings import Reading

CACHE_MAX = 60_000_000  # bytes of all cached readings
READING_BYTES = 4_000  # of each reading
CHARACTER_BYTES, ENTRY_BYTES = 20, 450  # of each character of the source, and of each result that the reading stores
VERSION_BYTES = 110  # of the id of each older version of the source, of which there may be a thousand
SHORT_MAX = 50_000  # characters of a source whose reading is cached


class ReadingCache:
    """A least-recently-used cache of readings, shared by all wikis, because a reading depends on its source alone.

    A reading stores results and so grows with its use. Its size is estimated anew at each use, by a rule that fits
    measurements.
    """

    def __init__(self) -> None:
        self.cached: OrderedDict[UUID, Reading] = OrderedDict()
        self.weights: dict[UUID, int] = {}
        """The estimated bytes of each cached reading."""
        self.size = 0
        """The sum of the weights."""

    def of(self, source: SourceText) -> Reading:
        """Return the cached reading of a source, or a new one."""
        cached = self.cached.get(source.id)
        if cached is not None and (cached.source is source or cached.source == source):
            self.put(cached)
            return cached
        reading = Reading(source)
        if len(source.content) <= SHORT_MAX:
            self.put(reading)
        return reading

    def put(self, reading: Reading) -> None:
        """Cache a reading, and drop the least recently used ones that exceed the size of the cache."""
        self.forget(reading.source.id)
        self.cached[reading.source.id] = reading
        self.weights[reading.source.id] = weight = weight_of(reading)
        self.size += weight
        while self.size > CACHE_MAX:
            self.forget(next(iter(self.cached)))

    def forget(self, source_id: UUID) -> None:
        """Drop the reading of a source."""
        if self.cached.pop(source_id, None):
            self.size -= self.weights.pop(source_id)


def weight_of(reading: Reading) -> int:
    """Return an estimate of the bytes that a reading takes."""
    return initial_weight(reading.source) + ENTRY_BYTES * reading.stored_results


def initial_weight(source: SourceText) -> int:
    """Return an estimate of the bytes that the reading of a source takes before it stores any results."""
    return READING_BYTES + CHARACTER_BYTES * len(source.content) + VERSION_BYTES * len(source.earlier_ids)


def cacheable(sources: Iterable[SourceText]) -> Iterator[SourceText]:
    """Yield the first of these sources whose readings together take at most a third of the cache."""
    size = 0
    for source in sources:
        if len(source.content) <= SHORT_MAX:
            size += initial_weight(source)
            if size > CACHE_MAX // 3:
                return
            yield source


CACHE = ReadingCache()
reading_of = CACHE.of
LOADED: set[str] = set()
"""The languages whose word lists this process has loaded."""


async def load_words_of(reading: Reading) -> None:
    """Load the word lists of the reading's language in a thread, before code on the event loop needs them."""
    if reading.language not in LOADED:
        await asyncio.to_thread(load_words, reading.language)
        LOADED.add(reading.language)


async def read(source: SourceText) -> Reading:
    """Return the reading of a source with its sightings, from the cache or computed.

    Computing takes long, so the event loop runs other tasks after each source.
    """
    reading = reading_of(source)
    await load_words_of(reading)
    _ = reading.sightings
    await asyncio.sleep(0)
    return reading
