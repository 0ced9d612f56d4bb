"""A bounded cache that forgets what was used longest ago."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from .apart import apart

V = TypeVar("V")


class LRU(Generic[V]):
    """At most `size` entries."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.entries: OrderedDict[Hashable, V] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        return self.found(key) if key in self.entries else self.keep(key, make())

    async def get_apart(self, key: Hashable, make: Callable[[], V]) -> V:
        """The same for what takes long to make. Two who ask at once may both make it; one of the two is kept."""
        return self.found(key) if key in self.entries else self.keep(key, await apart(make))

    def found(self, key: Hashable) -> V:
        self.entries.move_to_end(key)
        return self.entries[key]

    def keep(self, key: Hashable, made: V) -> V:
        self.entries[key] = made
        if len(self.entries) > self.size:
            self.entries.popitem(last=False)
        return made
