"""Search in one wiki, as a list or with pagination and facets, and pages similar to a page."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import strawberry

from db import relations
from db.access import BY_ID, SEARCH_RESULT, SEARCHED_PAGES
from selection import InlineStep, Step
from selection.compile.parameters import identifier

from ..enums import WikiPageStatus, WikiPageType
from ..fields import OlderOwner, OwnerName, PageInfo, column, relation, source, whole
from ..pages.pages import WikiPage
from .search_hits import MobileWikiSearchHit, WikiSearchEdge, WikiSearchHit
from .search_rows import SHOWN, Row, hit_row, results_row, search_request

search = relations.search


@strawberry.type(description="Number of found pages of a type.")
class WikiTypeCount:
    value: WikiPageType = column("Type, for `types` of a filter.")
    count: int = column("Number of pages.")


@strawberry.type(description="Number of found pages with a tag.")
class WikiTagCount:
    value: str = column("Tag, for `tags` of a filter.")
    count: int = column("Number of pages.")


@strawberry.type(description="Facets of the found pages, for narrowing a search.")
class WikiSearchFacets:
    types: list[WikiTypeCount] = whole(search.counts("types"), "Numbers of pages by type, most frequent first.")
    tags: list[WikiTagCount] = whole(search.counts("tags"), "Numbers of pages by tag, most frequent first.")


@strawberry.type(description="A mention: a name in sources that has no page yet.")
class WikiHeldName:
    name: str = column("Name as it was first seen.")
    suggested_type: WikiPageType | None = column("Suggested type of its page.")
    mention_count: int = column("Number of sources that contain it.")
    evidence: float = column("Evidence for the name. It is promoted to a page at 3.")
    missing: str = column(
        "Evidence that is missing for a page, as a phrase such as `one more source that says something of it`."
    )


@strawberry.type(
    description="One page of search results, best first. Pagination is forward only, with `first` and `after`."
)
class WikiSearchConnection:
    edges: list[WikiSearchEdge] = whole(search.edges, "The found pages with their cursors, scores and snippets.")
    nodes: list[WikiPage] = whole(search.nodes, "Found pages without cursors.")
    page_info: PageInfo = relation(search.page_info, "Position of this page in the results.")
    total_count: int = column("Number of found pages, or a lower bound of it. It is counted only if it is selected.")
    total_is_exact: bool = column("Whether totalCount is exact. Otherwise it is a lower bound.")
    facets: WikiSearchFacets = relation(
        search.facets, "Facets of the found pages. They are counted only if they are selected."
    )
    did_you_mean: str | None = column("Corrected query that was searched instead, if a word was misspelt.")
    held_names: list[WikiHeldName] = whole(search.held_names, "Mentions in the query, if no page is found.")


SEARCHING = 20  # cost of a search, in rows, in addition to the rows that it returns: it ranks many times as many
SIMILAR_DEFAULT = 10  # similar pages, if the request does not give a limit
GRAMMAR = (
    '`query` consists of words, "a phrase", -word and operators: type: tag: status: updated:>2026-01-01 in:title '
    "owner:. Results match both `query` and `filter`."
)


@strawberry.input(description="Filter for search results. Omitted fields do not restrict them.")
class WikiSearchFilter:
    types: list[WikiPageType] | None = strawberry.field(default=None, description="Types of the pages.")
    excluded_types: list[WikiPageType] | None = strawberry.field(
        default=None, description="Types that the pages must not have."
    )
    tags: list[str] | None = strawberry.field(default=None, description="Tags that the pages must all have.")
    excluded_tags: list[str] | None = strawberry.field(default=None, description="Tags that the pages must not have.")
    statuses: list[WikiPageStatus] | None = strawberry.field(
        default=None, description="Statuses of the pages. Defaults to active."
    )
    updated_after: datetime | None = strawberry.field(
        default=None, description="Only pages changed at or after this time."
    )
    updated_before: datetime | None = strawberry.field(default=None, description="Only pages changed before this time.")
    title_only: bool | None = strawberry.field(
        default=None, description="Whether the words must occur in titles or aliases."
    )
    strict: bool | None = strawberry.field(
        default=None,
        description=(
            "Whether to demote pages that are not grounded. Scores are multiplied by the share of "
            "sentences that a cited source supports, or by 0.5 if no section has citations."
        ),
    )


@strawberry.type(description="A similar page.")
class WikiRelatedPage:
    page: WikiPage = relation(search.page, "The page.")
    score: float = column("Similarity score. Comparable within one list only.")


async def find_hits(
    context: Any,
    parent: Any,
    wanted: frozenset[str],
    query: str,
    limit: int | None = None,
    filter: dict[str, Any] | None = None,
    **where: str | None,
) -> list[Row]:
    question = await search_request(context, wanted, query, limit, filter, where)
    found = await context.search(question)
    memories: Mapping[UUID, list[str]] = {}
    if "matchingMemoryIds" in wanted:
        memories = await context.matching_refs(question, [hit.page_id for hit in found.hits])
    return [hit_row(hit, memories.get(hit.page_id, [])) for hit in found.hits]


async def find_within(
    context: Any,
    wanted: frozenset[str],
    again: bool,
    query: str,
    limit: int | None = None,
    filter: dict[str, Any] | None = None,
    **where: str | None,
) -> Mapping[str, Any] | None:
    known: Mapping[str, Any] | None = await context.search_within(
        await search_request(context, wanted, query, limit, filter, where), again
    )
    return known


async def find_results(
    context: Any,
    parent: Any,
    wanted: frozenset[str],
    query: str,
    first: int | None = None,
    filter: dict[str, Any] | None = None,
    after: str | None = None,
    explain: bool = False,
    **where: str | None,
) -> list[Row]:
    question = await search_request(context, wanted, query, first, filter, where, after, explain)
    found = await context.search(question)
    needs_mentions = "heldNames" in wanted and not found.hits and after is None
    return [results_row(found, question, await context.find_held_names(question) if needs_mentions else ())]


async def find_related(
    context: Any, parent: Any, wanted: frozenset[str], page_id: str, limit: int | None = None
) -> list[Row]:
    found: list[Row] = await context.find_related(identifier(page_id), SIMILAR_DEFAULT if limit is None else limit)
    return found


WITHIN = InlineStep(
    find_within, search.hits_within, search.is_cache_valid, lacks=frozenset({*SHOWN, "matchingMemoryIds"})
)
HITS = Step(find_hits, search.HIT, cost=SEARCHING, within=WITHIN)
RESULTS = Step(find_results, search.RESULTS, cost=SEARCHING)
RELATED = Step(find_related, search.SCORED, cost=SEARCHING)


@strawberry.type
class SearchQueries:
    @source(
        search.hits,
        f"Full-text search in one wiki, best first. {GRAMMAR}",
        access=SEARCHED_PAGES,
        step=HITS,
        max_limit=50,
        min_limit=1,
    )
    def wiki_search(
        tenant_id: strawberry.ID,
        query: str,
        filter: WikiSearchFilter | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> list[WikiSearchHit]: ...

    @source(
        search.hits,
        "Full-text search in the format of mobile clients.",
        access=SEARCHED_PAGES,
        step=HITS,
        max_limit=50,
        min_limit=1,
    )
    def mobile_wiki_search(
        query: str,
        filter: WikiSearchFilter | None = None,
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> list[MobileWikiSearchHit]: ...

    @source(
        search.results,
        (
            "Full-text search with pagination, totals, facets and corrections. Pagination is forward "
            "only, and `first` is 50 at most. `explain` is for admins."
        ),
        access=SEARCH_RESULT,
        step=RESULTS,
        max_limit=50,
        min_limit=1,
    )
    def wiki_search_results(
        query: str,
        filter: WikiSearchFilter | None = None,
        first: int | None = 20,
        after: str | None = None,
        explain: bool = False,
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> WikiSearchConnection: ...

    @source(
        search.hits, "Similar active pages of the same wiki, most similar first.",
        access=BY_ID, step=RELATED, limit=SIMILAR_DEFAULT, max_limit=50, min_limit=1,
    )  # fmt: skip
    def related_wiki_pages(page_id: strawberry.ID) -> list[WikiRelatedPage]: ...
