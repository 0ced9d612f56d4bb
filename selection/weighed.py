"""A bounded cache of documents: what they take in memory, and the collector's time, grows with their tokens."""

import re
from collections.abc import Callable, Hashable
from itertools import islice
from typing import Any, TypeVar

from .lru import LRU, Tally

V = TypeVar("V")
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\w+|[^\w\s]')
MOST = 50_000
"""Tokens of all that is kept: some 25 MB, and no more objects than the collector walks in 50 ms."""
LARGEST = 8000
"""So many are counted of one text: the parser has stopped before."""


class Weighed(LRU[V]):
    """At most `size` entries, and at most `most` tokens in their texts; the newest is kept whatever it weighs."""

    def __init__(self, size: int, text: Callable[[Any, V], str], making: str = "", tally: Tally | None = None) -> None:
        """`text` is what an entry was made of."""
        super().__init__(size, making, tally)
        self.text, self.most, self.held = text, MOST, 0
        self.weights: dict[Hashable, int] = {}

    def keep(self, key: Hashable, made: V) -> V:
        self.held -= self.weights.pop(key, 0)  # of another who made it at the same time
        self.weights[key] = weight = tokens(self.text(key, made))
        self.held += weight
        super().keep(key, made)
        while self.held > self.most and len(self.entries) > 1:
            self.evict()
        return made

    def evict(self) -> Hashable:
        key: Hashable = super().evict()
        self.held -= self.weights.pop(key)
        return key


def tokens(text: str) -> int:
    """About as many as the parser counts, and not fewer."""
    return sum(1 for _ in islice(TOKEN.finditer(text), LARGEST))
