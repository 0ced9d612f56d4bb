"""What is read and written as responses: JSON with its validators, compressed where the client takes it."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

import orjson
from starlette.responses import Response

from ..delivery import Delivery, delivered, revalidated, tagged
from ..large_bodies import read as made
from .conditions import page_tag
from .door import Call

JSON = "application/json"
Headers = Iterable[tuple[str, str]]


async def answer(call: Call, shown: Any) -> Response:
    """What was read."""
    scope = call.request.scope
    return response(await delivered(scope, 200, orjson.dumps(shown), call.door.compress_over))


async def answer_page(call: Call, page: dict[str, Any]) -> Response:
    """A page that was read."""
    body = orjson.dumps(page)
    tag = page_tag(page["version"], await tagged(body))
    return response(await revalidated(call.request.scope, body, call.door.compress_over, tag))


async def answer_write(call: Call, body: bytes, status: int = 200, headers: Headers = ()) -> Response:
    """What a write has come to, never kept by anybody between."""
    return response(await delivered(call.request.scope, status, body, call.door.compress_over), headers)


async def answer_written_page(call: Call, body: bytes, headers: Headers = (), *, is_new: bool = False) -> Response:
    """The page as it is after the write, with the tag that a reader would get."""
    page = await made(len(body), lambda: orjson.loads(body))
    more = [*headers, ("ETag", page_tag(page["version"], await tagged(body)))]
    if is_new:
        more.append(("Location", place_of(call, page)))
    return await answer_write(call, body, 201 if is_new else 200, more)


def place_of(call: Call, page: dict[str, Any]) -> str:
    return f"{call.request.scope['root_path']}/pages/{quote(page['slug'])}?type={page['type'].lower()}"


def answer_moved(call: Call, page: dict[str, Any]) -> Response:
    """Where the page is now. Not to be kept: what was merged can be brought back."""
    return Response(status_code=301, headers={"Location": place_of(call, page), "Cache-Control": "no-store"})


def response(sent: Delivery, headers: Headers = ()) -> Response:
    made = Response(sent.body, sent.status, dict(headers), JSON if sent.status != 304 else None)
    made.raw_headers.extend(sent.headers)
    return made
