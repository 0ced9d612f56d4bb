"""Search of pages and sources in several wikis at once, with all hits in one ranked list."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from zlib import crc32

import orjson

from content.search.search_query import SearchQuery
from content.search.snippets import Snippet
from db.connection import Connection, Row
from db.database import Database
from db.scope import Scope

from ..embeddings.fusion import add_semantic_hits, find_nearest_passages, has_query_vector
from ..errors import BadInput, NotFound
from .cursor import MARK, page_mark
from .query_cache import query_cache_of
from .ranking_query import ParsedRequest, RankingQuery, parse_request, weigh
from .request import DEEPEST, DEFAULT, MAX_HITS, Filter, SearchHit, SearchRequest, SearchResult
from .search import search_wiki
from .snippets import snippets_of, with_snippets
from .source_search import (
    PassageHit,
    SourceFilter,
    SourceSearchRequest,
    SourceSearchResult,
    filter_parameters,
    search_passages,
)
from .spaces import Space, find_spaces
from .weights import FEEDBACK, PassageWeights, Weights

PAGES, SOURCES = "pages", "sources"
KINDS = (PAGES, SOURCES)
SCORE_DIGITS = 6  # decimal digits to which scores are compared
ANYTHING, ANY_SOURCE = Filter(), SourceFilter()
LONGEST = 4_000  # characters of a cursor
WEIGHTS_OF_PAGES, WEIGHTS_OF_PASSAGES = Weights(), PassageWeights()


@dataclass(frozen=True, slots=True)
class SearchAllRequest:
    """A search of pages, sources or both. `spaces` are slugs or ids; None stands for all that the caller may read.

    A filter of one kind excludes hits of the other kind, unless both filters are set.
    """

    text: str
    kinds: Sequence[str] = KINDS
    spaces: Sequence[str] | None = None
    first: int = DEFAULT
    after: str | None = None
    filter: Filter = ANYTHING
    source_filter: SourceFilter = ANY_SOURCE
    with_snippets: bool = False


class Hit(NamedTuple):
    """A page or a passage that was found, and the wiki that it belongs to."""

    found: SearchHit | PassageHit
    space: Space
    raw_score: float
    score: float

    @property
    def is_page(self) -> bool:
        return isinstance(self.found, SearchHit)

    @property
    def mark(self) -> str:
        """The mark that identifies the hit in a cursor."""
        if isinstance(self.found, SearchHit):
            return page_mark(self.found.page_id)
        return f"{crc32(b'%b%d' % (self.found.source_id.bytes, self.found.position)):08x}"


class SpaceResult(NamedTuple):
    """The results of both searches of one wiki; None for a kind that was not searched."""

    space: Space
    pages: SearchResult | None
    passages: SourceSearchResult | None

    @property
    def hits(self) -> Iterator[Hit]:
        """The hits of both kinds with comparable scores, each kind in the order of its own ranking."""
        if self.passages:
            unit = passage_unit(self.passages.weight)
            for passage in self.passages.hits:
                yield Hit(passage, self.space, passage.score / unit, passage.score / unit)
        if self.pages and self.pages.prepared:
            unit = page_unit(self.pages.prepared.ranking_query)
            for page in self.pages.hits:
                raw = page.score / unit
                yield Hit(page, self.space, raw, raw * self.space.score_boost)

    @property
    def did_you_mean(self) -> str | None:
        found = [result.did_you_mean for result in (self.pages, self.passages) if result and result.hits]
        return next(filter(None, found), None)


@dataclass(frozen=True, slots=True)
class SearchAllResult:
    """The hits of a search, the best first, with a cursor for each, and the wikis that were searched."""

    hits: tuple[Hit, ...] = ()
    cursors: tuple[str, ...] = ()
    spaces: tuple[Space, ...] = ()
    has_next_page: bool = False
    did_you_mean: str | None = None


async def search_all(database: Database, scope: Scope, request: SearchAllRequest) -> SearchAllResult:
    """Return the best pages and passages of several wikis for a request.

    Takes one statement to find the wikis, and per wiki the statements of a search of pages and of sources, because each
    wiki interprets the query by its own words and languages. Raises BadInput for filters that leave nothing to search
    or a cursor of another search, and NotFound for a wiki that the caller may not read.
    """
    parsed = await parse_request(SearchRequest(request.text, filter=request.filter))
    kinds = kinds_to_search(request, parsed.query)
    shown = read_cursor(scope, request)
    size = max(1, min(request.first, MAX_HITS))
    async with database.searching() as connection:
        spaces = await spaces_to_search(connection, scope, request.spaces, parsed.query)
    depth = min(DEEPEST, len(shown) + size + 1)
    by_meaning = await has_query_vector(database, parsed.query)
    results = [
        await search_space(database, scope, space, request, parsed, kinds, depth, by_meaning) for space in spaces
    ]
    seen = set(shown)
    remaining = [hit for hit in rank_hits(results) if hit.mark not in seen][: DEEPEST - len(shown)]
    hits = remaining[:size]
    marks = list(shown)
    cursors = []
    for hit in hits:
        marks.append(hit.mark)
        cursors.append(make_cursor(scope, request, marks))
    if request.with_snippets:
        async with database.searching() as connection:
            hits = await add_snippets(connection, scope, results, hits)
    suggestions = (result.did_you_mean for result in results)
    return SearchAllResult(
        hits=tuple(hits),
        cursors=tuple(cursors),
        spaces=tuple(spaces),
        has_next_page=len(remaining) > size,
        did_you_mean=next(filter(None, suggestions), None),
    )


def kinds_to_search(request: SearchAllRequest, query: SearchQuery) -> set[str]:
    """Return the kinds to search. Raises BadInput if the kinds and the filters of the request exclude each other.

    A filter of one kind alone excludes the other kind, and conditions on pages in the text exclude sources.
    """
    filtered = {
        kind
        for kind, is_filtered in ((PAGES, request.filter != ANYTHING), (SOURCES, request.source_filter != ANY_SOURCE))
        if is_filtered
    }
    kinds = set(request.kinds) & (filtered or set(KINDS))
    if not request.kinds:
        raise BadInput("Name PAGES, SOURCES or both to search in, or leave it out for both.", "in")
    if not kinds:
        field = "filter" if PAGES in filtered else "sourceFilter"
        raise BadInput(f"{field} is about {filtered.pop()}, which this search leaves out: name them in `in`.", field)
    is_about_pages = query.types or query.excluded_types or query.tags or query.excluded_tags or query.statuses
    return kinds - {SOURCES} if is_about_pages or query.title_only else kinds


async def spaces_to_search(
    connection: Connection, scope: Scope, names: Sequence[str] | None, query: SearchQuery
) -> list[Space]:
    """Return the wikis with these names, or the wiki that `owner:` in the query names.

    An `owner:` that is unknown, or not among the names, finds nothing and is no error.
    """
    if query.owner is None:
        return await find_spaces(connection, scope, names)
    try:
        (named,) = await find_spaces(connection, scope, [query.owner])
    except NotFound:
        return []
    return [named] if names is None or named in await find_spaces(connection, scope, names) else []


async def search_space(
    database: Database, scope: Scope, space: Space, request: SearchAllRequest, parsed: ParsedRequest, kinds: set[str],
    depth: int, by_meaning: bool,
) -> SpaceResult:  # fmt: skip
    """Search one wiki that the caller may read, by words and, if the query has a vector (`by_meaning`), by meaning."""
    scope = scope.in_owner(space.id)
    page_request = SearchRequest(request.text, depth, filter=request.filter, with_cursors=False)
    source_request = SourceSearchRequest(request.text, depth, filter=request.source_filter)
    wants_pages = PAGES in kinds and parsed.is_searchable
    wants_passages = SOURCES in kinds and bool(parsed.query.words.strip())
    pages, passages = None, None
    nearest: Sequence[Row] = ()
    cache = query_cache_of(database)
    if wants_passages and by_meaning:
        filters = filter_parameters(request.source_filter, parsed.query)
        nearest = await find_nearest_passages(database, scope, parsed.query, filters)
    async with database.searching() as connection:
        if wants_pages:
            pages = await search_wiki(connection, scope, page_request, cache)
        if wants_passages:
            passages = await search_passages(connection, scope, source_request, parsed.query, cache, nearest=nearest)
    if pages and by_meaning:
        pages = await add_semantic_hits(database, scope, page_request, parsed.query, parsed.filter, pages)
    return SpaceResult(space, pages, passages)


def page_unit(ranking_query: RankingQuery) -> float:
    """Return the score of a page of average length that has all words of the query in its text and no other bonus.

    Half of such pages are assumed to have the words side by side. Scores are divided by this unit, so that pages,
    passages and hits of different wikis are comparable; the order within each ranking stays.
    """
    together = (WEIGHTS_OF_PAGES.w_all + WEIGHTS_OF_PAGES.w_phrase) / 2 if ranking_query.all else 0.0
    topic = FEEDBACK / (1 - FEEDBACK) if ranking_query.feedback else 0.0
    return ranking_query.total * (1 + together + topic)


def passage_unit(total: float) -> float:
    """Return the score of a passage that has all words of the query, as the only one of its source.

    `total` is the weight of all words of the query.
    """
    bonuses = 1 + WEIGHTS_OF_PASSAGES.w_together + WEIGHTS_OF_PASSAGES.w_source + WEIGHTS_OF_PASSAGES.w_pairs / 2
    return total * bonuses * (1 + WEIGHTS_OF_PASSAGES.w_best)


def rank_hits(results: Sequence[SpaceResult]) -> list[Hit]:
    """Return the hits of all wikis, the best first. Of equal scores passages come first, then hits of the earlier wiki.

    The sort is stable, so hits of one ranking with equal scores stay in their order.
    """
    passages = [hit for result in results for hit in result.hits if not hit.is_page]
    pages = [hit for result in results for hit in result.hits if hit.is_page]
    return sorted([*passages, *pages], key=lambda hit: -round(hit.score, SCORE_DIGITS))


async def add_snippets(
    connection: Connection, scope: Scope, results: Sequence[SpaceResult], hits: Sequence[Hit]
) -> list[Hit]:
    """Return the hits with their snippets. Takes, per wiki, two statements for its pages and one for its passages."""
    shown: dict[str, SearchHit | PassageHit] = {}
    for result in results:
        space_scope = scope.in_owner(result.space.id)
        space_hits = [hit for hit in hits if hit.space == result.space]
        pages = [hit.found for hit in space_hits if isinstance(hit.found, SearchHit)]
        if pages and result.pages:
            interpreted, ranking_query, _ = result.pages.prepared
            found_pages = await with_snippets(connection, space_scope, interpreted, ranking_query, pages)
            shown |= dict(zip((hit.mark for hit in space_hits if hit.is_page), found_pages, strict=True))
        passages = [hit.found for hit in space_hits if isinstance(hit.found, PassageHit)]
        if passages and result.passages and result.passages.interpreted:
            snippets = await passage_snippets(connection, space_scope, result.passages, passages)
            found_passages = (passage._replace(snippet=snippets[passage]) for passage in passages)
            shown |= dict(zip((hit.mark for hit in space_hits if not hit.is_page), found_passages, strict=True))
    return [hit._replace(found=shown.get(hit.mark, hit.found)) for hit in hits]


async def passage_snippets(
    connection: Connection, scope: Scope, result: SourceSearchResult, passages: Sequence[PassageHit]
) -> Mapping[PassageHit, Snippet | None]:
    assert result.interpreted is not None
    texts = {passage: [("", passage.text)] for passage in passages}
    return await snippets_of(connection, scope, result.interpreted, weigh(result.interpreted)[0], texts)


def make_cursor(scope: Scope, request: SearchAllRequest, marks: Sequence[str]) -> str:
    return urlsafe_b64encode(orjson.dumps([identity(scope, request), "".join(marks)])).decode()


def read_cursor(scope: Scope, request: SearchAllRequest) -> tuple[str, ...]:
    """Return the marks of the hits before the cursor of the request. Raises BadInput for a cursor of another search."""
    if not request.after:
        return ()
    try:
        search, marks = orjson.loads(urlsafe_b64decode(request.after[:LONGEST].encode("ascii")))
        if type(marks) is not str or not 0 < len(marks) <= DEEPEST * MARK or len(marks) % MARK:
            raise ValueError
    except (ValueError, TypeError) as error:
        raise BadInput("This is not a cursor of a search.", "after") from error
    if search != identity(scope, request):
        raise BadInput("This cursor belongs to another search: ask the same question with the same filters.", "after")
    return tuple(marks[at : at + MARK] for at in range(0, len(marks), MARK))


def identity(scope: Scope, request: SearchAllRequest) -> int:
    same = replace(request, after=None, first=DEFAULT, with_snippets=False)
    return crc32(f"{scope.tenant_id}{scope.owner_id}{same}".encode(errors="surrogatepass"))
