"""Search in pages and sources, with both kinds of hits in one list, in the caller's wiki and shared spaces."""

from typing import Annotated, Any

import strawberry

from db import relations
from db.access import SEARCH_RESULT
from resolvers.search.request import DEFAULT, MAX_HITS
from resolvers.search.search_all import KINDS, Hit, SearchAllRequest, SearchAllResult
from resolvers.search.source_search import PassageHit
from selection import Step

from ..enums import WikiSearchKind
from ..fields import PageInfo, column, relation, source, whole
from ..owners import WikiOwner
from ..pages.pages import WikiPage
from ..pages.sections import WikiSection
from .passages import WikiPassage, WikiSourceSearchFilter, source_filter_of
from .search import SEARCHING, WikiSearchFilter
from .search_hits import WikiSnippet
from .search_rows import ANYTHING, Row, filter_of, snippet, texts

search_all = relations.search_all


@strawberry.type(description="A found page or passage with its cursor.")
class WikiSearchAllHit:
    cursor: str = column("Cursor of the hit in these results.")
    score: float = column("Score for ranking: rawScore, multiplied for pages by the scoreBoost of the wiki.")
    raw_score: float = column(
        "Relevance on one scale for pages and passages of all wikis. About 1 for a text of "
        "average length that contains the whole query; matches in names, headings and dates add "
        "to it."
    )
    owner: WikiOwner = relation(relations.owners.of_row, "Owner of the wiki.")
    page: WikiPage | None = relation(relations.search.page, "Found page. Null for a passage.")
    passage: WikiPassage | None = relation(relations.passages.node, "Found passage. Null for a page.")
    superseded_by: WikiPassage | None = relation(
        relations.passages.superseded_by,
        "Newer found passage that supersedes this one.",
    )
    matched_alias: str | None = column("Alias of the page that matched, if any.")
    section: WikiSection | None = relation(relations.search.section, "Section of the snippet.")
    snippet: WikiSnippet | None = relation(relations.search.snippet, "Most relevant part of the text.")


@strawberry.type(description="One page of found pages and passages, best first. Pagination is forward only.")
class WikiSearchAllResults:
    hits: list[WikiSearchAllHit] = whole(search_all.edges, "The hits with their cursors and scores.")
    page_info: PageInfo = relation(relations.search.page_info, "Position of this page in the results.")
    spaces: list[WikiOwner] = whole(search_all.spaces, "Searched wikis.")
    did_you_mean: str | None = column("Corrected query that was searched instead, if a word was misspelt.")


async def find_all(
    context: Any,
    parent: Any,
    wanted: frozenset[str],
    query: str,
    kinds: list[str] | None = None,
    spaces: list[str] | None = None,
    filter: dict[str, Any] | None = None,
    source_filter: dict[str, Any] | None = None,
    first: int | None = None,
    after: str | None = None,
    tenant_id: str | None = None,
) -> list[Row]:
    request = SearchAllRequest(
        text=query,
        kinds=KINDS if kinds is None else texts(kinds),
        spaces=None if spaces is None else texts(spaces),
        first=DEFAULT if first is None else max(1, min(first, MAX_HITS)),
        after=after,
        filter=filter_of(filter) if filter else ANYTHING,
        source_filter=source_filter_of(source_filter or {}),
        with_snippets=bool({"snippet", "section"} & wanted),
    )
    found = await context.search_all(request)
    await context.spend(SEARCHING * max(0, len(found.spaces) * len(request.kinds) - 1))
    return [results_row(found, request)]


def results_row(found: SearchAllResult, request: SearchAllRequest) -> Row:
    """Return the row of the results, in the order of the columns of db.relations.search_all.RESULTS."""
    hits = zip(found.hits, found.cursors, strict=True)
    lists = {
        "edges": [{"place": place, "cursor": cursor, **edge(hit)} for place, (hit, cursor) in enumerate(hits)],
        "spaces": [{"place": place, "id": str(space.id)} for place, space in enumerate(found.spaces)],
    }
    ends = (found.cursors[0], found.cursors[-1]) if found.cursors else (None, None)
    return found.did_you_mean, found.has_next_page, request.after is not None, *ends, lists


def edge(hit: Hit) -> dict[str, Any]:
    found = hit.found
    shown = {"score": hit.score, "raw_score": hit.raw_score, "snippet": found.snippet and snippet(found.snippet)}
    if isinstance(found, PassageHit):
        return {
            **shown,
            "source_id": str(found.source_id),
            "position": found.position,
            "analyser": found.index_number,
            "newer_source_id": found.superseded_by and str(found.superseded_by[0]),
            "newer_position": found.superseded_by and found.superseded_by[1],
        }
    return {
        **shown,
        "page_id": str(found.page_id),
        "matched_alias": found.matched_alias,
        "section_id": found.section_id and str(found.section_id),
    }


RESULTS = Step(find_all, search_all.RESULTS, cost=SEARCHING)


@strawberry.type
class SearchAllQueries:
    @source(
        search_all.results,
        (
            "Search pages and sources together, in the caller's own wiki and all shared spaces that "
            "it can read, or in the given spaces. Returns one list, best first. Scores of pages are "
            "multiplied by the scoreBoost of their wiki. If scores are equal, passages come first. A "
            "filter for one kind excludes the other kind, unless both filters are given. Operators for "
            "pages, such as `type:`, exclude sources. `first` is 50 at most, and pagination ends after 200 hits."
        ),
        access=SEARCH_RESULT,
        step=RESULTS,
        max_limit=50,
        min_limit=1,
    )
    def wiki_search_all(
        query: str,
        kinds: Annotated[
            list[WikiSearchKind] | None,
            strawberry.argument(name="in", description="Kinds to search: pages, sources or both. Defaults to both."),
        ] = None,
        spaces: Annotated[
            list[str] | None,
            strawberry.argument(
                description=(
                    "Slugs or ids of the owners whose wikis to search, 20 at most. A wiki that the "
                    "caller cannot read is NOT_FOUND."
                )
            ),
        ] = None,
        filter: WikiSearchFilter | None = None,
        source_filter: WikiSourceSearchFilter | None = None,
        first: int | None = 20,
        after: str | None = None,
        tenant_id: strawberry.ID | None = None,
    ) -> WikiSearchAllResults: ...
