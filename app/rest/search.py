"""Full-text search."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from . import shapes
from .answers import answer
from .asking import Caller, Cursor, Tags, Types, UpdatedSince, reading
from .door import WikiRoute
from .models.search import Hits
from .pages import capitals
from .reading import read

routes = APIRouter(route_class=WikiRoute, tags=["search"])
Question = Annotated[str, Query(description='Words, "a phrase", -word, type: tag: updated:>2026-01-01 in:title.')]


@routes.get("/search", operation_id="searchPages", response_model=Hits, responses=reading())
async def search(
    call: Caller,
    q: Question,
    types: Types = None,
    tags: Tags = None,
    updated_since: UpdatedSince = None,
    limit: Annotated[int, Query(ge=1, le=50)] = 20,
    cursor: Cursor = None,
) -> Response:
    """Search in the wiki, the best first."""
    asked = {
        "types": capitals(types),
        "tags": tags,
        "updatedAfter": updated_since and updated_since.isoformat(),
    }
    wanted = {name: value for name, value in asked.items() if value is not None}
    given: dict[str, Any] = {"query": q, "filter": wanted or None, "first": limit, "after": cursor}
    found = (await read(call, "search", "RestSearch", **given))["found"]
    hits = [shapes.hit(edge) for edge in found["edges"]]
    return await answer(call, shapes.listed(found, hits, did_you_mean=found["did_you_mean"]))
