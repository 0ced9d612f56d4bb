"""Full-text search of the pages of a wiki."""

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any
from uuid import UUID

from content.search.search_query import SearchQuery, without_exclusions
from content.search.words import ANALYSERS
from db.connection import Connection, Row
from db.database import Database
from db.scope import Scope

from ..auth.owners import find_owner
from ..embeddings.fusion import add_semantic_hits, searches_by_meaning
from ..errors import BadInput, NotFound
from ..permissions import Action, authorise
from .cursor import make_cursor, page_mark, read_cursor
from .interpretation import InterpretedQuery, interpret_query
from .query_cache import PreparedQuery, QueryCache, query_cache_of
from .ranking_query import (
    RANKING,
    SHORT_QUESTION,
    ParsedRequest,
    RankingQuery,
    build_ranking_query,
    parse_request,
    required_query,
)
from .request import DEEPEST, SearchHit, SearchRequest, SearchResult
from .snippets import is_switch, with_snippets
from .weights import COUNTED, WEIGHTS

PARTS = ("in_text", "in_names", "named", "together", "heading", "begun", "linked", "topic")
SWITCH_CANDIDATES = 3  # best pages or passages that are read to tell a command-line switch from an exclusion
NAMES_SHARE_MIN = 0.25  # share of the text score that the names of a page must score for the page to count as named
ENOUGH_HITS = 10  # hits; a query that finds fewer is repeated with a wider condition
EVER = (datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC))


async def search(database: Database, scope: Scope, request: SearchRequest) -> SearchResult:
    """Return the best pages for a request.

    A request without words and filters has no hits, and no statement is run for it. A wiki that the caller may not read
    has no hits either. Raises BadInput for a cursor of another search.
    """
    if not (parsed := await parse_request(request)).is_searchable:
        return SearchResult()
    try:
        scope = await in_wiki(database, scope, request.owner_id, parsed.query)
    except NotFound:
        return SearchResult()
    async with database.searching() as connection:
        result = await search_wiki(connection, scope, request, query_cache_of(database))
    return await add_semantic_hits(database, scope, request, parsed.query, parsed.filter, result)


async def search_wiki(connection: Connection, scope: Scope, request: SearchRequest, cache: QueryCache) -> SearchResult:
    """Search the scope's wiki by words. The caller may read the wiki, and the request has words or filters."""
    parsed = await parse_request(request)
    start_run = partial(SearchRun, connection, scope, cache=cache)
    if parsed.query.excluded and parsed.word_count and (plain := without_exclusions(request.text)) != request.text:
        return await search_with_switches(start_run, request, replace(request, text=plain))
    return await start_run(request, parsed).run()


async def search_with_switches(
    start_run: "Callable[[SearchRequest, ParsedRequest], SearchRun]", request: SearchRequest, plain: SearchRequest
) -> SearchResult:
    """Run a search whose text has a minus before a word, which is an exclusion or, as in `ls -Recurse`, a switch.

    It is a switch if one of the best pages for the text without exclusions (`plain`) contains the word as a switch. If
    the exclusion leaves no page with the other words, the plain search is run instead, and its text is returned as the
    suggestion. A later page of results repeats the kind of search that its cursor belongs to.
    """
    parsed = await parse_request(request)
    parsed_plain = await parse_request(plain)
    if request.after:
        try:
            return await start_run(plain, parsed_plain).run()
        except BadInput:
            return await start_run(request, parsed).run()
    best = replace(plain, first=SWITCH_CANDIDATES, with_snippets=False, with_counts=False, with_cursors=False)
    best_run = start_run(best, await parse_request(best))
    hits = (await best_run.run()).hits
    words = [word for word in parsed.query.excluded if word not in parsed_plain.query.excluded]
    if hits and await is_switch(best_run.connection, best_run.scope, words, hits):
        return await start_run(plain, parsed_plain).run()
    excluding_run = start_run(request, parsed)
    result = await excluding_run.run()
    if excluding_run.finds_enough or not hits:
        return result
    return replace(await start_run(plain, parsed_plain).run(), did_you_mean=plain.text)


async def ranking_values(
    database: Database, scope: Scope, request: SearchRequest, is_stale: bool
) -> Mapping[str, Any] | None:
    """Return the ranking parameters for the statement that reads the hits, so that it ranks them itself.

    Return None if `search` has to run first. `is_stale` says that the cached interpretation is out of date.
    """
    parsed = await parse_request(request)
    is_elsewhere = parsed.query.owner or request.owner_id not in (None, scope.owner_id)
    if is_elsewhere or parsed.query.excluded or not 0 < parsed.word_count < SHORT_QUESTION:
        return None
    if searches_by_meaning(database, parsed.query):
        return None
    cache = query_cache_of(database)
    prepared = None if is_stale else cache.find(scope, request.text, request.filter)
    if prepared is None:
        async with database.searching() as connection:
            prepared = await SearchRun(connection, scope, request, parsed, cache).prepare()
    if prepared is None or not prepared.ranking_query.is_ranked_by_one_statement:
        return None
    paging = {"size": request.first, "counted_at": prepared.interpreted.counted_at}
    return ChainMap(paging, prepared.values)


