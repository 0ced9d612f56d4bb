"""Fusion of semantic ranking with ranking by words; see docs/decisions/0005-full-text-search-in-postgres.md.

Hits are ordered by the sum of their reciprocal ranks. The hit at each place gets the score that the ranking by words
has at that place, so that scores stay comparable with those of other searches.
"""

import logging
import re
from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar
from uuid import UUID

import asyncpg

from content.search.search_query import SearchQuery
from content.search.words import words
from db.connection import Row
from db.database import Database
from db.replicas.routing import on_the_primary
from db.scope import Scope
from db.sensitivity import restricted_as
from db.sql import Statement, statements

from ..search.cursor import cursor_after
from ..search.request import DEEPEST, Filter, SearchHit, SearchRequest, SearchResult
from .embedder import embedder_of

DEPTH = 60  # hits of either ranking that are fused
RANK_CONSTANT = 60  # the constant of reciprocal rank fusion: the larger, the less the first places count
WORDS_MIN = 4  # words of a query; fewer are a name, or the beginning of a name
# A name in code, an identifier with digits, or an operator: a query with these must match literally.
EXACT = re.compile(r"[^\W\d_]\d|\d[^\W\d_]|_|[a-z][A-Z]|[^\w\s'’‘\"“”?!.,;:()…–—-]")

# An index has the vectors of all wikis, so it is scanned until enough vectors of this wiki satisfy the filters.
UNTIL_ENOUGH = "SET LOCAL hnsw.iterative_scan = 'strict_order'"

K = TypeVar("K", bound=Hashable)
log = logging.getLogger(__name__)


def is_about_meaning(query: SearchQuery) -> bool:
    """Return whether a query is several plain words, without phrases, exclusions, tags, identifiers or operators."""
    if query.phrases or query.excluded or query.title_only or query.tags or query.excluded_tags:
        return False
    return not EXACT.search(query.words) and len(words(query.words)) >= WORDS_MIN


def searches_by_meaning(database: Database, query: SearchQuery) -> bool:
    """Return whether semantic search is on and suits the query."""
    return embedder_of(database) is not None and is_about_meaning(query)


@cache
def ranking(name: str, dimensions: int) -> Statement:
    """Return a ranking statement of embeddings.sql for vectors of so many dimensions, so that it uses their index."""
    statement = statements("search/embeddings")[name]
    text = statement.sql.replace("halfvec(1)", f"halfvec({dimensions})")
    return statement._replace(sql=text.replace("dimensions = 1\n", f"dimensions = {dimensions}\n"))


async def has_query_vector(database: Database, query: SearchQuery) -> bool:
    """Return whether semantic search is on, suits the query, and the embedder has returned a vector for it."""
    embedder = embedder_of(database)
    if embedder is None or not is_about_meaning(query):
        return False
    return await embedder.of_question(query.words) is not None


async def find_nearest(
    database: Database, scope: Scope, query: SearchQuery, name: str, values: dict[str, Any]
) -> Sequence[Row]:
    """Return the hits of a semantic ranking for a query, the nearest first; none if the query has no vector.

    Hits that the caller may not read are left out. A missing extension or a timeout is logged, and there are no hits.
    """
    embedder = embedder_of(database)
    if embedder is None or not is_about_meaning(query):
        return []
    vector = await embedder.of_question(query.words)
    if vector is None:
        return []
    where = {**scope.wiki_values, "model": embedder.model, "question": vector}
    try:
        with on_the_primary():
            async with database.transaction(UNTIL_ENOUGH) as connection:
                reading = restricted_as(database, connection)
                return await reading.all(ranking(name, embedder.dimensions), **where, **values, limit=DEPTH)
    except (asyncpg.UndefinedObjectError, asyncpg.QueryCanceledError) as error:
        log.warning("Semantic search is unavailable: %s.", type(error).__name__)
        return []


def fuse(first: Sequence[K], second: Sequence[K]) -> list[K]:
    """Return the hits of two rankings by the sum of reciprocal ranks; the first ranking wins ties."""
    score: dict[K, float] = {}
    for hits in (first, second):
        for place, hit in enumerate(hits[:DEPTH], start=1):
            score[hit] = score.get(hit, 0.0) + 1 / (RANK_CONSTANT + place)
    best = sorted(score, key=lambda hit: -score[hit])
    return best + [hit for hit in first if hit not in score]


def scores(by_words: Sequence[float], count: int) -> list[float]:
    """Return `count` scores: those of the ranking by words, continued by falling scores below its last one."""
    last = by_words[-1] if by_words else 1.0
    more = (last * RANK_CONSTANT / (RANK_CONSTANT + place) for place in range(1, count + 1))
    return [*by_words, *more][:count]


async def find_nearest_passages(
    database: Database, scope: Scope, query: SearchQuery, filters: dict[str, Any]
) -> Sequence[Row]:
    """Return the passages that are semantically nearest to a query and satisfy the filters."""
    return await find_nearest(database, scope, query, "rank_passages", filters)


def fuse_passages(rows: Sequence[Row], nearest: Sequence[Row], analyser: int) -> Sequence[Any]:
    """Return the rows of the ranking by words fused with the semantically nearest passages, in the same form."""
    nearest = [row for row in nearest if row["analyser"] == analyser]
    if not nearest:
        return rows
    known = {(row["source_id"], row["position"]): dict(row) for row in (*nearest, *rows)}
    order = fuse(*([(row["source_id"], row["position"]) for row in ranked] for ranked in (rows, nearest)))
    total = max(rows[0]["found"] if rows else 0, len(order))
    scored = zip(order, scores([row["score"] for row in rows], len(order)), strict=True)
    return [known[place] | {"score": score, "found": total} for place, score in scored]


async def add_semantic_hits(
    database: Database, scope: Scope, request: SearchRequest, query: SearchQuery, filters: Filter, result: SearchResult
) -> SearchResult:
    """Return the first page of results fused with the semantically nearest pages, unless the best hit matches by name.

    Later pages of results are ranked by words alone, without the pages that were shown.
    """
    if request.after or result.finds_names or filters.tags or filters.excluded_tags or filters.title_only:
        return result
    values = {
        "statuses": list(filters.statuses),
        "types": list(filters.types) or None,
        "excluded_types": list(filters.excluded_types) or None,
        "since": filters.updated_after,
        "until": filters.updated_before,
    }
    rows = await find_nearest(database, scope, query, "rank_pages", values)
    return merge_hits(result, [row["page_id"] for row in rows], max(1, min(request.first, DEEPEST)))


def merge_hits(result: SearchResult, nearest: Sequence[UUID], size: int) -> SearchResult:
    """Return the result with the nearest pages fused into its hits, cut to `size` hits."""
    if not nearest:
        return result
    by_words = {hit.page_id: hit for hit in result.hits}
    order = fuse(list(by_words), nearest[: max(size, len(result.hits))])
    shown = order[:size]
    values = scores([hit.score for hit in result.hits], len(shown))
    cursor = result.hits[0].cursor if result.hits else ""
    hits = tuple(
        by_words.get(page_id, SearchHit(page_id, 0.0, ""))._replace(
            score=score, cursor=cursor and cursor_after(cursor, shown[:place])
        )
        for place, (page_id, score) in enumerate(zip(shown, values, strict=True), start=1)
    )
    has_more = result.has_next_page or (bool(cursor) and len(order) > len(shown) and bool(by_words.keys() - set(shown)))
    return replace(result, hits=hits, has_next_page=has_more, total=max(result.total, len(hits)))
