"""Search in the evidence: the passages of sources that answer a question."""

from datetime import datetime
from typing import Any

import strawberry

from db import relations
from db.access import FOUND_TOGETHER
from resolvers.search.request import DEFAULT, MOST
from resolvers.search.source_search import SourceFilter, SourceSearchRequest, SourceSearchResult
from selection import Step

from ..enums import WikiSourceKind
from ..fields import Connection, OlderOwner, OwnerName, PageInfo, column, relation, source, whole
from ..pages.sections import WikiSection
from ..sources import WikiSource
from .search_hits import WikiSnippet
from .search_rows import Row, owner_named, snippet, texts

passages = relations.passages
WEIGHING = 20  # rows that a search weighs besides the ones that it shows


@strawberry.type(description="A part of a source: a turn of a conversation, a list item or a paragraph.")
class WikiPassage:
    position: int = column("Its number in the source, from 0.")
    text: str = column("Its text, as the source says it.")
    heading: str = column("The heading above it, empty without one.")
    speaker: str = column("The speaker of a turn of a conversation, else empty.")
    start_offset: int = column("Its first character in the content of the source, from 0, in Unicode code points.")
    end_offset: int = column("The character behind its last one.")
    line_start: int = column("Its first line in the content of the source, from 1.")
    line_end: int = column("Its last line.")
    captured_at: datetime = column("When the evidence is from.")
    source: WikiSource = relation(passages.source, "The source that it is a part of.")
    sections: Connection[WikiSection] = relation(
        passages.citing_sections, "The sections that cite one of its lines, or its source as a whole."
    )


@strawberry.type(description="A passage that a search found, and its place in the results.")
class WikiPassageEdge:
    cursor: str = column("The place of the passage in these results.")
    score: float = column("How well it matches: comparable within one search only.")
    snippet: WikiSnippet | None = relation(relations.search.snippet, "The part of the passage that answers best.")
    node: WikiPassage = relation(passages.node, "The passage.")
    superseded_by: WikiPassage | None = relation(
        passages.superseded_by, "The newer passage that was found, too, and says that this one no longer holds."
    )


@strawberry.type(description="Some of the passages that a search found, the best first: walked forward.")
class WikiPassageConnection:
    edges: list[WikiPassageEdge] = whole(passages.edges, "The found passages with their cursors, scores and snippets.")
    nodes: list[WikiPassage] = whole(passages.nodes, "The found passages alone.")
    page_info: PageInfo = relation(relations.search.page_info, "Where this page of results lies.")
    total_count: int = column("How many passages are found in all, or at least so many.")
    total_is_exact: bool = column("Is totalCount the number, or are there at least so many?")
    did_you_mean: str | None = column(
        "The query as it was searched for, when a word had to be corrected, or no passage says its phrase."
    )


@strawberry.input(description="Conditions on the source of a found passage. What is left out does not restrict.")
class WikiSourceSearchFilter:
    kinds: list[WikiSourceKind] | None = strawberry.field(default=None, description="Of one of these kinds.")
    refs: list[str] | None = strawberry.field(default=None, description="With one of these refs.")
    captured_after: datetime | None = strawberry.field(default=None, description="Captured then or later.")
    captured_before: datetime | None = strawberry.field(default=None, description="Captured before then.")


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
    asked = SourceSearchRequest(
        text=query,
        first=DEFAULT if first is None else min(first, MOST),
        after=after,
        filter=source_filter_of(filter or {}),
        owner_id=await owner_named(context, where),
        with_snippets="snippet" in wanted,
    )
    return [results_row(await context.search_sources(asked), asked)]


def source_filter_of(given: dict[str, Any]) -> SourceFilter:
    """Return the filter of the input as the client sent it."""
    return SourceFilter(
        kinds=texts(given.get("kinds")),
        refs=texts(given.get("refs")),
        captured_after=given.get("capturedAfter"),
        captured_before=given.get("capturedBefore"),
    )


def results_row(found: SourceSearchResult, asked: SourceSearchRequest) -> Row:
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
    around = (found.has_next_page, asked.after is not None)
    return found.did_you_mean, found.total, found.total_is_exact, *around, *ends, {"edges": edges}


RESULTS = Step(find_passages, relations.search.RESULTS, cost=WEIGHING)


@strawberry.type
class PassageQueries:
    @source(
        relations.search.results,
        "Search in the sources of one wiki; the best passages first. Only the newest version of each source is "
        "searched. `first` is 50 at most, and there is no `last`.",
        access=FOUND_TOGETHER,
        step=RESULTS,
        most=50,
        least=1,
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
