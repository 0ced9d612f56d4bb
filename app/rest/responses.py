"""The responses of REST, and the conversion of GraphQL data to the models of REST."""

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
from .preconditions import page_tag

JSON = "application/json"
Headers = Iterable[tuple[str, str]]


async def answer(call: Call, body: Any) -> Response:
    """Return the response to a read."""
    scope = call.request.scope
    return response(await make_delivery(scope, 200, orjson.dumps(body), call.endpoint.compress_over))


async def answer_page(call: Call, page: dict[str, Any]) -> Response:
    """Return the response to a read of a page, with its ETag."""
    body = orjson.dumps(page)
    tag = page_tag(page["version"], await make_etag(body))
    return response(await make_tagged_delivery(call.request.scope, body, call.endpoint.compress_over, tag))


async def answer_write(call: Call, body: bytes, status: int = 200, headers: Headers = ()) -> Response:
    """Return the response to a write, which must not be cached."""
    return response(await make_delivery(call.request.scope, status, body, call.endpoint.compress_over), headers)


async def answer_written_page(call: Call, body: bytes, headers: Headers = (), *, is_new: bool = False) -> Response:
    """Return the response to a write of a page: the page after the write, with the same ETag as for a read."""
    page = await parse_in_thread(len(body), lambda: orjson.loads(body))
    more = [*headers, ("ETag", page_tag(page["version"], await make_etag(body)))]
    if is_new:
        more.append(("Location", place_of(call, page)))
    return await answer_write(call, body, 201 if is_new else 200, more)


def place_of(call: Call, page: dict[str, Any]) -> str:
    return f"{call.request.scope['root_path']}/pages/{quote(page['slug'])}?type={page['type'].lower()}"


def answer_moved(call: Call, page: dict[str, Any]) -> Response:
    """Return a redirect to a page. It must not be cached, because a merge can be undone."""
    return Response(status_code=301, headers={"Location": place_of(call, page), "Cache-Control": "no-store"})


def response(delivery: Delivery, headers: Headers = ()) -> Response:
    result = Response(delivery.body, delivery.status, dict(headers), JSON if delivery.status != 304 else None)
    result.raw_headers.extend(delivery.headers)
    return result


Row = dict[str, Any]


def lower_enums(row: Row) -> Row:
    """Return the row with the values of its enums in lower case, as REST has them."""
    return row | {name: row[name].lower() for name in ENUM_FIELDS if row.get(name)}


ENUM_FIELDS = (
    "type", "suggested_type", "status", "kind", "author_type", "sensitivity", "confidence", "stated_confidence",
)  # fmt: skip


def page(row: Row) -> Row:
    """Return a page of GraphQL in the form of `models.Page`."""
    linked = row.pop("links")["nodes"]
    broken = row.pop("broken")["nodes"]
    superseded = list(map(superseded_claim, row.pop("superseded")["nodes"]))
    first, last = row.pop("first"), row.pop("last")["nodes"]
    state = row.pop("state", None) or {}
    state_fields = {name: value for name, value in state.items() if value is not None or name == "summary"}
    result = lower_enums(row | state_fields)
    result["superseded"] = superseded
    result |= {name: list(map(lower_enums, row[name])) for name in ("supersedes", "contradicts")}
    result["merged_into"] = row["merged_into"] and lower_enums(row["merged_into"])
    result["related"] = [link["page"]["slug"] for link in linked if link["reasons"] != ["text"]]
    result["links"] = [whole_link(link["page"]) for link in linked] + [broken_link(link) for link in broken]
    result["created_by"] = first["by"]
    result["updated_by"] = state.get("updated_by") or last[0]["by"]
    return result


def superseded_claim(claim: Row) -> Row:
    on = datetime.fromisoformat(claim["superseded_on"])
    return claim | {"text": format_superseded(ClaimRead(claim["fact"], claim["replacement"], on))}


def whole_link(page: Row) -> Row:
    return lower_enums(page) | {"broken": False}


def broken_link(target: Row) -> Row:
    return lower_enums(target) | {"broken": True}


def change(row: Row) -> Row:
    return lower_enums(row) | {"state": row["state"].lower(), "page": row["page"] and lower_enums(row["page"])}


def proposal_or_question(row: Row) -> Row:
    row |= {name: row[name].lower() for name in ("status", "significance")}
    return row | {"page": row["page"] and lower_enums(row["page"])}


def hit(edge: Row) -> Row:
    found = edge.pop("node")
    return lower_enums(found) | edge


def combined_hit(edge: Row) -> Row:
    node = edge["passage"]
    passage = node and node | {"source": lower_enums(node["source"])}
    return edge | {"page": edge["page"] and lower_enums(edge["page"]), "passage": passage}


def passage(edge: Row) -> Row:
    node = edge.pop("node")
    citing = [section | {"page": lower_enums(section["page"])} for section in node.pop("sections")["nodes"]]
    newer = edge["superseded_by"] and edge["superseded_by"] | {"source": lower_enums(edge["superseded_by"]["source"])}
    result: Row = {**edge, **node, "source": lower_enums(node["source"]), "cited_by": citing, "superseded_by": newer}
    return result


def source_row(row: Row) -> Row:
    citing = row.pop("pages")["nodes"]
    return lower_enums(row) | {"cited_by": [lower_enums(page) for page in citing]}


def list_body(connection: Row, items: list[Row], **more: Any) -> Row:
    """Return a list with the cursor of the next items, from the page info of a GraphQL connection."""
    page_info = connection["pageInfo"]
    return {"items": items, "next": page_info["endCursor"] if page_info["hasNextPage"] else None, **more}
