"""Answers of REST, and GraphQL's answers in the shapes of REST."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from urllib.parse import quote

import orjson
from starlette.responses import Response

from content.claims.claims import ClaimRead, format_superseded

from ..http.request import parse_in_thread
from ..http.responses import Delivery, make_delivery, make_etag, make_tagged_delivery
from .endpoint import Call
from .parameters import page_tag

JSON = "application/json"
Headers = Iterable[tuple[str, str]]


async def answer(call: Call, shown: Any) -> Response:
    """Answer with what was read."""
    scope = call.request.scope
    return response(await make_delivery(scope, 200, orjson.dumps(shown), call.endpoint.compress_over))


async def answer_page(call: Call, page: dict[str, Any]) -> Response:
    """Answer with a page that was read."""
    body = orjson.dumps(page)
    tag = page_tag(page["version"], await make_etag(body))
    return response(await make_tagged_delivery(call.request.scope, body, call.endpoint.compress_over, tag))


async def answer_write(call: Call, body: bytes, status: int = 200, headers: Headers = ()) -> Response:
    """Answer with the result of a write, which no cache may keep."""
    return response(await make_delivery(call.request.scope, status, body, call.endpoint.compress_over), headers)


async def answer_written_page(call: Call, body: bytes, headers: Headers = (), *, is_new: bool = False) -> Response:
    """Answer with the page as it is after the write, and the tag that a reader would get."""
    page = await parse_in_thread(len(body), lambda: orjson.loads(body))
    more = [*headers, ("ETag", page_tag(page["version"], await make_etag(body)))]
    if is_new:
        more.append(("Location", place_of(call, page)))
    return await answer_write(call, body, 201 if is_new else 200, more)


def place_of(call: Call, page: dict[str, Any]) -> str:
    return f"{call.request.scope['root_path']}/pages/{quote(page['slug'])}?type={page['type'].lower()}"


def answer_moved(call: Call, page: dict[str, Any]) -> Response:
    """Redirect to where the page is now. It is not to be cached: a merge can be undone."""
    return Response(status_code=301, headers={"Location": place_of(call, page), "Cache-Control": "no-store"})


def response(sent: Delivery, headers: Headers = ()) -> Response:
    made = Response(sent.body, sent.status, dict(headers), JSON if sent.status != 304 else None)
    made.raw_headers.extend(sent.headers)
    return made


Row = dict[str, Any]


def lower_enums(row: Row) -> Row:
    """The closed sets are in small letters here."""
    return row | {name: row[name].lower() for name in CLOSED_SETS if row.get(name)}


CLOSED_SETS = (
    "type", "suggested_type", "status", "kind", "author_type", "sensitivity", "confidence", "stated_confidence",
)  # fmt: skip


def page(row: Row) -> Row:
    linked = row.pop("links")["nodes"]
    broken = row.pop("broken")["nodes"]
    superseded = list(map(superseded_claim, row.pop("superseded")["nodes"]))
    first, last = row.pop("first"), row.pop("last")["nodes"]
    state = row.pop("state", None) or {}
    known = {name: value for name, value in state.items() if value is not None or name == "summary"}
    shown = lower_enums(row | known)
    shown["superseded"] = superseded
    shown |= {name: list(map(lower_enums, row[name])) for name in ("supersedes", "contradicts")}
    shown["merged_into"] = row["merged_into"] and lower_enums(row["merged_into"])
    shown["related"] = [link["page"]["slug"] for link in linked if link["reasons"] != ["text"]]
    shown["links"] = [whole_link(link["page"]) for link in linked] + [broken_link(link) for link in broken]
    shown["created_by"] = first["by"]
    shown["updated_by"] = state.get("updated_by") or last[0]["by"]
    return shown


def superseded_claim(claim: Row) -> Row:
    on = datetime.fromisoformat(claim["superseded_on"])
    return claim | {"text": format_superseded(ClaimRead(claim["fact"], claim["replacement"], on))}


def whole_link(other: Row) -> Row:
    return lower_enums(other) | {"broken": False}


def broken_link(target: Row) -> Row:
    return lower_enums(target) | {"broken": True}


def change(row: Row) -> Row:
    return lower_enums(row) | {"state": row["state"].lower(), "page": row["page"] and lower_enums(row["page"])}


def hit(edge: Row) -> Row:
    found = edge.pop("node")
    return lower_enums(found) | edge


def either_hit(edge: Row) -> Row:
    found = edge["passage"]
    shown = found and found | {"source": lower_enums(found["source"])}
    return edge | {"page": edge["page"] and lower_enums(edge["page"]), "passage": shown}


def passage(edge: Row) -> Row:
    found = edge.pop("node")
    citing = [section | {"page": lower_enums(section["page"])} for section in found.pop("sections")["nodes"]]
    newer = edge["superseded_by"] and edge["superseded_by"] | {"source": lower_enums(edge["superseded_by"]["source"])}
    shown: Row = {**edge, **found, "source": lower_enums(found["source"]), "cited_by": citing, "superseded_by": newer}
    return shown


def source_row(row: Row) -> Row:
    citing = row.pop("pages")["nodes"]
    return lower_enums(row) | {"cited_by": [lower_enums(page) for page in citing]}


def list_body(found: Row, items: list[Row], **more: Any) -> Row:
    at = found["pageInfo"]
    return {"items": items, "next": at["endCursor"] if at["hasNextPage"] else None, **more}
