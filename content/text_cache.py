"""Caches of what was read of texts, whose bound is how long the texts are."""

from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache, wraps
from threading import Lock
from typing import Generic, TypeVar

V = TypeVar("V")


def cache_short(size: int, longest: int) -> Callable[[Callable[[str], V]], Callable[[str], V]]:
    """Keep what a function returns for the last `size` texts of up to `longest` characters; longer ones are read anew.

    A bound in texts alone is none in bytes: a text without a full stop is one sentence, however long it is.
    """

    def keeping(read: Callable[[str], V]) -> Callable[[str], V]:
        kept = lru_cache(size)(read)

        @wraps(read)
        def find(text: str) -> V:
            return kept(text) if len(text) <= longest else read(text)

        return find

    return keeping


class TextCache(Generic[V]):
    """A cache of what a function returns for the last texts, of `most` characters together; the newest is kept however
    long."""

    def __init__(self, read: Callable[[str], V], most: int) -> None:
        self.read, self.most, self.size = read, most, 0
        self.kept: OrderedDict[str, V] = OrderedDict()
        self.lock = Lock()  # long texts are read in a thread

    def __call__(self, text: str) -> V:
        with self.lock:
            if text in self.kept:
                self.kept.move_to_end(text)
                return self.kept[text]
        made = self.read(text)
        with self.lock:
            self.size += len(text) if text not in self.kept else 0
            self.kept[text] = made
            while self.size > self.most and len(self.kept) > 1:
                gone, _ = self.kept.popitem(last=False)
                self.size -= len(gone)
        return made
