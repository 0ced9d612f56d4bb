"""The plan cache: documents by their text, and the plans of each operation by the shape of its variables.

The memory that documents take, and the time that the garbage collector needs for them, grows with their tokens.
"""

import re
from collections.abc import Callable
from itertools import islice
from typing import Any, TypeVar

from lib.lru import LRU, CacheStats, WeighedLRU

V = TypeVar("V")
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\w+|[^\w\s]')
MAX_TOKENS = 50_000
"""Tokens of all documents: some 25 MB, and no more objects than the collector walks in 50 ms."""
MAX_TOKENS_COUNTED = 8000
"""Tokens that are counted in one document: the parser stops before."""
PLANS_PER_OPERATION = 16


class PlanCache(LRU[Any]):
    """The plans of one operation by the shape of its variables, beside reasons why there is none."""

    def __init__(self, stats: CacheStats | None = None) -> None:
        super().__init__(PLANS_PER_OPERATION, "plan", stats)


class DocumentCache(WeighedLRU[V]):
    """A cache of at most `size` documents, MAX_TOKENS together; the newest is kept whatever its size."""

    def __init__(
        self, size: int, text: Callable[[Any, V], str], span_name: str = "", stats: CacheStats | None = None
    ) -> None:
        """Make a cache; `text` returns what an entry was made of."""
        super().__init__(size, MAX_TOKENS, lambda key, made: tokens(text(key, made)), span_name, stats)


def tokens(text: str) -> int:
    """Return about as many tokens as the parser counts, and not fewer."""
    return sum(1 for _ in islice(TOKEN.finditer(text), MAX_TOKENS_COUNTED))
