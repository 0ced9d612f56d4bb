"""Bounded caches that evict the least recently used entry."""

import gc
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, Generic, TypeVar

from observability.trace import span

from .threads import compile_in_thread

V = TypeVar("V")


class CacheStats:
    """Counters of the hits, misses and evictions of a cache. Several caches may share one instance."""

    def __init__(self) -> None:
        self.hits = self.misses = self.evictions = 0


class LRU(Generic[V]):
    """A cache of at most `size` entries that evicts the least recently used entry. No value may be None."""

    def __init__(self, size: int, span_name: str = "", stats: CacheStats | None = None) -> None:
        """Create an empty cache. `span_name` names the span in which `get_or_create_in_thread` creates a value."""
        self.size, self.span_name = size, span_name
        self.stats = stats or CacheStats()
        self.entries: OrderedDict[Hashable, V] = OrderedDict()

    def get_or_create(self, key: Hashable, create: Callable[[], V]) -> V:
        """Return the cached value; if there is none, create it and put it into the cache."""
        cached = self.get(key)
        return self.put(key, create()) if cached is None else cached

    async def get_or_create_in_thread(self, key: Hashable, create: Callable[[], V]) -> V:
        """Return the cached value; if there is none, create it in a thread and put it into the cache.

        Two tasks that miss the same key at the same time both create a value; the cache keeps the last one.
        """
        cached = self.get(key)
        if cached is not None:
            return cached
        with span(self.span_name):
            value = await compile_in_thread(partial(create_and_collect, create))
        return self.put(key, value)

    def get(self, key: Hashable) -> V | None:
        """Return the cached value, or None, and mark the entry as the most recently used."""
        value = self.entries.get(key)
        if value is not None:
            self.stats.hits += 1
            self.entries.move_to_end(key)
        return value

    def put(self, key: Hashable, value: V) -> V:
        """Store a value and return it. This counts as a miss, which `get` does not count."""
        self.stats.misses += 1
        self.entries[key] = value
        if len(self.entries) > self.size:
            self.evict()
        return value

    def evict(self) -> Any:
        """Remove the least recently used entry and return its key."""
        self.stats.evictions += 1
        return self.entries.popitem(last=False)[0]

    def discard(self, key: Hashable) -> None:
        """Remove an entry if it is in the cache."""
        self.entries.pop(key, None)


class WeighedLRU(LRU[V]):
    """A cache of at most `size` entries with a total weight of at most `max_weight`, for values of very unequal size.

    The newest entry stays in the cache even if it alone is heavier than that.
    """

    def __init__(
        self,
        size: int,
        max_weight: int,
        weigh: Callable[[Any, V], int],
        span_name: str = "",
        stats: CacheStats | None = None,
    ) -> None:
        """Create an empty cache. `weigh` returns the weight of an entry, given its key and its value."""
        super().__init__(size, span_name, stats)
        self.max_weight, self.weigh = max_weight, weigh
        self.total_weight = 0
        self.weights: dict[Hashable, int] = {}

    def put(self, key: Hashable, value: V) -> V:
        self.total_weight -= self.weights.pop(key, 0)  # another task may have created the same entry meanwhile
        self.weights[key] = weight = self.weigh(key, value)
        self.total_weight += weight
        super().put(key, value)
        while self.total_weight > self.max_weight and len(self.entries) > 1:
            self.evict()
        return value

    def evict(self) -> Any:
        key = super().evict()
        self.total_weight -= self.weights.pop(key)
        return key

    def discard(self, key: Hashable) -> None:
        super().discard(key)
        self.total_weight -= self.weights.pop(key, 0)


def create_and_collect(create: Callable[[], V]) -> V:
    """Return what `create` returns, and free the garbage that it leaves.

    SQLAlchemy leaves thousands of objects that refer to each other, which only the garbage collector frees.
    """
    value = create()
    if gc.isenabled():
        gc.collect(1)
    return value
