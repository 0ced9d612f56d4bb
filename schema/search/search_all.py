"""Search over pages and evidence: both kinds of hits in one list, from the caller's wiki and shared spaces."""

from typing import Annotated, Any

import strawberry

from db import relations
from db.access import FOUND_TOGETHER
from resolvers.search.request import DEFAULT, MOST
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


@strawberry.type(description="A page or a passage that a search over both found, and its place in the results.")
class WikiSearchAllHit:
    cursor: str = column("The place of the hit in these results.")
    score: float = column("The rank: rawScore, for a page times the scoreBoost of its wiki.")
    raw_score: float = column(
        "How well it matches, on one scale for pages and passages of all wikis: about 1 is a text of ordinary length "
        "that says the whole question; names, headings and times weigh beyond that."
    )
    owner: WikiOwner = relation(relations.owners.of_row, "Whose wiki it lies in.")
    page: WikiPage | None = relation(relations.search.page, "The page, when a page was found.")
    passage: WikiPassage | None = relation(relations.passages.node, "The passage, when evidence was found.")
    superseded_by: WikiPassage | None = relation(
        relations.passages.superseded_by,
        "The newer passage that was found, too, and says that the one of this hit no longer holds.",
    )
    matched_alias: str | None = column("The name of the page that matched, when one did that is not the title.")
    section: WikiSection | None = relation(relations.search.section, "The section of the page that the snippet is of.")
    snippet: WikiSnippet | None = relation(relations.search.snippet, "Where it says it best.")


@strawberry.type(description="Some of the pages and passages that a search found, the best first: walked forward.")
class WikiSearchAllResults:
    hits: list[WikiSearchAllHit] = whole(search_all.edges, "The hits with their cursors and scores.")
    page_info: PageInfo = relation(relations.search.page_info, "Where this page of results lies.")
    spaces: list[WikiOwner] = whole(search_all.spaces, "The wikis that were searched.")
    did_you_mean: str | None = column("What was searched for instead, when a word had to be corrected.")


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
    asked = SearchAllRequest(
        text=query,
        kinds=KINDS if kinds is None else texts(kinds),
        spaces=None if spaces is None else texts(spaces),
        first=DEFAULT if first is None else max(1, min(first, MOST)),
        after=after,
        filter=filter_of(filter) if filter else ANYTHING,
        source_filter=source_filter_of(source_filter or {}),
        with_snippets=bool({"snippet", "section"} & wanted),
    )
    found = await context.search_all(asked)
    await context.spend(SEARCHING * max(0, len(found.spaces) * len(asked.kinds) - 1))
    return [results_row(found, asked)]


def results_row(found: SearchAllResult, asked: SearchAllRequest) -> Row:
    """Return the row of the results, in the order of the columns of db.relations.search_all.RESULTS."""
    hits = zip(found.hits, found.cursors, strict=True)
    lists = {
        "edges": [{"place": place, "cursor": cursor, **edge(hit)} for place, (hit, cursor) in enumerate(hits)],
        "spaces": [{"place": place, "id": str(space.id)} for place, space in enumerate(found.spaces)],
    }
    ends = (found.cursors[0], found.cursors[-1]) if found.cursors else (None, None)
    return found.did_you_mean, found.has_next_page, asked.after is not None, *ends, lists


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
        "Search in pages and evidence at once, in the caller's own wiki and every shared space that it may read, or in "
        "the named spaces: one list, the best first. A page counts its score times the scoreBoost of its wiki, and at "
        "equal scores evidence leads. A filter of one kind leaves the other out unless both are given; so do operators "
        "of pages, such as `type:`. `first` is 50 at most, and 200 hits can be walked through.",
        access=FOUND_TOGETHER,
        step=RESULTS,
        most=50,
        least=1,
    )
    def wiki_search_all(
        query: str,
        kinds: Annotated[
            list[WikiSearchKind] | None, strawberry.argument(name="in", description="Both when left out.")
        ] = None,
        spaces: Annotated[
            list[str] | None,
            strawberry.argument(
                description="Slugs or ids of owners whose wikis to search, 20 at most. One that the caller may not "
                "read is NOT_FOUND."
            ),
        ] = None,
        filter: WikiSearchFilter | None = None,
        source_filter: WikiSourceSearchFilter | None = None,
        first: int | None = 20,
        after: str | None = None,
        tenant_id: strawberry.ID | None = None,
    ) -> WikiSearchAllResults: ...
