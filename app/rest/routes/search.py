"""The paths of full-text search and of context packs."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from resolvers.errors import BadInput
from resolvers.search.context_pack import BUDGET, BUDGET_MAX
from schema.enums import WikiSearchKind

from .. import responses
from ..endpoint import WikiRoute
from ..models import ContextPack, Listed, PageItem, ResponseModel, Snippet, SourceName
from ..operations import read
from ..parameters import Caller, Cursor, Tags, Types, UpdatedSince, read_responses
from ..responses import answer
from .pages import enum_names


class SectionName(ResponseModel):
    slug: str
    heading: str


class SearchHit(PageItem):
    """Found page. Scores are comparable within one search."""

    score: float
    matched_alias: str | None
    section: SectionName | None
    snippet: Snippet | None


class HeldName(ResponseModel):
    """Mention: a name in sources that has no page yet. It is promoted to a page when `evidence` reaches 3."""

    name: str
    suggested_type: str | None
    mention_count: int
    evidence: float
    missing: str


class SearchHits(Listed):
    """Search results. `did_you_mean` is the corrected query, if a word was misspelt.

    `held_names` are mentions in the query, if no page is found.
    """

    items: list[SearchHit]
    did_you_mean: str | None
    held_names: list[HeldName] = Field(title="Names without a page")


class SpaceName(ResponseModel):
    """Owner whose wiki was searched."""

    id: UUID
    slug: str
    name: str


class SourcePassage(ResponseModel):
    """A passage of a source."""

    position: int
    text: str
    heading: str
    speaker: str
    line_start: int
    line_end: int
    source: SourceName


class CombinedHit(ResponseModel):
    """A page or a passage: the other one is null. `score` is `raw_score`, for a page times its wiki's score boost."""

    score: float
    raw_score: float
    owner: SpaceName
    matched_alias: str | None
    section: SectionName | None
    snippet: Snippet | None
    page: PageItem | None
    passage: SourcePassage | None


class CombinedHits(Listed):
    """Hits of a search with `in` or `space`, and the searched wikis."""

    items: list[CombinedHit]
    spaces: list[SpaceName]
    did_you_mean: str | None


routes = APIRouter(route_class=WikiRoute, tags=["search"])
Question = Annotated[
    str, Query(description='Search query: words, "a phrase", -word, type: tag: updated:>2026-01-01 in:title.')
]


SearchedKinds = Annotated[
    str | None,
    Query(alias="in", max_length=100, description="Kinds to search: pages, sources, or both, separated by a comma."),
]
Spaces = Annotated[
    list[str] | None,
    Query(
        alias="space",
        max_length=20,
        description=(
            "Slugs or ids of the owners whose wikis to search. With only `in`: this wiki and all "
            "shared spaces that the caller can read."
        ),
    ),
]


@routes.get(
    "/search", operation_id="searchPages", response_model=SearchHits | CombinedHits, responses=read_responses(404)
)
async def search(
    call: Caller,
    q: Question,
    kinds: SearchedKinds = None,
    spaces: Spaces = None,
    types: Types = None,
    tags: Tags = None,
    updated_since: UpdatedSince = None,
    strict: Annotated[
        bool, Query(description="Whether to demote pages whose sentences are not supported by cited sources.")
    ] = False,
    limit: Annotated[int, Query(ge=1, le=50)] = 20,
    cursor: Cursor = None,
) -> Response:
    """Search the wiki, best first. With `in` or `space`, also search sources, or several wikis at once."""
    filters = {
        "types": enum_names(types),
        "tags": tags,
        "updatedAfter": updated_since and updated_since.isoformat(),
        "strict": strict or None,
    }
    filter = {name: value for name, value in filters.items() if value is not None}
    variables: dict[str, Any] = {"query": q, "filter": filter or None, "first": limit, "after": cursor}
    if kinds is not None or spaces is not None:
        graphql_kinds = None if kinds is None else list(map(graphql_kind, kinds.split(",")))
        variables |= {"in": graphql_kinds, "spaces": spaces}
        found = (await read(call, "search_all", "RestSearchAll", **variables))["found"]
        combined = [responses.combined_hit(edge) for edge in found["edges"]]
        return await answer(
            call, responses.list_body(found, combined, spaces=found["spaces"], did_you_mean=found["did_you_mean"])
        )
    found = (await read(call, "search", "RestSearch", **variables))["found"]
    hits = [responses.hit(edge) for edge in found["edges"]]
    names = [responses.lower_enums(node) for node in found["held_names"]]
    return await answer(call, responses.list_body(found, hits, did_you_mean=found["did_you_mean"], held_names=names))


@routes.get("/context", operation_id="getContext", response_model=ContextPack, responses=read_responses(404))
async def get_context(
    call: Caller,
    q: Question,
    task: Annotated[str | None, Query(description="Description of the task. Pages that it names are included.")] = None,
    role: Annotated[
        str | None, Query(description="Role of the reader, such as backend. Standards for this role are included.")
    ] = None,
    budget_tokens: Annotated[
        int, Query(ge=1, le=BUDGET_MAX, description="Maximum number of tokens, of four bytes each.")
    ] = BUDGET,
    spaces: Spaces = None,
) -> Response:
    """Get context for a task, within a budget of tokens: items, and one text for a prompt."""
    variables: dict[str, Any] = {"query": q, "task": task, "role": role, "budget": budget_tokens, "spaces": spaces}
    found = (await read(call, "context", "RestContext", **variables))["found"]
    return await answer(call, found | {"items": [responses.lower_enums(item) for item in found["items"]]})


def graphql_kind(name: str) -> str:
    """Return the GraphQL name of a kind. Raises BadInput for an unknown kind."""
    try:
        return WikiSearchKind(name.strip()).name
    except ValueError:
        raise BadInput(
            f'There is no "{name.strip()[:100]}" to search in: write pages, sources or pages,sources.', "in"
        ) from None
