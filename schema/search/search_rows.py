"""Make the search request of a field, and turn its results into the rows from which a statement starts."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from content.search.snippets import Snippet, html
from resolvers.search.request import DEFAULT, MAX_HITS, Filter, SearchHit, SearchRequest, SearchResult
from resolvers.sources.held_names import HeldName

Row = tuple[Any, ...]
ANYTHING = Filter()
COUNTED = {"totalCount", "totalIsExact", "facets"}
SHOWN = {"snippet", "section"}
CURSORS = {"cursor", "startCursor", "endCursor"}


async def search_request(
    context: Any,
    wanted: frozenset[str],
    query: str,
    size: int | None,
    filter: dict[str, Any] | None,
    where: dict[str, str | None],
    after: str | None = None,
    explain: bool = False,
) -> SearchRequest:
    """Return a search request. `wanted` are the names of the selected fields, and `where` may name the owner."""
    return SearchRequest(
        text=query,
        first=DEFAULT if size is None else max(1, min(size, MAX_HITS)),
        after=after,
        filter=filter_of(filter) if filter else ANYTHING,
        owner_id=await context.owner_named(where),
        with_snippets=bool(SHOWN & wanted),
        with_counts=bool(COUNTED & wanted),
        explained=explain and "explanation" in wanted,
        with_cursors=bool(CURSORS & wanted),
    )


def filter_of(input: dict[str, Any]) -> Filter:
    """Return the filter from an input object, whose fields have their GraphQL names."""
    return Filter(
        types=texts(input.get("types")),
        excluded_types=texts(input.get("excludedTypes")),
        tags=texts(input.get("tags")),
        excluded_tags=texts(input.get("excludedTags")),
        statuses=texts(input.get("statuses")),
        updated_after=input.get("updatedAfter"),
        updated_before=input.get("updatedBefore"),
        title_only=bool(input.get("titleOnly")),
        strict=bool(input.get("strict")),
    )


def texts(values: list[str] | None) -> tuple[str, ...]:
    """Return the values of a list from the input, checked for their number and for what can be stored."""
    from selection.compile.parameters import (  # slow to import, and making rows does not need it
        check_length,
        check_text,
    )

    return tuple(check_text(str(text)) for text in check_length(values or []))


# -- rows, in the order of the columns in db.relations.search


def hit_row(hit: SearchHit, memories: list[str]) -> Row:
    shown = hit.snippet and snippet(hit.snippet)
    return hit.page_id, hit.score, hit.matched_alias, hit.section_id, shown, {"refs": memories}


def results_row(found: SearchResult, request: SearchRequest, held_names: Sequence[HeldName] = ()) -> Row:
    lists = {
        "held": list(map(asdict, held_names)),
        "edges": [edge(place, hit) for place, hit in enumerate(found.hits)],
        "types": counts(found.types),
        "tags": counts(found.tags),
    }
    ends = (found.hits[0].cursor, found.hits[-1].cursor) if found.hits else (None, None)
    around = (found.has_next_page, request.after is not None)
    return found.did_you_mean, found.total, found.total_is_exact, *around, *ends, lists


def edge(place: int, hit: SearchHit) -> dict[str, Any]:
    return {
        "place": place,
        "cursor": hit.cursor,
        "page_id": str(hit.page_id),
        "score": hit.score,
        "matched_alias": hit.matched_alias,
        "section_id": hit.section_id and str(hit.section_id),
        "snippet": hit.snippet and snippet(hit.snippet),
        "explanation": hit.explanation and explanation(hit.explanation),
    }


def snippet(found: Snippet) -> dict[str, Any]:
    highlights = [{"start": start, "length": length} for start, length in found.highlights]
    return {"text": found.text, "html": html(found), "highlights": highlights}


def explanation(found: dict[str, Any]) -> dict[str, Any]:
    parts = [{"name": name, "value": value} for name, value in found["parts"].items()]
    return {"parts": parts, "terms": found["terms"]}


def counts(found: tuple[tuple[str, int], ...]) -> list[dict[str, Any]]:
    return [{"value": value, "count": count} for value, count in found]
