"""Full-text search."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from . import responses
from .endpoint import WikiRoute
from .models import Listed, PageItem, ResponseModel, Snippet
from .operations import read
from .pages import capitals
from .parameters import Caller, Cursor, Tags, Types, UpdatedSince, reading
from .responses import answer


class SectionName(ResponseModel):
    slug: str
    heading: str


class Hit(PageItem):
    """A page that a search found. Scores are comparable within one search."""

    score: float
    matched_alias: str | None
    section: SectionName | None
    snippet: Snippet | None


class Hits(Listed):
    """`did_you_mean` is what was searched for instead, when a word had to be corrected."""

    items: list[Hit]
    did_you_mean: str | None


routes = APIRouter(route_class=WikiRoute, tags=["search"])
Question = Annotated[str, Query(description='Words, "a phrase", -word, type: tag: updated:>2026-01-01 in:title.')]


@routes.get("/search", operation_id="searchPages", response_model=Hits, responses=reading())
async def search(
    call: Caller,
    q: Question,
    types: Types = None,
    tags: Tags = None,
    updated_since: UpdatedSince = None,
    strict: Annotated[bool, Query(description="Demote pages whose sentences no cited source supports.")] = False,
    limit: Annotated[int, Query(ge=1, le=50)] = 20,
    cursor: Cursor = None,
) -> Response:
    """Search in the wiki, the best first."""
    asked = {
        "types": capitals(types),
        "tags": tags,
        "updatedAfter": updated_since and updated_since.isoformat(),
        "strict": strict or None,
    }
    wanted = {name: value for name, value in asked.items() if value is not None}
    given: dict[str, Any] = {"query": q, "filter": wanted or None, "first": limit, "after": cursor}
    found = (await read(call, "search", "RestSearch", **given))["found"]
    hits = [responses.hit(edge) for edge in found["edges"]]
    return await answer(call, responses.listed(found, hits, did_you_mean=found["did_you_mean"]))
