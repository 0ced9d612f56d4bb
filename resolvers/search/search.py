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
from ..embeddings.fusion import with_meaning
from ..errors import BadInput, NotFound
from ..permissions import Action, authorise
from .cursor import make_cursor, page_mark, read_cursor
from .interpretation import ReadQuery, read
from .query_cache import Memory, Understood, memory_of
from .ranking_query import RANKING, SHORT_QUESTION, Meaning, RankedQuery, meaning, question
from .ranking_query import required_query as required_query
from .request import DEEPEST, SearchHit, SearchRequest, SearchResult
from .snippets import is_switch, with_snippets
from .weights import COUNTED, WEIGHTS

PARTS = ("in_text", "in_names", "named", "together", "heading", "begun", "linked", "topic")
SWITCHED = 3  # best pages or passages that are read to tell a command-line switch from an exclusion
NAMES_LEAST = 0.25  # share of the text score that the names of a page must score for the page to count as named
ENOUGH = 10  # hits; a query that finds fewer is repeated with a wider condition
EVER = (datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC))


async def search(database: Database, scope: Scope, asked: SearchRequest) -> SearchResult:
    """Return the best pages for a request.

    A request without words and filters has no hits, and no statement is run for it. A wiki that the caller may not read
    has no hits either. Raises BadInput for a cursor of another search.
    """
    if not (meant := await meaning(asked)).says_anything:
        return SearchResult()
    try:
        scope = await in_wiki(database, scope, asked.owner_id, meant.query)
    except NotFound:
        return SearchResult()
    async with database.searching() as connection:
        found = await search_wiki(connection, scope, asked, memory_of(database))
    return await with_meaning(database, scope, asked, meant.query, meant.wanted, found)


async def search_wiki(connection: Connection, scope: Scope, asked: SearchRequest, memory: Memory) -> SearchResult:
    """Search the scope's wiki by words. The caller may read the wiki, and the request has words or filters."""
    meant = await meaning(asked)
    run = partial(SearchRun, connection, scope, memory=memory)
    if meant.query.excluded and meant.words and (plain := without_exclusions(asked.text)) != asked.text:
        return await with_switches(run, asked, replace(asked, text=plain))
    return await run(asked, meant).run()


async def with_switches(
    run: "Callable[[SearchRequest, Meaning], SearchRun]", asked: SearchRequest, plain: SearchRequest
) -> SearchResult:
    """Run a search whose text has a minus before a word, which is an exclusion or, as in `ls -Recurse`, a switch.

    It is a switch if one of the best pages for the text without exclusions (`plain`) contains the word as a switch. If
    the exclusion leaves no page with the other words, the plain search is run instead, and its text is returned as the
    suggestion. A later page of results repeats the kind of search that its cursor belongs to.
    """
    meant = await meaning(asked)
    meant_plain = await meaning(plain)
    if asked.after:
        try:
            return await run(plain, meant_plain).run()
        except BadInput:
            return await run(asked, meant).run()
    best = replace(plain, first=SWITCHED, with_snippets=False, with_counts=False, with_cursors=False)
    first = run(best, await meaning(best))
    hits = (await first.run()).hits
    words = [word for word in meant.query.excluded if word not in meant_plain.query.excluded]
    if hits and await is_switch(first.connection, first.scope, words, hits):
        return await run(plain, meant_plain).run()
    excluding = run(asked, meant)
    found = await excluding.run()
    if excluding.finds_enough or not hits:
        return found
    return replace(await run(plain, meant_plain).run(), did_you_mean=plain.text)


