"""Questions that were understood, for as long as the words of their wiki are counted as they were.

The statement that ranks says when was counted what holds now. What was understood by other counts is forgotten and
understood anew, so no clock decides what is still true, and servers need not tell each other.
"""

from collections import ChainMap
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from db.database import Database
from db.scope import Scope
from selection.knowledge import Knowledge
from selection.lru import LRU

from .meaning import LONGEST, MOST
from .question import Question
from .reading import Reading
from .results import Filter

SIZES = 4  # numbers of hits that a question is asked for, one after the other


class Understood(NamedTuple):
    """What a question means in a wiki. `values` are what the statements take of it, `known` the same by the number of
    hits, for statements that find them themselves."""

    reading: Reading
    question: Question
    values: dict[str, Any]
    known: dict[int, Knowledge]

    def knowledge(self, size: int) -> Knowledge:
        """The same object each time, for as long as this is remembered."""
        if (found := self.known.get(size)) is not None:
            return found
        if len(self.known) == SIZES:
            self.known.clear()
        own = {"size": size, "counted_at": self.reading.counted_at}
        found = self.known[size] = Knowledge(ChainMap(own, self.values))
        return found

    def was_used(self) -> bool:
        """By those who had it in hand, since this was asked before."""
        is_used = any(one.is_used for one in self.known.values())
        for one in self.known.values():
            one.is_used = False
        return is_used


class Questions(LRU[Understood]):
    """Whoever goes by what is known of one has not looked for it here."""

    def evict(self) -> Any:
        while next(iter(self.entries.values())).was_used():
            self.entries.move_to_end(next(iter(self.entries)))
        return super().evict()


class Memory:
    """Of one database."""

    def __init__(self) -> None:
        self.understood = Questions(MOST)

    def find(self, scope: Scope, text: str, wanted: Filter) -> Understood | None:
        return self.understood.find(key_of(scope, text, wanted))

    def keep(self, scope: Scope, text: str, wanted: Filter, understood: Understood) -> None:
        """Unless it is long, or was mended: whether a page still has what was meant is to be asked again."""
        if len(text) > LONGEST or understood.reading.mended or understood.reading.relative:
            self.understood.entries.pop(key_of(scope, text, wanted), None)
        else:
            self.understood.keep(key_of(scope, text, wanted), understood)


def key_of(scope: Scope, text: str, wanted: Filter) -> tuple[Any, ...]:
    return scope.tenant_id, scope.owner_id, text, wanted


MEMORIES: WeakKeyDictionary[Database, Memory] = WeakKeyDictionary()


def memory_of(database: Database) -> Memory:
    return MEMORIES.setdefault(database, Memory())
