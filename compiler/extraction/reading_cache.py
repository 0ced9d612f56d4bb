"""The last readings of sources are kept: plans, pages and searches ask for the same ones again."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from uuid import UUID

from content.languages import load_words

from ..planner import SourceText
from .readings import Reading

KEPT_MAX = 64_000_000  # bytes of all readings that are kept
READING_BYTES = 4_000  # of one, whatever it says
CHARACTER_BYTES, ENTRY_BYTES = 20, 450  # of each character, and of each thing that was asked
VERSION_BYTES = 110  # of the id of each version before: a reading of the thousandth has so many
SHORT_MAX = 50_000  # characters of a source whose reading is kept


class Readings:
    """A cache of the last readings, of any wiki: a source has one text, and nothing else is in them.

    A reading grows with what is asked of it. So it is weighed each time, by a rule that fits what was measured.
    """

    def __init__(self) -> None:
        self.kept: OrderedDict[UUID, Reading] = OrderedDict()
        self.weights: dict[UUID, int] = {}
        self.size = 0

    def of(self, source: SourceText) -> Reading:
        kept = self.kept.get(source.id)
        if kept is not None and (kept.source is source or kept.source == source):
            self.keep(kept)
            return kept
        reading = Reading(source)
        if len(source.content) <= SHORT_MAX:
            self.keep(reading)
        return reading

    def keep(self, reading: Reading) -> None:
        self.forget(reading.source.id)
        self.kept[reading.source.id] = reading
        self.weights[reading.source.id] = weight = weight_of(reading)
        self.size += weight
        while self.size > KEPT_MAX:
            self.forget(next(iter(self.kept)))

    def forget(self, source_id: UUID) -> None:
        if self.kept.pop(source_id, None):
            self.size -= self.weights.pop(source_id)


def weight_of(reading: Reading) -> int:
    """Return about how many bytes a reading takes."""
    return unread_weight(reading.source) + ENTRY_BYTES * reading.asked


def unread_weight(source: SourceText) -> int:
    """Return the bytes that the reading of a source takes, before anything was asked of it."""
    return READING_BYTES + CHARACTER_BYTES * len(source.content) + VERSION_BYTES * len(source.earlier_ids)


def keepable(sources: Iterable[SourceText]) -> Iterator[SourceText]:
    """Yield the first of these sources, while their readings take no more than a third of the room."""
    size = 0
    for source in sources:
        if len(source.content) <= SHORT_MAX:
            size += unread_weight(source)
            if size > KEPT_MAX // 3:
                return
            yield source


KEPT = Readings()
reading_of = KEPT.of
LOADED: set[str] = set()
"""The languages whose lists of words this process has read."""


async def load_words_of(reading: Reading) -> None:
    """Read the lists of words of its language in a thread, before somebody on the event loop needs them."""
    if reading.language not in LOADED:
        await asyncio.to_thread(load_words, reading.language)
        LOADED.add(reading.language)