async def cached_values(
    database: Database, scope: Scope, asked: SearchRequest, again: bool
) -> Mapping[str, Any] | None:
    """Return the ranking parameters for the statement that reads the hits, so that it ranks them itself.

    Return None if `search` has to run first. `again` says that the cached interpretation of the query is out of date.
    """
    meant = await meaning(asked)
    is_elsewhere = meant.query.owner or asked.owner_id not in (None, scope.owner_id)
    if is_elsewhere or meant.query.excluded or not 0 < meant.words < SHORT_QUESTION:
        return None
    memory = memory_of(database)
    understood = None if again else memory.find(scope, asked.text, asked.filter)
    if understood is None:
        async with database.searching() as connection:
            understood = await SearchRun(connection, scope, asked, meant, memory).understood()
    if understood is None or not understood.question.is_ranked_at_once:
        return None
    own = {"size": asked.first, "counted_at": understood.reading.counted_at}
    return ChainMap(own, understood.values)


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
        self, connection: Connection, scope: Scope, asked: SearchRequest, meant: Meaning, memory: Memory
    ) -> None:
        self.connection, self.scope, self.asked, self.memory = connection, scope, asked, memory
        self.query, self.wanted = meant.query, meant.wanted
        self.size = max(1, min(asked.first, DEEPEST))
        self.is_wide = self.finds_enough = False
        self.beside: Sequence[UUID] = ()
        """The ids of the hits that were found by links alone."""
        self.behind = read_cursor(self.identity, asked.after) if asked.after else None

    @cached_property
    def identity(self) -> str:
        """Return the text that identifies the search to which a cursor belongs."""
        return f"{self.scope.tenant_id}{self.scope.owner_id}{self.asked.text}\n{self.asked.filter}"

    @property
    def shown_before(self) -> tuple[str, ...]:
        """The marks of the pages that earlier pages of results have shown."""
        return self.behind.shown if self.behind else ()

    async def run(self) -> SearchResult:
        """Run the search, by the cached query if its word counts are still current, and return the result."""
        kept = None if self.behind else self.memory.find(self.scope, self.asked.text, self.asked.filter)
        if kept is not None:
            rows = await self.rows(kept)
            if rows and rows[0]["counted_at"] == kept.reading.counted_at:
                return await self.make_result(kept, rows)
        understood = await self.understood()
        return await self.make_result(understood, await self.rows(understood)) if understood else SearchResult()

    async def understood(self) -> Understood | None:
        """Interpret the query in this wiki and cache it. Return None if the wiki has no index yet."""
        besides = " ".join([*self.query.phrases, *self.query.excluded])
        text = self.query.words + " " * self.asked.text[-1:].isspace()  # a final space says that the last word is whole
        reading = await read(self.connection, self.scope, text, besides, self.wanted.statuses)
        if reading is None:
            return None
        if self.behind:
            reading.pages, reading.mean_length = self.behind.pages, self.behind.mean_length
            reading.found |= self.behind.found
        required = required_query(reading, self.wanted, self.query)
        asked = question(reading, text, required, self.wanted.title_only)
        understood = Understood(reading, asked, self.values(reading, asked))
        if asked.finds_words and not self.behind:
            self.memory.keep(self.scope, self.asked.text, self.asked.filter, understood)
        return understood

    def values(self, reading: ReadQuery, asked: RankedQuery) -> dict[str, Any]:
        """Return the parameters that all statements of this search share."""
        is_bounded = self.wanted.updated_after or self.wanted.updated_before
        return {
            "tenant_id": self.scope.tenant_id,
            "owner_id": self.scope.owner_id,
            "analyser": reading.analyser,
            "analysers": list(ANALYSERS),
            "statuses": list(self.wanted.statuses),
            "strict": self.wanted.strict,
            "since": (self.wanted.updated_after or EVER[0]) if is_bounded else None,
            "until": (self.wanted.updated_before or EVER[1]) if is_bounded else None,
            "pages": reading.pages,
            "length": reading.mean_length,
            **WEIGHTS,
            **asked.values(),
        }

    async def rows(self, understood: Understood) -> Sequence[Row]:
        self.is_wide = False
        size = max(self.size, ENOUGH) + 1
        if not understood.question.finds_words:
            rows = await self.list_rows(understood.values | {"size": size})
            self.finds_enough = bool(rows)
            return rows
        seen = set(self.shown_before)
        rows = await self.rank_pages(understood.values | {"size": size + len(seen)}, understood.question)
        self.beside = beside(rows[0]) if rows else ()
        self.finds_enough = any(understood.question.all is None or row["together"] > 0 for row in rows)
        return [row for row in rows if page_mark(row["page_id"]) not in seen]

    async def make_result(self, understood: Understood, rows: Sequence[Row]) -> SearchResult:
        reading, asked, values = understood
        found = SearchResult(
            hits=tuple(self.hits(reading, asked, rows[: self.size])),
            has_next_page=len(rows) > self.size,
            did_you_mean=reading.did_you_mean(self.query.words),
            understood=understood,
            finds_names=not asked.finds_words or any(map(is_called_so, rows[:1])),
        )
        if self.asked.with_counts:
            rare = asked.wide if self.is_wide else asked.rare
            found = await self.add_counts(found, values | {"rare": rare, "beside": self.beside})
        if self.asked.with_snippets:
            found = replace(found, hits=await with_snippets(self.connection, self.scope, reading, asked, found.hits))
        return found

    async def rank_pages(self, values: dict[str, Any], asked: RankedQuery) -> Sequence[Row]:
        """Rank the pages. If too few have several of the common words, rank those that have the rarest of the words."""
        if not (self.behind and self.behind.is_wide):
            rows = await self.connection.all(asked.ranking, **values)
            if self.behind or asked.wide is None or sum(row["page_id"] not in beside(row) for row in rows) >= ENOUGH:
                return rows
        self.is_wide = True
        return await self.connection.all(asked.ranking, **values | {"rare": asked.wide})

    async def list_rows(self, values: dict[str, Any]) -> Sequence[Row]:
        """Return the pages that satisfy the filters of a query without words, the last changed first."""
        behind = self.behind
        values |= {
            "after_score": behind.score if behind else None,
            "after_page": behind.page_id if behind else None,
        }
        if values["required"] is not None:
            few = await self.connection.all(RANKING["list_few"], **values)
            if not any(row["are_many"] for row in few):
                return few
        return await self.connection.all(RANKING["list_many"], **values)

    def hits(self, reading: ReadQuery, asked: RankedQuery, rows: Sequence[Row]) -> Iterator[SearchHit]:
        shown = list(self.shown_before)
        for row in rows:
            if asked.finds_words:
                shown.append(page_mark(row["page_id"]))
            yield SearchHit(
                page_id=row["page_id"],
                score=row["score"] if asked.finds_words else 0.0,
                cursor=self.cursor(reading, row, shown) if self.asked.with_cursors else "",
                matched_alias=row.get("matched_alias"),
                explanation=explanation(asked, row) if self.asked.explained else None,
            )

    def cursor(self, reading: ReadQuery, row: Row, shown: Sequence[str]) -> str:
        return make_cursor(self.identity, reading, row["score"], row["page_id"], shown, is_wide=self.is_wide)

    async def add_counts(self, found: SearchResult, values: dict[str, Any]) -> SearchResult:
        row = await self.connection.one(RANKING["count_pages"], **values)
        assert row is not None
        return replace(
            found,
            total=row["total"],
            total_is_exact=row["total"] < COUNTED,
            types=tuple(map(tuple, row["types"] or ())),
            tags=tuple(map(tuple, row["tags"] or ())),
        )


def is_called_so(row: Row) -> bool:
    """Return whether words of the query are a name of the page, or score well in its names."""
    return bool(row["named"] > 0 or row["in_names"] > NAMES_LEAST * row["in_text"])


def beside(row: Row) -> Sequence[UUID]:
    """Return the ids of the hits that were found by links alone; every row has the same list."""
    return row.get("beside") or ()


def explanation(asked: RankedQuery, row: Row) -> dict[str, Any]:
    """Return the parts of the score, and the weights of the terms."""
    return {"parts": {part: row[part] for part in PARTS if part in row}, "terms": asked.terms}
