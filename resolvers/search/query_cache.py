"""A cache of interpreted queries, each valid until the words of its wiki are counted again.

The ranking statement returns the time of the current word counts. An entry that was made by older counts is dropped and
made anew, so entries need no expiry time, and servers need not notify each other.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from db.database import Database
from db.scope import Scope
from db.sensitivity import restriction_of, unrestricted
from lib.lru import WeighedLRU

from .interpretation import InterpretedQuery
from .ranking_query import CACHE_SIZE, LONGEST, RankingQuery
from .request import Filter


class PreparedQuery(NamedTuple):
    """A query as interpreted in one wiki; `values` are the parameters of its statements."""

    interpreted: InterpretedQuery
    ranking_query: RankingQuery
    values: dict[str, Any]


CHARACTERS_MAX = 40_000
"""The characters of all queries in one cache. An entry takes some 600 bytes for each, so a full cache takes 24 MB."""


class PreparedPassageQuery(NamedTuple):
    """A query as interpreted for the passages of one wiki.

    `weights` are those of its lexemes, `words` the words by which passages are compared, and `word_parameters` the
    parameters for its words. The tsquery `rare` finds passages, and `wide` finds more if `rare` finds too few.
    """

    interpreted: InterpretedQuery
    weights: dict[str, float]
    word_parameters: dict[str, Any]
    words: Mapping[str, frozenset[str]]
    rare: str | None
    wide: str | None


class QueryCache:
    """The cached queries of one database."""

    def __init__(self) -> None:
        self.page_queries: WeighedLRU[PreparedQuery] = WeighedLRU(CACHE_SIZE, CHARACTERS_MAX, characters)
        self.passage_queries: WeighedLRU[PreparedPassageQuery] = WeighedLRU(CACHE_SIZE, CHARACTERS_MAX, characters)
        """Queries for passages, without the times that they name, which depend on the current day."""

    def find(self, scope: Scope, text: str, filters: Filter) -> PreparedQuery | None:
        return self.page_queries.get(key_of(scope, text, filters))

    def store(self, scope: Scope, text: str, filters: Filter, prepared: PreparedQuery) -> None:
        """Cache a query, or drop it if it is long or was corrected.

        A correction is not cached, because the page that has the corrected word may be deleted or hidden.
        """
        if len(text) > LONGEST or prepared.interpreted.corrected or prepared.interpreted.nearby_name:
            self.page_queries.discard(key_of(scope, text, filters))
        else:
            self.page_queries.put(key_of(scope, text, filters), prepared)

    def find_passage_query(self, scope: Scope, text: str, condition_text: str) -> PreparedPassageQuery | None:
        return self.passage_queries.get(key_of(scope, text, condition_text))

    def store_passage_query(self, scope: Scope, text: str, condition_text: str, prepared: PreparedPassageQuery) -> None:
        """Cache a query for passages, or drop it if it is long or was corrected."""
        if len(text) + len(condition_text) > LONGEST or prepared.interpreted.corrected:
            self.passage_queries.discard(key_of(scope, text, condition_text))
        else:
            self.passage_queries.put(key_of(scope, text, condition_text), prepared)


def characters(key: tuple[Any, ...], _: object) -> int:
    """Return the number of characters of the query in a cache key."""
    _, _, text, conditions, _ = key
    return len(text) + (len(conditions) if isinstance(conditions, str) else 0)


def key_of(scope: Scope, text: str, conditions: Filter | str) -> tuple[Any, ...]:
    """Return the cache key of a query. It has the caller's restriction, because that decides which words are known."""
    return scope.tenant_id, scope.owner_id, text, conditions, restriction_of(scope)


CACHES: WeakKeyDictionary[Database, QueryCache] = WeakKeyDictionary()


def query_cache_of(database: Database) -> QueryCache:
    return CACHES.setdefault(unrestricted(database), QueryCache())
