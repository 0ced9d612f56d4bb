"""The caches of documents by their text, and of each operation's plans by the shape of its variables.

The document cache is limited by tokens, because the memory of a document, and the time that the garbage collector needs
for it, grow with its tokens.
"""

import re
from collections.abc import Callable
from itertools import islice
from typing import Any, TypeVar

from lib.lru import LRU, CacheStats, WeighedLRU

V = TypeVar("V")
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\w+|[^\w\s]')
MAX_TOKENS = 50_000
"""The maximum of tokens in all cached documents: about 25 MB, which the garbage collector traverses in 50 ms."""
MAX_TOKENS_COUNTED = 8000
"""The number of tokens at which counting stops. It is above the limit of tokens at which the parser stops."""
PLANS_PER_OPERATION = 16


class PlanCache(LRU[Any]):
    """The plans of one operation by the shape of its variables. A NotCompilable is cached where there is no plan."""

    def __init__(self, stats: CacheStats | None = None) -> None:
        super().__init__(PLANS_PER_OPERATION, "plan", stats)


class DocumentCache(WeighedLRU[V]):
    """A cache of at most `size` documents with at most MAX_TOKENS in total. The newest is kept whatever its size."""

    def __init__(
        self, size: int, text: Callable[[Any, V], str], span_name: str = "", stats: CacheStats | None = None
    ) -> None:
        """Make a cache. `text` returns the text of an entry's document from its key and its value."""
        super().__init__(size, MAX_TOKENS, lambda key, value: tokens(text(key, value)), span_name, stats)


def tokens(text: str) -> int:
    """Return an estimate of the number of tokens in a document. It is not less than the parser's count."""
    return sum(1 for _ in islice(TOKEN.finditer(text), MAX_TOKENS_COUNTED))
