"""A cache of interpreted queries, each valid until the words of its wiki are counted again.

The ranking statement returns the time of the current word counts. An entry that was made by older counts is dropped and
made anew, so entries need no expiry time, and servers need not notify each other.
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
    """A query as interpreted in one wiki; `values` are the parameters of its statements."""

    reading: ReadQuery
    question: RankedQuery
    values: dict[str, Any]


CHARACTERS_MAX = 40_000
"""The characters of all queries in one cache. An entry takes some 600 bytes for each, so a full cache takes 24 MB."""


class PassageQuestion(NamedTuple):
    """A query as interpreted for the passages of one wiki.

    `weights` are those of its lexemes, `words` the words by which passages are compared, and `lexical` the parameters
    for its words. The tsquery `rare` finds passages, and `wide` finds more if `rare` finds too few.
    """

    reading: ReadQuery
    weights: dict[str, float]
    lexical: dict[str, Any]
    words: Mapping[str, frozenset[str]]
    rare: str | None
    wide: str | None


class Memory:
    """The cached queries of one database."""

    def __init__(self) -> None:
        self.understood: WeighedLRU[Understood] = WeighedLRU(CACHE_SIZE, CHARACTERS_MAX, characters)
        self.passages: WeighedLRU[PassageQuestion] = WeighedLRU(CACHE_SIZE, CHARACTERS_MAX, characters)
        """Queries for passages, without the times that they name, which depend on the current day."""

    def find(self, scope: Scope, text: str, wanted: Filter) -> Understood | None:
        return self.understood.find(key_of(scope, text, wanted))

    def keep(self, scope: Scope, text: str, wanted: Filter, understood: Understood) -> None:
        """Cache a query, or drop it if it is long or was corrected.

        A correction is not cached, because the page that has the corrected word may be deleted or hidden.
        """
        if len(text) > LONGEST or understood.reading.corrected or understood.reading.relative:
            self.understood.drop(key_of(scope, text, wanted))
        else:
            self.understood.keep(key_of(scope, text, wanted), understood)

    def find_for_passages(self, scope: Scope, text: str, besides: str) -> PassageQuestion | None:
        return self.passages.find(key_of(scope, text, besides))

    def keep_for_passages(self, scope: Scope, text: str, besides: str, question: PassageQuestion) -> None:
        """Cache a query for passages, with the exceptions of `keep`."""
        if len(text) + len(besides) > LONGEST or question.reading.corrected:
            self.passages.drop(key_of(scope, text, besides))
        else:
            self.passages.keep(key_of(scope, text, besides), question)


def characters(key: tuple[Any, ...], _: object) -> int:
    """Return the number of characters of the query in a cache key."""
    _, _, text, besides, _ = key
    return len(text) + (len(besides) if isinstance(besides, str) else 0)


def key_of(scope: Scope, text: str, wanted: Filter | str) -> tuple[Any, ...]:
    """Return the cache key of a query. It has the caller's restriction, because that decides which words are known."""
    return scope.tenant_id, scope.owner_id, text, wanted, restriction_of(scope)


MEMORIES: WeakKeyDictionary[Database, Memory] = WeakKeyDictionary()


def memory_of(database: Database) -> Memory:
    return MEMORIES.setdefault(unrestricted(database), Memory())
