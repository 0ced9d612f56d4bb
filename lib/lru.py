"""Bounded caches that forget what was used longest ago."""

import gc
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import partial
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

    async def get_in_thread(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return an entry as `get` does, but make it in a thread. Two at a time may both make it; one is kept."""
        found = self.find(key)
        if found is not None:
            return found
        with span(self.making):
            made = await compile_in_thread(partial(make_and_collect, make))
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

    def drop(self, key: Hashable) -> None:
        """Drop an entry, if it is there."""
        self.entries.pop(key, None)


class WeighedLRU(LRU[V]):
    """A cache of at most `size` entries that weigh at most `most` together: for entries that differ much in size.

    The newest entry is kept whatever it weighs.
    """

    def __init__(
        self, size: int, most: int, weigh: Callable[[Any, V], int], making: str = "", tally: CacheStats | None = None
    ) -> None:
        """Make an empty cache. `weigh` returns the weight of an entry by its key and its value."""
        super().__init__(size, making, tally)
        self.most, self.weigh, self.held = most, weigh, 0
        self.weights: dict[Hashable, int] = {}

    def keep(self, key: Hashable, made: V) -> V:
        self.held -= self.weights.pop(key, 0)  # of another who made it at the same time
        self.weights[key] = weight = self.weigh(key, made)
        self.held += weight
        super().keep(key, made)
        while self.held > self.most and len(self.entries) > 1:
            self.evict()
        return made

    def evict(self) -> Any:
        key = super().evict()
        self.held -= self.weights.pop(key)
        return key

    def drop(self, key: Hashable) -> None:
        super().drop(key)
        self.held -= self.weights.pop(key, 0)


def make_and_collect(make: Callable[[], V]) -> V:
    """Return what `make` returns, and free what it left behind: SQLAlchemy leaves thousands of objects that refer to
    each other, which only the garbage collector frees."""
    made = make()
    if gc.isenabled():
        gc.collect(1)
    return made