async def in_wiki(database: Database, scope: Scope, owner_id: UUID | None, query: SearchQuery) -> Scope:
    """Return the scope in the wiki that the query or the owner id names, by default the scope's own wiki.

    Raises NotFound for a wiki that the caller may not read.
    """
    if query.owner is not None:
        owner_id = (await find_owner(database, scope.tenant_id, query.owner)).id
    if owner_id in (None, scope.owner_id):
        return scope
    async with database.connection() as connection:
        await authorise(connection, scope, owner_id, Action.READ)
    return scope.in_owner(owner_id)


class SearchRun:
    """The execution of one search request in one wiki."""

    def __init__(
        self, connection: Connection, scope: Scope, request: SearchRequest, parsed: ParsedRequest, cache: QueryCache
    ) -> None:
        self.connection, self.scope, self.request, self.cache = connection, scope, request, cache
        self.query, self.filter = parsed.query, parsed.filter
        self.size = max(1, min(request.first, DEEPEST))
        self.is_wide = False
        """Whether the rows were found by the rarest word instead of combinations of words."""
        self.finds_enough = False
        """Whether a page was found that has all words of the query."""
        self.linked_ids: Sequence[UUID] = ()
        """The ids of the hits that were found by links alone."""
        self.after = read_cursor(self.identity, request.after) if request.after else None

    @cached_property
    def identity(self) -> str:
        """The text that identifies the search to which a cursor belongs."""
        return f"{self.scope.tenant_id}{self.scope.owner_id}{self.request.text}\n{self.request.filter}"

    @property
    def shown_before(self) -> tuple[str, ...]:
        """The marks of the pages that earlier pages of results have shown."""
        return self.after.shown if self.after else ()

    async def run(self) -> SearchResult:
        """Run the search, by the cached query if its word counts are still current, and return the result."""
        cached = None if self.after else self.cache.find(self.scope, self.request.text, self.request.filter)
        if cached is not None:
            rows = await self.find_rows(cached)
            if rows and rows[0]["counted_at"] == cached.interpreted.counted_at:
                return await self.make_result(cached, rows)
        prepared = await self.prepare()
        return await self.make_result(prepared, await self.find_rows(prepared)) if prepared else SearchResult()

    async def prepare(self) -> PreparedQuery | None:
        """Interpret the query in this wiki and cache it. Return None if the wiki has no index yet."""
        condition_text = " ".join([*self.query.phrases, *self.query.excluded])
        ends_in_space = self.request.text[-1:].isspace()  # then the last word is complete
        text = self.query.words + " " * ends_in_space
        interpreted = await interpret_query(self.connection, self.scope, text, condition_text, self.filter.statuses)
        if interpreted is None:
            return None
        if self.after:
            interpreted.pages, interpreted.mean_length = self.after.pages, self.after.mean_length
            interpreted.found |= self.after.found
        required = required_query(interpreted, self.filter, self.query)
        ranking_query = build_ranking_query(interpreted, text, required, self.filter.title_only)
        prepared = PreparedQuery(interpreted, ranking_query, self.values(interpreted, ranking_query))
        if ranking_query.finds_words and not self.after:
            self.cache.store(self.scope, self.request.text, self.request.filter, prepared)
        return prepared

    def values(self, interpreted: InterpretedQuery, ranking_query: RankingQuery) -> dict[str, Any]:
        """Return the parameters that all statements of this search share."""
        is_bounded = self.filter.updated_after or self.filter.updated_before
        return {
            "tenant_id": self.scope.tenant_id,
            "owner_id": self.scope.owner_id,
            "analyser": interpreted.analyser,
            "analysers": list(ANALYSERS),
            "statuses": list(self.filter.statuses),
            "strict": self.filter.strict,
            "since": (self.filter.updated_after or EVER[0]) if is_bounded else None,
            "until": (self.filter.updated_before or EVER[1]) if is_bounded else None,
            "pages": interpreted.pages,
            "length": interpreted.mean_length,
            **WEIGHTS,
            **ranking_query.values(),
        }

    async def find_rows(self, prepared: PreparedQuery) -> Sequence[Row]:
        """Return the rows for the next page of results, with at least one more row if there are more."""
        self.is_wide = False
        size = max(self.size, ENOUGH_HITS) + 1
        if not prepared.ranking_query.finds_words:
            rows = await self.list_rows(prepared.values | {"size": size})
            self.finds_enough = bool(rows)
            return rows
        seen = set(self.shown_before)
        rows = await self.rank_pages(prepared.values | {"size": size + len(seen)}, prepared.ranking_query)
        self.linked_ids = linked_ids(rows[0]) if rows else ()
        self.finds_enough = any(prepared.ranking_query.all is None or row["together"] > 0 for row in rows)
        return [row for row in rows if page_mark(row["page_id"]) not in seen]

    async def make_result(self, prepared: PreparedQuery, rows: Sequence[Row]) -> SearchResult:
        interpreted, ranking_query, values = prepared
        result = SearchResult(
            hits=tuple(self.hits(interpreted, ranking_query, rows[: self.size])),
            has_next_page=len(rows) > self.size,
            did_you_mean=interpreted.did_you_mean(self.query.words),
            prepared=prepared,
            finds_names=not ranking_query.finds_words or any(map(is_named_by_query, rows[:1])),
        )
        if self.request.with_counts:
            rare = ranking_query.wide if self.is_wide else ranking_query.rare
            result = await self.add_counts(result, values | {"rare": rare, "beside": self.linked_ids})
        if self.request.with_snippets:
            hits = await with_snippets(self.connection, self.scope, interpreted, ranking_query, result.hits)
            result = replace(result, hits=hits)
        return result

    async def rank_pages(self, values: dict[str, Any], ranking_query: RankingQuery) -> Sequence[Row]:
        """Rank the pages. If too few have several of the common words, rank those that have the rarest of the words."""
        if not (self.after and self.after.is_wide):
            rows = await self.connection.all(ranking_query.statement, **values)
            if self.after or ranking_query.wide is None:
                return rows
            if sum(row["page_id"] not in linked_ids(row) for row in rows) >= ENOUGH_HITS:
                return rows
        self.is_wide = True
        return await self.connection.all(ranking_query.statement, **values | {"rare": ranking_query.wide})

    async def list_rows(self, values: dict[str, Any]) -> Sequence[Row]:
        """Return the pages that satisfy the filters of a query without words, the last changed first."""
        values |= {
            "after_score": self.after.score if self.after else None,
            "after_page": self.after.page_id if self.after else None,
        }
        if values["required"] is not None:
            rows = await self.connection.all(RANKING["list_few"], **values)
            if not any(row["are_many"] for row in rows):
                return rows
        return await self.connection.all(RANKING["list_many"], **values)

    def hits(
        self, interpreted: InterpretedQuery, ranking_query: RankingQuery, rows: Sequence[Row]
    ) -> Iterator[SearchHit]:
        """Yield a hit for each row, with a cursor if the request asks for cursors."""
        shown = list(self.shown_before)
        for row in rows:
            if ranking_query.finds_words:
                shown.append(page_mark(row["page_id"]))
            yield SearchHit(
                page_id=row["page_id"],
                score=row["score"] if ranking_query.finds_words else 0.0,
                cursor=self.cursor_after(interpreted, row, shown) if self.request.with_cursors else "",
                matched_alias=row.get("matched_alias"),
                explanation=explanation(ranking_query, row) if self.request.explained else None,
            )

    def cursor_after(self, interpreted: InterpretedQuery, row: Row, shown: Sequence[str]) -> str:
        return make_cursor(self.identity, interpreted, row["score"], row["page_id"], shown, is_wide=self.is_wide)

    async def add_counts(self, result: SearchResult, values: dict[str, Any]) -> SearchResult:
        """Return the result with the number of pages found, and with their types and tags."""
        row = await self.connection.one(RANKING["count_pages"], **values)
        assert row is not None
        return replace(
            result,
            total=row["total"],
            total_is_exact=row["total"] < COUNTED,
            types=tuple(map(tuple, row["types"] or ())),
            tags=tuple(map(tuple, row["tags"] or ())),
        )


def is_named_by_query(row: Row) -> bool:
    """Return whether words of the query are a name of the page, or score well in its names."""
    return bool(row["named"] > 0 or row["in_names"] > NAMES_SHARE_MIN * row["in_text"])


def linked_ids(row: Row) -> Sequence[UUID]:
    """Return the ids of the hits that were found by links alone; every row has the same list."""
    return row.get("beside") or ()


def explanation(ranking_query: RankingQuery, row: Row) -> dict[str, Any]:
    """Return the parts of the score, and the weights of the terms."""
    return {"parts": {part: row[part] for part in PARTS if part in row}, "terms": ranking_query.terms}
