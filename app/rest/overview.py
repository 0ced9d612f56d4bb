"""The wiki at a glance, as markdown: its knowledge map and its activity log."""

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from starlette.responses import Response

from resolvers.knowledge.overview import DEFAULT, MOST

from ..http.responses import delivered
from .endpoint import Call, WikiRoute
from .operations import read
from .pages import capitals
from .parameters import Caller, Cursor, Types, reading

routes = APIRouter(route_class=WikiRoute, tags=["overview"])
MARKDOWN = "text/markdown"
Lines = Annotated[int, Query(ge=1, le=MOST, description="How many lines at most.")]
A_TEXT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Markdown. `Link` leads to the next part, unless this is the last one.",
        "headers": {"Link": {"description": '`<…>; rel="next"`', "schema": {"type": "string"}}},
        "content": {MARKDOWN: {"schema": {"type": "string"}}},
    }
}


@routes.get("/map", operation_id="getMap", response_class=Response, responses={**A_TEXT, **reading()})
async def knowledge_map(call: Caller, types: Types = None, limit: Lines = DEFAULT, cursor: Cursor = None) -> Response:
    """Get the knowledge map: pages by type, as links with a sentence each; stubs are marked."""
    given: dict[str, Any] = {"types": capitals(types), "first": limit, "after": cursor}
    return await answer_part(call, (await read(call, "overview", "RestMap", **given))["found"])


@routes.get("/activity", operation_id="getActivity", response_class=Response, responses={**A_TEXT, **reading()})
async def activity_log(call: Caller, limit: Lines = DEFAULT, cursor: Cursor = None) -> Response:
    """Get the activity log: what was done in the wiki, when and by whom, the newest first."""
    given: dict[str, Any] = {"first": limit, "after": cursor}
    return await answer_part(call, (await read(call, "overview", "RestLog", **given))["found"])


async def answer_part(call: Call, part: dict[str, Any]) -> Response:
    """Answer with a part, and where the next one is."""
    scope = call.request.scope
    sent = await delivered(scope, 200, f"{part['bodyMd']}\n".encode(), call.endpoint.compress_over)
    made = Response(sent.body, sent.status, media_type=None if sent.status == 304 else f"{MARKDOWN}; charset=utf-8")
    made.raw_headers.extend(sent.headers)
    if part["nextCursor"]:
        same = [pair for pair in call.request.query_params.multi_items() if pair[0] != "cursor"]
        following = urlencode([*same, ("cursor", part["nextCursor"])])
        made.headers["Link"] = f'<{call.request.url.path}?{following}>; rel="next"'
    return made
