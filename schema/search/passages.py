"""Search in sources, which returns passages."""

from datetime import datetime
from typing import Any

import strawberry

from db import relations
from db.access import SEARCH_RESULT
from resolvers.search.request import DEFAULT, MAX_HITS
from resolvers.search.source_search import SourceFilter, SourceSearchRequest, SourceSearchResult
from selection import Step

from ..enums import WikiSourceKind
from ..fields import Connection, OlderOwner, OwnerName, PageInfo, column, relation, source, whole
from ..pages.sections import WikiSection
from ..sources import WikiSource
from .search_hits import WikiSnippet
from .search_rows import Row, snippet, texts

passages = relations.passages
WEIGHING = 20  # cost of a search, in rows, in addition to the rows that it returns


@strawberry.type(description="A part of a source: a turn of a conversation, a list item or a paragraph.")
class WikiPassage:
    position: int = column("Position in the source, from 0.")
    text: str = column("Text of the passage.")
    heading: str = column("Heading above the passage, or empty.")
    speaker: str = column("Speaker of a turn of a conversation, or empty.")
    start_offset: int = column("Offset of its first character in the source, in Unicode code points from 0.")
    end_offset: int = column("Offset after its last character.")
    line_start: int = column("First line of the passage in the source, counted from 1.")
    line_end: int = column("Last line of the passage.")
    captured_at: datetime = column("Capture time of the source.")
    source: WikiSource = relation(passages.source, "Source of the passage.")
    sections: Connection[WikiSection] = relation(
        passages.citing_sections, "Sections that cite lines of the passage, or the whole source."
    )


@strawberry.type(description="A found passage with its cursor.")
class WikiPassageEdge:
    cursor: str = column("Cursor of the passage in these results.")
    score: float = column("Relevance score. Comparable within one search only.")
    snippet: WikiSnippet | None = relation(relations.search.snippet, "Most relevant part of the passage.")
    node: WikiPassage = relation(passages.node, "The passage.")
    superseded_by: WikiPassage | None = relation(
        passages.superseded_by, "Newer found passage that supersedes this one."
    )


@strawberry.type(description="One page of found passages, best first. Pagination is forward only.")
class WikiPassageConnection:
    edges: list[WikiPassageEdge] = whole(passages.edges, "The found passages with their cursors, scores and snippets.")
    nodes: list[WikiPassage] = whole(passages.nodes, "Found passages without cursors.")
    page_info: PageInfo = relation(relations.search.page_info, "Position of this page in the results.")
    total_count: int = column("Number of found passages, or a lower bound of it.")
    total_is_exact: bool = column("Whether totalCount is exact. Otherwise it is a lower bound.")
    did_you_mean: str | None = column(
        "Query that was searched instead, if a word was misspelt or no passage contains the phrase."
    )


@strawberry.input(description="Filter for sources. Omitted fields do not restrict the results.")
class WikiSourceSearchFilter:
    kinds: list[WikiSourceKind] | None = strawberry.field(default=None, description="Kinds of the sources.")
    refs: list[str] | None = strawberry.field(default=None, description="Refs of the sources.")
    captured_after: datetime | None = strawberry.field(
        default=None, description="Only sources captured at or after this time."
    )
    captured_before: datetime | None = strawberry.field(
        default=None, description="Only sources captured before this time."
    )


async def find_passages(
    context: Any,
    parent: Any,
    wanted: frozenset[str],
    query: str,
    first: int | None = None,
    filter: dict[str, Any] | None = None,
    after: str | None = None,
    **where: str | None,
) -> list[Row]:
    request = SourceSearchRequest(
        text=query,
        first=DEFAULT if first is None else min(first, MAX_HITS),
        after=after,
        filter=source_filter_of(filter or {}),
        owner_id=await context.owner_named(where),
        with_snippets="snippet" in wanted,
    )
    return [results_row(await context.search_sources(request), request)]


def source_filter_of(input: dict[str, Any]) -> SourceFilter:
    """Return the filter from an input object, whose fields have their GraphQL names."""
    return SourceFilter(
        kinds=texts(input.get("kinds")),
        refs=texts(input.get("refs")),
        captured_after=input.get("capturedAfter"),
        captured_before=input.get("capturedBefore"),
    )


def results_row(found: SourceSearchResult, request: SourceSearchRequest) -> Row:
    """Return the row of the results, in the order of the columns of db.relations.search.RESULTS."""
    edges = [
        {
            "place": place,
            "cursor": hit.cursor,
            "source_id": str(hit.source_id),
            "position": hit.position,
            "analyser": hit.index_number,
            "score": hit.score,
            "snippet": hit.snippet and snippet(hit.snippet),
            "newer_source_id": hit.superseded_by and str(hit.superseded_by[0]),
            "newer_position": hit.superseded_by and hit.superseded_by[1],
        }
        for place, hit in enumerate(found.hits)
    ]
    ends = (found.hits[0].cursor, found.hits[-1].cursor) if found.hits else (None, None)
    around = (found.has_next_page, request.after is not None)
    return found.did_you_mean, found.total, found.total_is_exact, *around, *ends, {"edges": edges}


RESULTS = Step(find_passages, relations.search.RESULTS, cost=WEIGHING)


@strawberry.type
class PassageQueries:
    @source(
        relations.search.results,
        (
            "Full-text search in the sources of a wiki, best passages first. Only the newest version "
            "of each source is searched. Pagination is forward only, and `first` is 50 at most."
        ),
        access=SEARCH_RESULT,
        step=RESULTS,
        max_limit=50,
        min_limit=1,
    )
    def wiki_search_sources(
        query: str,
        filter: WikiSourceSearchFilter | None = None,
        first: int | None = 20,
        after: str | None = None,
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> WikiPassageConnection: ...
