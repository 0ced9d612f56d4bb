"""Full-text search of the passages of sources."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple
from uuid import UUID
from zlib import crc32

import orjson

from content.search.search_query import SearchQuery, without_exclusions, without_quotes
from content.search.snippets import Snippet
from content.search.times import find_times, names_no_time
from content.search.words import ANALYSERS, words
from db.connection import Connection, Row
from db.database import Database
from db.scope import Scope
from db.sql import statements
from lib.threads import offload, run_in_thread

from ..embeddings.fusion import DEPTH, find_nearest_passages, fuse_passages
from ..errors import BadInput, NotFound
from .currentness import FOREMOST, newest_first, question_words
from .interpretation import InterpretedQuery, interpret_query
from .lexemes import PASSAGES, one_of, quoted
from .passages import CURRENT
from .query_cache import PreparedPassageQuery, QueryCache, query_cache_of
from .ranking_query import parse_query, rare_enough, rarest_lexeme, required_query, weigh
from .request import DEEPEST, DEFAULT, Filter, SearchRequest
from .search import ENOUGH_HITS, SWITCH_CANDIDATES, in_wiki
from .snippets import is_switch_in, snippets_of
from .weights import HEAVIEST, PASSAGE_BUDGET, PASSAGE_WEIGHTS

RANKING = statements("search/passage_ranking")
CURSOR_MAX = 200  # characters
MATCHING_MAX = 20  # refs of matching sources per page


@dataclass(frozen=True, slots=True)
class SourceFilter:
    """The conditions on the source of a passage. An empty field is no condition."""

    kinds: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    captured_after: datetime | None = None
    captured_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class SourceSearchRequest:
    """A search of the sources of a wiki.

    `text` may have phrases, exclusions and `updated:`, which here means the time when a source was captured.
    """

    text: str
    first: int = DEFAULT
    after: str | None = None
    filter: SourceFilter = SourceFilter()
    owner_id: UUID | None = None
    with_snippets: bool = False


class PassageHit(NamedTuple):
    """A passage that was found: its source, its position there, and the number of the index that has it.

    `superseded_by` is the source and position of a newer passage that overrides it.
    """

    source_id: UUID
    position: int
    index_number: int
    score: float
    text: str
    cursor: str
    snippet: Snippet | None = None
    superseded_by: tuple[UUID, int] | None = None


@dataclass(frozen=True, slots=True)
class SourceSearchResult:
    """The hits of a search, the best first. If `total` is not exact, it is a lower bound.

    `interpreted` is the interpreted query, and `weight` the sum of the weights of its words.
    """

    hits: tuple[PassageHit, ...] = ()
    has_next_page: bool = False
    did_you_mean: str | None = None
    total: int = 0
    total_is_exact: bool = True
    interpreted: InterpretedQuery | None = None
    weight: float = 1.0


async def search_sources(database: Database, scope: Scope, request: SourceSearchRequest) -> SourceSearchResult:
    """Return the best passages for a request; a request without words has no hits, and no statement is run for it.

    If no passage has the phrases of a query that has other words too, the phrases are searched as words, and the text
    without quotes is returned as the suggestion. A wiki that the caller may not read has no hits. Raises BadInput for a
    cursor of another search.
    """
    query = await parse_query(request.text)
    start = read_cursor(request)
    if not query.words.strip():
        return SourceSearchResult()
    try:
        scope = await in_wiki(database, scope, request.owner_id, query)
    except NotFound:
        return SourceSearchResult()
    nearest = await find_nearest_passages(database, scope, query, filter_parameters(request.filter, query))
    cache = query_cache_of(database)
    async with database.searching() as connection:
        result = await search_passages(connection, scope, request, query, cache, start, nearest)
        if result.total or not has_words_beside_phrases(query):
            return result
        plain = await search_parsed(connection, scope, request, replace(query, phrases=()), start, cache, nearest)
        return replace(plain, did_you_mean=without_quotes(request.text)) if plain.total else result


def has_words_beside_phrases(query: SearchQuery) -> bool:
    """Return whether a query has phrases and other words."""
    return bool(query.phrases) and len(words(query.words)) > len(words(" ".join(query.phrases)))


async def search_passages(
    connection: Connection,
    scope: Scope,
    request: SourceSearchRequest,
    query: SearchQuery,
    cache: QueryCache,
    start: int = 0,
    nearest: Sequence[Row] = (),
) -> SourceSearchResult:
    """Search the sources of the scope's wiki, which the caller may read. `nearest` are the hits of semantic search.

    As in a search of pages, a minus before a word is part of a command-line switch if one of the best passages has the
    word as a switch. If the exclusion leaves no passage, the text without it is searched and returned as the
    suggestion.
    """
    run = partial(search_parsed, connection, scope, cache=cache, nearest=nearest)
    if not query.excluded or (text := without_exclusions(request.text)) == request.text:
        return await run(request, query, start)
    plain = await parse_query(text)
    best = (await run(replace(request, first=SWITCH_CANDIDATES, with_snippets=False), plain, 0)).hits
    words = [word for word in query.excluded if word not in plain.excluded]
    if is_switch_in((hit.text for hit in best), words):
        return await run(request, plain, start)
    result = await run(request, query, start)
    if result.total or not best:
        return result
    return replace(await run(request, plain, start), did_you_mean=text)


async def search_parsed(
    connection: Connection,
    scope: Scope,
    request: SourceSearchRequest,
    query: SearchQuery,
    start: int,
    cache: QueryCache,
    nearest: Sequence[Row],
) -> SourceSearchResult:
    """Search the passages for a parsed query, by the cached interpretation if its word counts are still current."""
    condition_text = " ".join([*query.phrases, *query.excluded])
    text = query.words + " " * request.text[-1:].isspace()
    cached = cache.find_passage_query(scope, text, condition_text)
    if cached is not None and (
        result := await fetch_results(connection, scope, request, cached, query, start, nearest, is_cached=True)
    ):
        return result
    interpreted = await interpret_query(connection, scope, text, condition_text, (CURRENT,), offset=PASSAGES)
    if interpreted is None:
        return SourceSearchResult()
    prepared = prepare_passage_query(interpreted)
    cache.store_passage_query(scope, text, condition_text, prepared)
    result = await fetch_results(connection, scope, request, prepared, query, start, nearest)
    assert result is not None
    return result


async def fetch_results(
    connection: Connection,
    scope: Scope,
    request: SourceSearchRequest,
    prepared: PreparedPassageQuery,
    query: SearchQuery,
    start: int,
    nearest: Sequence[Row] = (),
    *,
    is_cached: bool = False,
) -> SourceSearchResult | None:
    """Rank the passages, fuse them with the `nearest` ones, and return the page of results that the request asks for.

    Return None if a cached interpretation (`is_cached`) is out of date or finds nothing, so that the caller makes it
    anew.
    """
    size = max(1, min(request.first, DEEPEST))
    interpreted = prepared.interpreted
    values = {
        "tenant_id": scope.tenant_id,
        "owner_id": scope.owner_id,
        "analyser": interpreted.analyser,
        "analysers": [each + PASSAGES for each in ANALYSERS],
        "size": max(start + size + 1, FOREMOST, DEPTH if nearest else 0),
        "length": interpreted.mean_length,
        "required": required_query(interpreted, Filter(), query),
        **filter_parameters(request.filter, query),
        **prepared.word_parameters,
        **await time_parameters(query.words, interpreted.languages),
        **PASSAGE_WEIGHTS,
    }
    ranking = await rank_passages(connection, prepared, values)
    if is_cached and not (ranking and ranking[0]["counted_at"] == interpreted.counted_at):
        return None
    rows = fuse_passages(ranking, nearest, interpreted.analyser)
    size_of_texts = sum(len(row["text"]) for row in rows[:FOREMOST])
    passages = await offload(size_of_texts, newest_first, rows, prepared.words)
    total = passages[0].total if passages else 0
    search = identity(request)
    hits = tuple(
        PassageHit(
            row.source_id, row.position, interpreted.analyser, row.score, row.text, make_cursor(search, place),
            superseded_by=row.superseded_by,
        )
        for place, row in enumerate(passages[start : start + size], start + 1)
    )  # fmt: skip
    if request.with_snippets:
        texts = {hit: [("", hit.text)] for hit in hits}
        shown = await snippets_of(connection, scope, interpreted, prepared.weights, texts)
        hits = tuple(hit._replace(snippet=shown[hit]) for hit in hits)
    return SourceSearchResult(
        hits=hits,
        has_next_page=len(passages) > start + size,
        did_you_mean=interpreted.did_you_mean(query.words),
        total=total,
        total_is_exact=total < PASSAGE_BUDGET,
        interpreted=interpreted,
        weight=values["total"],
    )


async def time_parameters(text: str, languages: Sequence[str]) -> dict[str, Any]:
    """Return the parameters for the times that the query names, relative to the current time."""
    if names_no_time(text, languages):
        times = []
    else:
        times = await run_in_thread(find_times, text, languages, datetime.now(UTC))
    return {
        "times_since": [time.since for time in times],
        "times_until": [time.until for time in times],
        "time_weights": [time.weight for time in times],
    }


async def matching_refs(
    database: Database, scope: Scope, request: SearchRequest, page_ids: Sequence[UUID]
) -> dict[UUID, list[str]]:
    """Return, for each of these pages, the refs of its cited sources that have words of the query."""
    query = await parse_query(request.text)
    if not page_ids or not query.words.strip():
        return {}
    scope = await in_wiki(database, scope, request.owner_id, query)
    async with database.searching() as connection:
        condition_text = " ".join([*query.phrases, *query.excluded])
        interpreted = await interpret_query(connection, scope, query.words, condition_text, (CURRENT,), offset=PASSAGES)
        if interpreted is None:
            return {}
        rare = prepare_passage_query(interpreted).rare
        rows = await connection.all(
            RANKING["find_matching_refs"], tenant_id=scope.tenant_id, owner_id=scope.owner_id,
            analyser=interpreted.analyser, page_ids=list(page_ids), rare=rare, limit=MATCHING_MAX,
        )  # fmt: skip
    return {row["page_id"]: row["refs"] for row in rows}


def filter_parameters(source_filter: SourceFilter, query: SearchQuery) -> dict[str, Any]:
    """Return the parameters for the filter of the request and the times in the text of the query."""
    return {
        "kinds": list(source_filter.kinds) or None,
        "refs": list(source_filter.refs) or None,
        "since": max(filter(None, (source_filter.captured_after, query.updated_after)), default=None),
        "until": min(filter(None, (source_filter.captured_before, query.updated_before)), default=None),
    }


def prepare_passage_query(interpreted: InterpretedQuery) -> PreparedPassageQuery:
    """Build the ranking parameters of an interpreted query."""
    weights, _ = weigh(interpreted)
    rarest = sorted(weights, key=lambda lexeme: (max(1, interpreted.found[lexeme]), lexeme))
    return PreparedPassageQuery(
        interpreted,
        weights,
        word_parameters(interpreted, weights),
        question_words(interpreted),
        rare_enough(interpreted, rarest, PASSAGE_BUDGET),
        rarest_lexeme(interpreted, rarest, PASSAGE_BUDGET),
    )


def word_parameters(interpreted: InterpretedQuery, weights: dict[str, float]) -> dict[str, Any]:
    """Return the parameters for the words of the query: weights of the lexemes, and of pairs of adjacent words."""
    heavy = sorted(weights, key=lambda lexeme: (-weights[lexeme], lexeme))[:HEAVIEST]
    groups = [tuple(lexeme for option in options for lexeme in option.lexemes) for options in interpreted.options]
    distinct = {group for group in groups if group}
    pairs = [(first, second) for first, second in pairwise(groups) if first and second]
    stop_words = interpreted.stop_words_among(interpreted.words)
    significant = [group for word, group in zip(interpreted.words, groups, strict=True) if word not in stop_words]
    possible_names = dict.fromkeys(lexeme for group in significant for lexeme in group)
    lexemes = [f"{quoted(lexeme)}:BCD" for lexeme in heavy]
    names = [f"{quoted(lexeme)}:A" for lexeme in possible_names][:HEAVIEST]
    side_by_side = [f"{one_of(first)}<->{one_of(second)}" for first, second in pairs]
    return {
        "lexemes": lexemes,
        "weights": [weights[lexeme] for lexeme in heavy],
        "any": "|".join(lexemes) or None,
        "total": sum(heaviest(weights, group) for group in distinct) or 1.0,
        "names": names,
        "speaker": "|".join(names) or None,
        "pairs": side_by_side,
        "any_pair": "|".join(side_by_side) or None,
        "pair_weights": [(heaviest(weights, first) + heaviest(weights, second)) / 2 for first, second in pairs],
    }


def heaviest(weights: dict[str, float], group: Sequence[str]) -> float:
    return max(weights[lexeme] for lexeme in group)


async def rank_passages(
    connection: Connection, prepared: PreparedPassageQuery, values: dict[str, Any]
) -> Sequence[Row]:
    """Rank the passages. If too few have several of the common words, rank those that have the rarest of the words."""
    rows = await connection.all(RANKING["rank_passages"], **values, rare=prepared.rare)
    if len(rows) >= ENOUGH_HITS or prepared.wide is None:
        return rows
    return await connection.all(RANKING["rank_passages"], **values, rare=prepared.wide)


def make_cursor(search: int, place: int) -> str:
    return urlsafe_b64encode(orjson.dumps([search, place])).decode()


def read_cursor(request: SourceSearchRequest) -> int:
    """Return the number of passages before the cursor of the request; raise BadInput for a cursor of another search."""
    if not request.after:
        return 0
    try:
        search, place = orjson.loads(urlsafe_b64decode(request.after[:CURSOR_MAX].encode("ascii")))
        if type(place) is not int or not 0 < place <= 5 * PASSAGE_BUDGET:
            raise ValueError
    except (ValueError, TypeError) as error:
        raise BadInput("This is not a cursor of a search.", "after") from error
    if search != identity(request):
        raise BadInput("This cursor belongs to another search: ask the same question with the same filters.", "after")
    return place


def identity(request: SourceSearchRequest) -> int:
    return crc32(f"{request.owner_id}{request.text}\n{request.filter}".encode(errors="surrogatepass"))
