"""A bounded cache that forgets what was used longest ago."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from observability.trace import span

from .threads import compile_in_thread

V = TypeVar("V")


class CacheStats:
    """A tally of how often a cache had what was asked for. Several caches may share one."""

    def __init__(self) -> None:
        self.hits = self.misses = self.evictions = 0


class LRU(Generic[V]):
    """A cache of at most `size` entries, none of them None, which evicts what was used longest ago."""

    def __init__(self, size: int, making: str = "", tally: CacheStats | None = None) -> None:
        """Make an empty cache. `making` is what a request's trace calls the making of an entry."""
        self.size, self.making = size, making
        self.tally = tally or CacheStats()
        self.entries: OrderedDict[Hashable, V] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        found = self.find(key)
        return self.keep(key, make()) if found is None else found

    async def get_apart(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return an entry as `get` does, but make it in a thread. Two at a time may both make it; one is kept."""
        found = self.find(key)
        if found is not None:
            return found
        with span(self.making):
            made = await compile_in_thread(make)
        return self.keep(key, made)

    def find(self, key: Hashable) -> V | None:
        """Return the entry, or None."""
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
        """Drop the entry that was used longest ago, and return its key."""
        self.tally.evictions += 1
        return self.entries.popitem(last=False)[0]
