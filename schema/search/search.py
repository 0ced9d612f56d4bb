"""Search: as a list, as results to walk and to narrow, and what is like a page."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import strawberry

from db import relations
from db.access import BY_ID, FOUND, FOUND_TOGETHER
from selection import Step, Within
from selection.declare.arguments import identifier

from ..enums import WikiPageStatus, WikiPageType
from ..fields import OlderOwner, OwnerName, PageInfo, column, relation, source, whole
from ..pages.pages import WikiPage
from .search_hits import MobileWikiSearchHit, WikiSearchEdge, WikiSearchHit
from .search_rows import SHOWN, Row, hit_row, results_row, search_request

search = relations.search


@strawberry.type(description="How many of the found pages are of one type.")
class WikiTypeCount:
    value: WikiPageType = column("The type, as `types` of a filter takes it.")
    count: int = column("How many.")


@strawberry.type(description="How many of the found pages have one tag.")
class WikiTagCount:
    value: str = column("The tag, as `tags` of a filter takes it.")
    count: int = column("How many.")


@strawberry.type(description="What the found pages are like, for narrowing a search.")
class WikiSearchFacets:
    types: list[WikiTypeCount] = whole(search.counts("types"), "By type, the most first.")
    tags: list[WikiTagCount] = whole(search.counts("tags"), "By tag, the most first.")


@strawberry.type(description="A name that sources say and that has no page yet.")
class WikiHeldName:
    name: str = column("As it was first seen.")
    suggested_type: WikiPageType | None = column("The type of page it would make.")
    mention_count: int = column("In how many sources it was seen.")
    evidence: float = column("Its evidence: a name gets its page with 3.")
    missing: str = column("What it lacks, as the end of a sentence.")


@strawberry.type(description="Some of what a search found, the best first: walked forward, with `first` and `after`.")
class WikiSearchConnection:
    edges: list[WikiSearchEdge] = whole(search.edges, "The found pages with their cursors, scores and snippets.")
    nodes: list[WikiPage] = whole(search.nodes, "The found pages alone.")
    page_info: PageInfo = relation(search.page_info, "Where this page of results lies.")
    total_count: int = column("How many pages are found in all, or at least so many; counted only when asked for.")
    total_is_exact: bool = column("Is totalCount the number, or are there at least so many?")
    facets: WikiSearchFacets = relation(search.facets, "What the found pages are like; counted only when asked for.")
    did_you_mean: str | None = column("What was searched for instead, when a word had to be corrected.")
    held_names: list[WikiHeldName] = whole(
        search.held_names, "Where no page is found: the names in the query that the wiki holds without a page."
    )


SEARCHING = 20  # rows that a search weighs besides what it shows: it ranks many times as many
LIKE = 10  # pages that are like another one, when nobody says how many
GRAMMAR = (
    '`query` is words, "a phrase", -word, type: tag: status: updated:>2026-01-01 in:title owner:; what is no operator '
    "is a word. `filter` says the same with types, and both hold."
)


@strawberry.input(description="What a found page must be besides. What is left out does not restrict.")
class WikiSearchFilter:
    types: list[WikiPageType] | None = strawberry.field(default=None, description="Of one of these types.")
    excluded_types: list[WikiPageType] | None = strawberry.field(default=None, description="Of none of these types.")
    tags: list[str] | None = strawberry.field(default=None, description="With all of these tags.")
    excluded_tags: list[str] | None = strawberry.field(default=None, description="With none of these tags.")
    statuses: list[WikiPageStatus] | None = strawberry.field(
        default=None, description="Of one of these; active ones when left out."
    )
    updated_after: datetime | None = strawberry.field(default=None, description="Changed then or later.")
    updated_before: datetime | None = strawberry.field(default=None, description="Changed before then.")
    title_only: bool | None = strawberry.field(default=None, description="The words must stand in its names.")
    strict: bool | None = strawberry.field(
        default=None,
        description="Demote pages that are not grounded: a score is multiplied by the share of the sentences that a "
        "cited source supports, however old, and by a half where no section cites one.",
    )


@strawberry.type(description="A page that is like another one.")
class WikiRelatedPage:
    page: WikiPage = relation(search.page, "The page.")
    score: float = column("How like it is: comparable within one list only.")


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
    is_asked = "heldNames" in wanted and not found.hits and after is None
    return [results_row(found, question, await context.find_held_names(question) if is_asked else ())]


async def find_related(
    context: Any, parent: Any, wanted: frozenset[str], page_id: str, limit: int | None = None
) -> list[Row]:
    found: list[Row] = await context.find_related(identifier(page_id), LIKE if limit is None else limit)
    return found


WITHIN = Within(find_within, search.hits_within, search.still_so, lacks=frozenset({*SHOWN, "matchingMemoryIds"}))
HITS = Step(find_hits, search.HIT, cost=SEARCHING, within=WITHIN)
RESULTS = Step(find_results, search.RESULTS, cost=SEARCHING)
RELATED = Step(find_related, search.SCORED, cost=SEARCHING)


@strawberry.type
class SearchQueries:
    @source(search.hits, f"Search in one wiki; the best first. {GRAMMAR}", access=FOUND, step=HITS, most=50, least=1)
    def wiki_search(
        tenant_id: strawberry.ID,
        query: str,
        filter: WikiSearchFilter | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> list[WikiSearchHit]: ...

    @source(search.hits, "The same search for mobile clients.", access=FOUND, step=HITS, most=50, least=1)
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
        "The same search page by page, with totals, facets and corrections. Search walks forward: `first` is 50 at "
        "most, and there is no `last`. `explain` is for admins.",
        access=FOUND_TOGETHER,
        step=RESULTS,
        most=50,
        least=1,
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
        search.hits, "Active pages of its wiki that say the like; the likest first.",
        access=BY_ID, step=RELATED, limit=LIKE, most=50, least=1,
    )  # fmt: skip
    def related_wiki_pages(page_id: strawberry.ID) -> list[WikiRelatedPage]: ...
