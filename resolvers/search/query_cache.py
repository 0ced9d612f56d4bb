"""Questions that were understood, for as long as the words of their wiki are counted as they were.

The statement that ranks says when was counted what holds now. What was understood by other counts is forgotten and
understood anew, so no clock decides what is still true, and servers need not tell each other.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from db.database import Database
from db.restricted import restriction_of, unrestricted
from db.scope import Scope
from lib.lru import WeighedLRU

from .interpretation import ReadQuery
from .ranking_query import CACHE_SIZE, LONGEST, RankedQuery
from .request import Filter


class Understood(NamedTuple):
    """A question as a wiki understands it; `values` are the parameters of the statements that answer it."""

    reading: ReadQuery
    question: RankedQuery
    values: dict[str, Any]


CHARACTERS_MAX = 40_000
"""Characters of the questions of one cache: understood, one takes some 600 bytes for each, so that all take 24 MB."""


class PassageQuestion(NamedTuple):
    """A question as the passages of a wiki understand it: what its lexemes weigh, and the words to compare passages by.

    `lexical` are the parameters that stand for its words. `rare` finds passages, and `wide` more when that finds few.
    """

    reading: ReadQuery
    weights: dict[str, float]
    lexical: dict[str, Any]
    words: Mapping[str, frozenset[str]]
    rare: str | None
    wide: str | None


class Memory:
    """A cache of the questions of one database."""

    def __init__(self) -> None:
        self.understood: WeighedLRU[Understood] = WeighedLRU(CACHE_SIZE, CHARACTERS_MAX, characters)
        self.passages: WeighedLRU[PassageQuestion] = WeighedLRU(CACHE_SIZE, CHARACTERS_MAX, characters)
        """Questions to passages, without the times that they name: those depend on the day."""

    def find(self, scope: Scope, text: str, wanted: Filter) -> Understood | None:
        return self.understood.get(key_of(scope, text, wanted))

    def keep(self, scope: Scope, text: str, wanted: Filter, understood: Understood) -> None:
        """Keep it unless it is long, or was corrected: whether a page still has what was meant is to be asked again."""
        if len(text) > LONGEST or understood.reading.corrected or understood.reading.relative:
            self.understood.discard(key_of(scope, text, wanted))
        else:
            self.understood.put(key_of(scope, text, wanted), understood)

    def find_for_passages(self, scope: Scope, text: str, besides: str) -> PassageQuestion | None:
        return self.passages.get(key_of(scope, text, besides))

    def keep_for_passages(self, scope: Scope, text: str, besides: str, question: PassageQuestion) -> None:
        """Keep how the passages of a wiki understand a question, with the same exceptions."""
        if len(text) + len(besides) > LONGEST or question.reading.corrected:
            self.passages.discard(key_of(scope, text, besides))
        else:
            self.passages.put(key_of(scope, text, besides), question)


def characters(key: tuple[Any, ...], _: object) -> int:
    """Return how long the question is that is kept under a key."""
    _, _, text, besides, _ = key
    return len(text) + (len(besides) if isinstance(besides, str) else 0)


def key_of(scope: Scope, text: str, wanted: Filter | str) -> tuple[Any, ...]:
    """Return what a question is kept under: who may not read everything is understood by what it may read."""
    return scope.tenant_id, scope.owner_id, text, wanted, restriction_of(scope)


MEMORIES: WeakKeyDictionary[Database, Memory] = WeakKeyDictionary()


def memory_of(database: Database) -> Memory:
    return MEMORIES.setdefault(unrestricted(database), Memory())
