"""The readings of the last sources, kept until they are asked for again."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from uuid import UUID

from ..planner import SourceText
from .sightings import Reading

KEPT_MAX = 2_000_000  # characters of all sources whose readings are kept; a reading takes some hundred bytes for each
SHORT_MAX = 50_000  # characters of one


class Readings:
    """A cache of the last readings, of any wiki: a source has one text, and nothing else is in them."""

    def __init__(self) -> None:
        self.kept: OrderedDict[UUID, Reading] = OrderedDict()
        self.size = 0

    def of(self, source: SourceText) -> Reading:
        kept = self.kept.get(source.id)
        if kept is not None and (kept.source is source or kept.source == source):
            self.kept.move_to_end(source.id)
            return kept
        reading = Reading(source)
        if len(source.content) <= SHORT_MAX:
            self.keep(reading)
        return reading

    def keep(self, reading: Reading) -> None:
        self.forget(reading.source.id)
        self.kept[reading.source.id] = reading
        self.size += len(reading.source.content)
        while self.size > KEPT_MAX:
            self.forget(next(iter(self.kept)))

    def forget(self, source_id: UUID) -> None:
        if former := self.kept.pop(source_id, None):
            self.size -= len(former.source.content)


def keepable(sources: Iterable[SourceText]) -> Iterator[SourceText]:
    """Yield the first of these sources, while their readings take no more than half of the room."""
    size = 0
    for source in sources:
        if len(source.content) <= SHORT_MAX:
            size += len(source.content)
            if size > KEPT_MAX // 2:
                return
            yield source


KEPT = Readings()
reading_of = KEPT.of
