"""The search request that a field makes, and its results as the rows that a statement starts from."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

from content.search.snippets import Snippet, html
from resolvers.search.request import DEFAULT, MOST, Filter, SearchHit, SearchRequest, SearchResult
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
    """`wanted` are the names of the fields to show, `where` may name the owner."""
    return SearchRequest(
        text=query,
        first=DEFAULT if size is None else max(1, min(size, MOST)),
        after=after,
        filter=filter_of(filter) if filter else ANYTHING,
        owner_id=await owner_named(context, where),
        with_snippets=bool(SHOWN & wanted),
        with_counts=bool(COUNTED & wanted),
        explained=explain and "explanation" in wanted,
        with_cursors=bool(CURSORS & wanted),
    )


def filter_of(given: dict[str, Any]) -> Filter:
    """Return the filter of the input as the client sent it."""
    return Filter(
        types=texts(given.get("types")),
        excluded_types=texts(given.get("excludedTypes")),
        tags=texts(given.get("tags")),
        excluded_tags=texts(given.get("excludedTags")),
        statuses=texts(given.get("statuses")),
        updated_after=given.get("updatedAfter"),
        updated_before=given.get("updatedBefore"),
        title_only=bool(given.get("titleOnly")),
        strict=bool(given.get("strict")),
    )


def texts(given: list[str] | None) -> tuple[str, ...]:
    """Return the stored texts of an enum's members."""
    from selection.compile.parameters import check_length, sendable  # slow to import, and rows need none of it

    return tuple(sendable(str(text)) for text in check_length(given or []))


async def owner_named(context: Any, where: dict[str, str | None]) -> UUID | None:
    """Return the owner of the wiki that is meant, where one is named: a slug is looked up."""
    if (name := where.get("owner")) is not None:
        found: UUID = await context.owner_named(name)
        return found
    from selection.compile.parameters import identifier

    named = (where.get(spelling) for spelling in ("owner_id", "user_id", "agent_id"))
    return next((identifier(text) for text in named if text is not None), None)


# -- rows: in the order of the columns in db.relations.search


def hit_row(hit: SearchHit, memories: list[str]) -> Row:
    shown = hit.snippet and snippet(hit.snippet)
    return hit.page_id, hit.score, hit.matched_alias, hit.section_id, shown, {"refs": memories}


def results_row(found: SearchResult, asked: SearchRequest, held: Sequence[HeldName] = ()) -> Row:
    lists = {
        "held": list(map(asdict, held)),
        "edges": [edge(place, hit) for place, hit in enumerate(found.hits)],
        "types": counts(found.types),
        "tags": counts(found.tags),
    }
    ends = (found.hits[0].cursor, found.hits[-1].cursor) if found.hits else (None, None)
    around = (found.has_next_page, asked.after is not None)
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
