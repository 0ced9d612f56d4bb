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
from lib.threads import read_in_thread, run_in_thread

from ..embeddings.fusion import DEPTH, fuse_passages, near_passages
from ..errors import BadInput, NotFound
from .currentness import FOREMOST, newest_first, question_words
from .interpretation import ReadQuery, read
from .lexemes import PASSAGES, one_of, quoted
from .passages import CURRENT
from .query_cache import Memory, PassageQuestion, memory_of
from .ranking_query import query_of, rare_enough, rarest_lexemes, required_query, weigh
from .request import DEEPEST, DEFAULT, Filter, SearchRequest
from .search import ENOUGH, SWITCHED, in_wiki
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

    `reading` is the interpreted query, and `weight` the sum of the weights of its words.
    """

    hits: tuple[PassageHit, ...] = ()
    has_next_page: bool = False
    did_you_mean: str | None = None
    total: int = 0
    total_is_exact: bool = True
    reading: ReadQuery | None = None
    weight: float = 1.0


async def search_sources(database: Database, scope: Scope, asked: SourceSearchRequest) -> SourceSearchResult:
    """Return the best passages for a request; a request without words has no hits, and no statement is run for it.

    If no passage has the phrases of a query that has other words too, the phrases are searched as words, and the text
    without quotes is returned as the suggestion. A wiki that the caller may not read has no hits. Raises BadInput for a
    cursor of another search.
    """
    query = await query_of(asked.text)
    start = read_cursor(asked)
    if not query.words.strip():
        return SourceSearchResult()
    try:
        scope = await in_wiki(database, scope, asked.owner_id, query)
    except NotFound:
        return SourceSearchResult()
    near = await near_passages(database, scope, query, filters(asked.filter, query))
    memory = memory_of(database)
    async with database.searching() as connection:
        found = await search_passages(connection, scope, asked, query, memory, start, near)
        if found.total or not asks_beside_phrases(query):
            return found
        plain = await search_as(connection, scope, asked, replace(query, phrases=()), start, memory, near)
        return replace(plain, did_you_mean=without_quotes(asked.text)) if plain.total else found


def asks_beside_phrases(query: SearchQuery) -> bool:
    """Return whether a query has phrases and other words."""
    return bool(query.phrases) and len(words(query.words)) > len(words(" ".join(query.phrases)))


async def search_passages(
    connection: Connection,
    scope: Scope,
    asked: SourceSearchRequest,
    query: SearchQuery,
    memory: Memory,
    start: int = 0,
    near: Sequence[Row] = (),
) -> SourceSearchResult:
    """Search the sources of the scope's wiki, which the caller may read. `near` are the hits of semantic search.

    As in a search of pages, a minus before a word is part of a command-line switch if one of the best passages has the
    word as a switch. If the exclusion leaves no passage, the text without it is searched and returned as the
    suggestion.
    """
    run = partial(search_as, connection, scope, memory=memory, near=near)
    if not query.excluded or (text := without_exclusions(asked.text)) == asked.text:
        return await run(asked, query, start)
    plain = await query_of(text)
    best = (await run(replace(asked, first=SWITCHED, with_snippets=False), plain, 0)).hits
    words = [word for word in query.excluded if word not in plain.excluded]
    if is_switch_in((hit.text for hit in best), words):
        return await run(asked, plain, start)
    excluding = await run(asked, query, start)
    if excluding.total or not best:
        return excluding
    return replace(await run(asked, plain, start), did_you_mean=text)


async def search_as(
    connection: Connection,
    scope: Scope,
    asked: SourceSearchRequest,
    query: SearchQuery,
    start: int,
    memory: Memory,
    near: Sequence[Row],
) -> SourceSearchResult:
    """Search the passages for a parsed query, by the cached interpretation if its word counts are still current."""
    besides = " ".join([*query.phrases, *query.excluded])
    text = query.words + " " * asked.text[-1:].isspace()
    kept = memory.find_for_passages(scope, text, besides)
    if kept is not None and (
        result := await fetch_results(connection, scope, asked, kept, query, start, near, is_kept=True)
    ):
        return result
    reading = await read(connection, scope, text, besides, (CURRENT,), offset=PASSAGES)
    if reading is None:
        return SourceSearchResult()
    question = passage_question(reading)
    memory.keep_for_passages(scope, text, besides, question)
    result = await fetch_results(connection, scope, asked, question, query, start, near)
    assert result is not None
    return result


async def fetch_results(
    connection: Connection,
    scope: Scope,
    asked: SourceSearchRequest,
    question: PassageQuestion,
    query: SearchQuery,
    start: int,
    near: Sequence[Row] = (),
    *,
    is_kept: bool = False,
) -> SourceSearchResult | None:
    """Rank the passages, fuse them with the `near` ones, and return the page of results that the request asks for.

    Return None if a cached interpretation (`is_kept`) is out of date or finds nothing, so that the caller makes it
    anew.
    """
    size = max(1, min(asked.first, DEEPEST))
    reading = question.reading
    values = {
        "tenant_id": scope.tenant_id,
        "owner_id": scope.owner_id,
        "analyser": reading.analyser,
        "analysers": [each + PASSAGES for each in ANALYSERS],
        "size": max(start + size + 1, FOREMOST, DEPTH if near else 0),
        "length": reading.mean_length,
        "required": required_query(reading, Filter(), query),
        **filters(asked.filter, query),
        **question.lexical,
        **await time_parameters(query.words, reading.languages),
        **PASSAGE_WEIGHTS,
    }
    ranking = await rank_passages(connection, question, values)
    if is_kept and not (ranking and ranking[0]["counted_at"] == reading.counted_at):
        return None
    rows = fuse_passages(ranking, near, reading.analyser)
    size_of_texts = sum(len(row["text"]) for row in rows[:FOREMOST])
    passages = await read_in_thread(size_of_texts, newest_first, rows, question.words)
    total = passages[0].found if passages else 0
    search = identity(asked)
    hits = tuple(
        PassageHit(
            row.source_id, row.position, reading.analyser, row.score, row.text, make_cursor(search, place),
            superseded_by=row.superseded_by,
        )
        for place, row in enumerate(passages[start : start + size], start + 1)
    )  # fmt: skip
    if asked.with_snippets:
        texts = {hit: [("", hit.text)] for hit in hits}
        shown = await snippets_of(connection, scope, reading, question.weights, texts)
        hits = tuple(hit._replace(snippet=shown[hit]) for hit in hits)
    return SourceSearchResult(
        hits=hits,
        has_next_page=len(passages) > start + size,
        did_you_mean=reading.did_you_mean(query.words),
        total=total,
        total_is_exact=total < PASSAGE_BUDGET,
        reading=reading,
        weight=values["total"],
    )


async def time_parameters(text: str, languages: Sequence[str]) -> dict[str, Any]:
    """Return the parameters for the times that the query names, relative to the current time."""
    if names_no_time(text, languages):
        named = []
    else:
        named = await run_in_thread(find_times, text, languages, datetime.now(UTC))
    return {
        "times_since": [one.since for one in named],
        "times_until": [one.until for one in named],
        "time_weights": [one.weight for one in named],
    }


async def matching_refs(
    database: Database, scope: Scope, asked: SearchRequest, page_ids: Sequence[UUID]
) -> dict[UUID, list[str]]:
    """Return, for each of these pages, the refs of its cited sources that have words of the query."""
    query = await query_of(asked.text)
    if not page_ids or not query.words.strip():
        return {}
    scope = await in_wiki(database, scope, asked.owner_id, query)
    async with database.searching() as connection:
        besides = " ".join([*query.phrases, *query.excluded])
        reading = await read(connection, scope, query.words, besides, (CURRENT,), offset=PASSAGES)
        if reading is None:
            return {}
        rows = await connection.all(
            RANKING["find_matching_refs"], tenant_id=scope.tenant_id, owner_id=scope.owner_id,
            analyser=reading.analyser, page_ids=list(page_ids), rare=passage_question(reading).rare, most=MATCHING_MAX,
        )  # fmt: skip
    return {row["page_id"]: row["refs"] for row in rows}


def filters(wanted: SourceFilter, query: SearchQuery) -> dict[str, Any]:
    return {
        "kinds": list(wanted.kinds) or None,
        "refs": list(wanted.refs) or None,
        "since": max(filter(None, (wanted.captured_after, query.updated_after)), default=None),
        "until": min(filter(None, (wanted.captured_before, query.updated_before)), default=None),
    }


def passage_question(reading: ReadQuery) -> PassageQuestion:
    """Build the ranking parameters of an interpreted query."""
    weights, _ = weigh(reading)
    rarest = sorted(weights, key=lambda lexeme: (max(1, reading.found[lexeme]), lexeme))
    return PassageQuestion(
        reading,
        weights,
        lexical(reading, weights),
        question_words(reading),
        rare_enough(reading, rarest, PASSAGE_BUDGET),
        rarest_lexemes(reading, rarest, PASSAGE_BUDGET),
    )


def lexical(reading: ReadQuery, weights: dict[str, float]) -> dict[str, Any]:
    """Return the parameters for the words of the query: weights of the lexemes, and of pairs of adjacent words."""
    heavy = sorted(weights, key=lambda lexeme: (-weights[lexeme], lexeme))[:HEAVIEST]
    meant = [tuple(lexeme for option in options for lexeme in option.lexemes) for options in reading.options]
    spoken = [group for group in meant if group]
    pairs = [(one, other) for one, other in pairwise(meant) if one and other]
    idle = reading.idle_among(reading.words)
    named = [lexeme for word, group in zip(reading.words, meant, strict=True) if word not in idle for lexeme in group]
    lexemes = [f"{quoted(lexeme)}:BCD" for lexeme in heavy]
    names = [f"{quoted(lexeme)}:A" for lexeme in dict.fromkeys(named)][:HEAVIEST]
    side_by_side = [f"{one_of(one)}<->{one_of(other)}" for one, other in pairs]
    return {
        "lexemes": lexemes,
        "weights": [weights[lexeme] for lexeme in heavy],
        "any": "|".join(lexemes) or None,
        "total": sum(heaviest(weights, group) for group in set(spoken)) or 1.0,
        "names": names,
        "speaker": "|".join(names) or None,
        "pairs": side_by_side,
        "any_pair": "|".join(side_by_side) or None,
        "pair_weights": [(heaviest(weights, one) + heaviest(weights, other)) / 2 for one, other in pairs],
    }


def heaviest(weights: dict[str, float], group: Sequence[str]) -> float:
    return max(weights[lexeme] for lexeme in group)


async def rank_passages(connection: Connection, question: PassageQuestion, values: dict[str, Any]) -> Sequence[Row]:
    """Rank the passages. If too few have several of the common words, rank those that have the rarest of the words."""
    rows = await connection.all(RANKING["rank_passages"], **values, rare=question.rare)
    if len(rows) >= ENOUGH or question.wide is None:
        return rows
    return await connection.all(RANKING["rank_passages"], **values, rare=question.wide)


def make_cursor(search: int, place: int) -> str:
    return urlsafe_b64encode(orjson.dumps([search, place])).decode()


def read_cursor(asked: SourceSearchRequest) -> int:
    """Return the number of passages before the cursor of the request; raise BadInput for a cursor of another search."""
    if not asked.after:
        return 0
    try:
        search, place = orjson.loads(urlsafe_b64decode(asked.after[:CURSOR_MAX].encode("ascii")))
        if type(place) is not int or not 0 < place <= 5 * PASSAGE_BUDGET:
            raise ValueError
    except (ValueError, TypeError) as error:
        raise BadInput("This is not a cursor of a search.", "after") from error
    if search != identity(asked):
        raise BadInput("This cursor belongs to another search: ask the same question with the same filters.", "after")
    return place


def identity(asked: SourceSearchRequest) -> int:
    return crc32(f"{asked.owner_id}{asked.text}\n{asked.filter}".encode(errors="surrogatepass"))
