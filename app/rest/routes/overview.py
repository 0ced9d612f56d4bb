"""The paths with overviews of the wiki: its knowledge map and its activity log as Markdown, and its diary."""

import re
from datetime import date, datetime
from typing import Annotated, Any
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BeforeValidator
from starlette.responses import Response

from resolvers.knowledge import diary as diaries
from resolvers.knowledge.overview import DEFAULT, MAX_LINES
from schema.enums import WikiDiaryTopic, WikiPageType

from ...http.responses import make_delivery
from ..endpoint import Call, WikiRoute
from ..models import ResponseModel
from ..operations import read
from ..parameters import Caller, Cursor, Types, read_responses
from ..responses import Row, answer, lower_enums
from .pages import enum_names

routes = APIRouter(route_class=WikiRoute, tags=["overview"])
MARKDOWN = "text/markdown"
Lines = Annotated[int, Query(ge=1, le=MAX_LINES, description="Maximum number of lines.")]
A_TEXT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Markdown. `Link` has the URL of the next part, if there is one.",
        "headers": {"Link": {"description": '`<…>; rel="next"`', "schema": {"type": "string"}}},
        "content": {MARKDOWN: {"schema": {"type": "string"}}},
    }
}


@routes.get("/map", operation_id="getMap", response_class=Response, responses={**A_TEXT, **read_responses()})
async def knowledge_map(call: Caller, types: Types = None, limit: Lines = DEFAULT, cursor: Cursor = None) -> Response:
    """Get the knowledge map: pages by type, as links with a summary each. Stubs are marked."""
    variables: dict[str, Any] = {"types": enum_names(types), "first": limit, "after": cursor}
    return await answer_part(call, (await read(call, "overview", "RestMap", **variables))["found"])


@routes.get("/activity", operation_id="getActivity", response_class=Response, responses={**A_TEXT, **read_responses()})
async def activity_log(call: Caller, limit: Lines = DEFAULT, cursor: Cursor = None) -> Response:
    """Get the activity log of the wiki, newest first."""
    variables: dict[str, Any] = {"first": limit, "after": cursor}
    return await answer_part(call, (await read(call, "overview", "RestLog", **variables))["found"])


class DiaryPage(ResponseModel):
    """Page of an entry of a diary."""

    id: UUID
    type: WikiPageType
    slug: str


class DiaryEntry(ResponseModel):
    """Action on one page (or on none) on a day. `times` is the number of occurrences, `at` the time of the last one."""

    topic: WikiDiaryTopic
    action: str
    text: str
    times: int
    at: datetime
    page: DiaryPage | None


class DiaryDay(ResponseModel):
    """Day with events. `counts` has their number by topic; `more_total` entries are not shown."""

    date: date
    counts: dict[WikiDiaryTopic, int]
    entries: list[DiaryEntry]
    more_total: int
    is_whole: bool


class Diary(ResponseModel):
    """Days with events, newest first, and the whole diary in Markdown."""

    since: date
    until: date
    body_md: str
    days: list[DiaryDay]


DAY = r"^\d{4}-\d{2}-\d{2}$"


def refuse_numbers(value: object) -> object:
    """Return the text of a day. Raise ValueError for a number of seconds, which pydantic would accept."""
    if isinstance(value, str) and re.match(DAY, value) is None:
        raise ValueError("Write a day as 2026-01-31.")
    return value


Day = Annotated[
    date | None,
    BeforeValidator(refuse_numbers),
    Query(description="Day such as 2026-01-31. Defaults to the last week; 31 days at most."),
]


@routes.get("/diary", operation_id="getDiary", response_model=Diary, responses=read_responses())
async def diary(
    call: Caller,
    since: Day = None,
    until: Day = None,
    time_zone: Annotated[
        str | None, Query(max_length=diaries.ZONE_MAX, description="Time zone of the days. Defaults to UTC.")
    ] = None,
    lines: Annotated[
        int, Query(ge=1, le=diaries.LINES_MAX, description="Maximum number of entries per day.")
    ] = diaries.LINES,
) -> Response:
    """Get the diary of the wiki: what happened on each day, in words."""
    days: dict[str, Any] = {"since": since and str(since), "until": until and str(until)}
    found = (await read(call, "overview", "RestDiary", **days, timeZone=time_zone, lines=lines))["found"]
    return await answer(call, found | {"days": list(map(day_to_dict, found["days"]))})


def day_to_dict(day: Row) -> Row:
    return day | {
        "counts": {count["topic"].lower(): count["total"] for count in day["counts"]},
        "entries": [
            entry | {"topic": entry["topic"].lower(), "page": entry["page"] and lower_enums(entry["page"])}
            for entry in day["entries"]
        ],
    }


async def answer_part(call: Call, part: dict[str, Any]) -> Response:
    """Return a part of a text as Markdown, with a Link header to the next part."""
    scope = call.request.scope
    delivery = await make_delivery(scope, 200, f"{part['bodyMd']}\n".encode(), call.endpoint.compress_over)
    media_type = None if delivery.status == 304 else f"{MARKDOWN}; charset=utf-8"
    response = Response(delivery.body, delivery.status, media_type=media_type)
    response.raw_headers.extend(delivery.headers)
    if part["nextCursor"]:
        parameters = [pair for pair in call.request.query_params.multi_items() if pair[0] != "cursor"]
        query = urlencode([*parameters, ("cursor", part["nextCursor"])])
        response.headers["Link"] = f'<{call.request.url.path}?{query}>; rel="next"'
    return response
