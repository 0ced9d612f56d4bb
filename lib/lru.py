"""A bounded cache that forgets what was used longest ago."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from observability.trace import span

from .threads import compile_in_thread

V = TypeVar("V")


class Tally:
    """How often what was asked for was there. Several caches may share one."""

    def __init__(self) -> None:
        self.hits = self.misses = self.evictions = 0


class LRU(Generic[V]):
    """At most `size` entries, none of them None."""

    def __init__(self, size: int, making: str = "", tally: Tally | None = None) -> None:
        """`making` is what a request's trace calls the making of an entry."""
        self.size, self.making = size, making
        self.tally = tally or Tally()
        self.entries: OrderedDict[Hashable, V] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        found = self.find(key)
        return self.keep(key, make()) if found is None else found

    async def get_apart(self, key: Hashable, make: Callable[[], V]) -> V:
        """The same for what takes long to make. Two who ask at once may both make it; one of the two is kept."""
        found = self.find(key)
        if found is not None:
            return found
        with span(self.making):
            made = await compile_in_thread(make)
        return self.keep(key, made)

    def find(self, key: Hashable) -> V | None:
        """The entry, where there is one."""
        found = self.entries.get(key)
        if found is not None:
            self.tally.hits += 1
            self.entries.move_to_end(key)
        return found

    def keep(self, key: Hashable, made: V) -> V:
        self.tally.misses += 1
        self.entries[key] = made
        if len(self.entries) > self.size:
            self.evict()
        return made

    def evict(self) -> Any:
        """The key of what was used longest ago, and is no longer kept."""
        self.tally.evictions += 1
        return self.entries.popitem(last=False)[0]
