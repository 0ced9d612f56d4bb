"""Caches of values that are computed from texts, limited by the length of the texts."""

from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache, wraps
from threading import Lock
from typing import Generic, TypeVar

V = TypeVar("V")


def cache_short(size: int, longest: int) -> Callable[[Callable[[str], V]], Callable[[str], V]]:
    """Cache a function's results for the last `size` texts of at most `longest` characters.

    Results for longer texts are not cached. A limit on the number of texts alone would not limit the memory: a text
    without a full stop is one sentence, however long it is.
    """

    def decorate(read: Callable[[str], V]) -> Callable[[str], V]:
        cached = lru_cache(size)(read)

        @wraps(read)
        def find(text: str) -> V:
            return cached(text) if len(text) <= longest else read(text)

        return find

    return decorate


class TextCache(Generic[V]):
    """A cache of a function's results for the last texts, which have at most `size_max` characters together.

    The result for the last text is cached whatever its length.
    """

    def __init__(self, read: Callable[[str], V], size_max: int) -> None:
        self.read, self.size_max = read, size_max
        self.size = 0  # characters
        self.entries: OrderedDict[str, V] = OrderedDict()
        self.lock = Lock()  # threads share the cache, because long texts are read in one

    def __call__(self, text: str) -> V:
        with self.lock:
            if text in self.entries:
                self.entries.move_to_end(text)
                return self.entries[text]
        value = self.read(text)
        with self.lock:
            self.size += len(text) if text not in self.entries else 0
            self.entries[text] = value
            while self.size > self.size_max and len(self.entries) > 1:
                evicted, _ = self.entries.popitem(last=False)
                self.size -= len(evicted)
        return value
