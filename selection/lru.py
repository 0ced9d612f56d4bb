"""A bounded cache that forgets what was used longest ago."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class LRU(Generic[V]):
    """At most `size` entries."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.entries: OrderedDict[Hashable, V] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        if key in self.entries:
            self.entries.move_to_end(key)
            return self.entries[key]
        made = self.entries[key] = make()
        if len(self.entries) > self.size:
            self.entries.popitem(last=False)
        return made
