"""Rankings by meaning, fused with those by words where that pays: docs/decisions/0005-full-text-search-in-postgres.md.

Reciprocal ranks say only in which order hits come: their scores are those of the words' ranking, place by place, so
that scores stay comparable with those of other searches.
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
from db.sql import Statement, statements

from ..search.cursor import cursor_after
from ..search.request import MOST, Filter, SearchHit, SearchRequest, SearchResult
from .embedder import embedder_of

DEPTH = 60  # hits of either ranking that are fused
STEADY = 60  # the constant of reciprocal ranks: the larger, the less the first places count
WORDS_LEAST = 4  # of a question; fewer are a name, or the beginning of one
# A name in code, an identifier with digits, an operator: whoever writes these means them letter by letter.
EXACT = re.compile(r"[^\W\d_]\d|\d[^\W\d_]|_|[a-z][A-Z]|[^\w\s'’‘\"“”?!.,;:()…–—-]")

# An index holds all wikis: it is read on until there are enough of this one that the filters let through.
UNTIL_ENOUGH = "SET LOCAL hnsw.iterative_scan = 'strict_order'"

K = TypeVar("K", bound=Hashable)
log = logging.getLogger(__name__)


def is_about_meaning(query: SearchQuery) -> bool:
    """Return whether a question says in several words what is wanted, without quotes, exclusions, names or codes."""
    if query.phrases or query.excluded or query.title_only or query.tags or query.excluded_tags:
        return False
    return not EXACT.search(query.words) and len(words(query.words)) >= WORDS_LEAST


@cache
def ranking(name: str, dimensions: int) -> Statement:
    """Return a ranking of embeddings.sql for vectors of so many dimensions, which an index must be named by."""
    statement = statements("search/embeddings")[name]
    text = statement.sql.replace("halfvec(1)", f"halfvec({dimensions})")
    return statement._replace(sql=text.replace("dimensions = 1\n", f"dimensions = {dimensions}\n"))


async def is_meant(database: Database, query: SearchQuery) -> bool:
    """Return whether rankings by meaning have something to say to a question: then its vector is at hand."""
    embedder = embedder_of(database)
    if embedder is None or not is_about_meaning(query):
        return False
    return await embedder.of_question(query.words) is not None


async def nearest(
    database: Database, scope: Scope, query: SearchQuery, name: str, values: dict[str, Any]
) -> Sequence[Row]:
    """Return the hits of a ranking for a question, the nearest first; none where words alone have to do."""
    embedder = embedder_of(database)
    if embedder is None or not is_about_meaning(query):
        return []
    vector = await embedder.of_question(query.words)
    if vector is None:
        return []
    own = {"tenant_id": scope.tenant_id, "owner_id": scope.owner_id, "model": embedder.model, "question": vector}
    try:
        with on_the_primary():
            async with database.transaction(UNTIL_ENOUGH) as connection:
                return await connection.all(ranking(name, embedder.dimensions), **own, **values, most=DEPTH)
    except (asyncpg.UndefinedObjectError, asyncpg.QueryCanceledError) as error:
        log.warning("Semantic search is unavailable: %s.", type(error).__name__)
        return []


def fuse(some: Sequence[K], others: Sequence[K]) -> list[K]:
    """Return what two rankings have, by the sum of reciprocal ranks; of equals what the first one has comes first."""
    score: dict[K, float] = {}
    for hits in (some, others):
        for place, hit in enumerate(hits[:DEPTH], start=1):
            score[hit] = score.get(hit, 0.0) + 1 / (STEADY + place)
    best = sorted(score, key=lambda hit: -score[hit])
    return best + [hit for hit in some if hit not in score]


def scores(by_words: Sequence[float], count: int) -> list[float]:
    """Return so many scores: those of the words' ranking by their place, then ever less than the last of these."""
    last = by_words[-1] if by_words else 1.0
    more = (last * STEADY / (STEADY + place) for place in range(1, count + 1))
    return [*by_words, *more][:count]


async def near_passages(database: Database, scope: Scope, query: SearchQuery, filters: dict[str, Any]) -> Sequence[Row]:
    """Return the passages that mean most nearly the same as a question, under these filters."""
    return await nearest(database, scope, query, "rank_passages", filters)


def fuse_passages(rows: Sequence[Row], near: Sequence[Row], analyser: int) -> Sequence[Any]:
    """Return the passages that words have ranked, fused with those that mean the same, in the form of the former."""
    near = [row for row in near if row["analyser"] == analyser]
    if not near:
        return rows
    known = {(row["source_id"], row["position"]): dict(row) for row in (*near, *rows)}
    order = fuse(*([(row["source_id"], row["position"]) for row in some] for some in (rows, near)))
    total = max(rows[0]["found"] if rows else 0, len(order))
    ranked = zip(order, scores([row["score"] for row in rows], len(order)), strict=True)
    return [known[place] | {"score": score, "found": total} for place, score in ranked]


async def with_meaning(
    database: Database, scope: Scope, asked: SearchRequest, query: SearchQuery, wanted: Filter, found: SearchResult
) -> SearchResult:
    """Return the first hits of a search of pages fused with pages that mean the same, where no name has matched.

    The pages that follow are ranked by words, without those that were shown.
    """
    if asked.after or found.finds_names or wanted.tags or wanted.excluded_tags or wanted.title_only:
        return found
    values = {
        "statuses": list(wanted.statuses),
        "types": list(wanted.types) or None,
        "excluded_types": list(wanted.excluded_types) or None,
        "since": wanted.updated_after,
        "until": wanted.updated_before,
    }
    near = await nearest(database, scope, query, "rank_pages", values)
    return merge_hits(found, [row["page_id"] for row in near], max(1, min(asked.first, MOST)))


def merge_hits(found: SearchResult, near: Sequence[UUID], size: int) -> SearchResult:
    """Return the result with the nearest pages among its hits, as many as before or as were asked for."""
    if not near:
        return found
    by_words = {hit.page_id: hit for hit in found.hits}
    order = fuse(list(by_words), near[: max(size, len(found.hits))])
    shown = order[:size]
    values = scores([hit.score for hit in found.hits], len(shown))
    cursor = found.hits[0].cursor if found.hits else ""
    hits = tuple(
        by_words.get(page_id, SearchHit(page_id, 0.0, ""))._replace(
            score=score, cursor=cursor and cursor_after(cursor, shown[:place])
        )
        for place, (page_id, score) in enumerate(zip(shown, values, strict=True), start=1)
    )
    has_more = found.has_next_page or (bool(cursor) and len(order) > len(shown) and bool(by_words.keys() - set(shown)))
    return replace(found, hits=hits, has_next_page=has_more, total=max(found.total, len(hits)))
