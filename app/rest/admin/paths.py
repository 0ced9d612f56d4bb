"""The common parts of the paths at /api/admin: route class, path parameters, lists and responses."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar
from uuid import UUID

import orjson
from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from content.limits import SLUG
from content.names import is_slug
from db.scope import Actor, ActorKind
from resolvers.errors import BadInput, IdempotencyKeyNotAllowed
from resolvers.tenants import tenants

from ...http.request import idempotency_key
from ..endpoint import Call, WikiRoute
from ..responses import answer_write

PATH = "/api/admin"
OPERATOR_ACTOR = Actor(ActorKind.SERVICE, "operator")
T = TypeVar("T")


class AdminRoute(WikiRoute):
    """A route that needs the operators' token."""

    base = PATH


routes = APIRouter(route_class=AdminRoute, tags=["admin"])
TenantName = Annotated[str, Path(max_length=SLUG.maximum, description="Slug or id of the tenant.", examples=["acme"])]
OwnerName = Annotated[str, Path(max_length=SLUG.maximum, description="Slug or id of the owner.", examples=["ada"])]
AfterSlug = Annotated[str | None, Query(max_length=SLUG.maximum, description="`next` of the previous response.")]
AfterId = Annotated[UUID | None, Query(description="`next` of the previous response.")]


def check_no_idempotency_key(call: Call) -> None:
    """Raise IdempotencyKeyNotAllowed if the request has an Idempotency-Key, which would have no effect here."""
    if idempotency_key(call.request.scope) is not None:
        raise IdempotencyKeyNotAllowed(
            "Idempotency-Key is not supported here. Send the request without it; if the response is lost, list "
            "what there is."
        )


def check_cursor(cursor: str | None) -> None:
    """Raise BadInput if the cursor of a list by slug is not a slug."""
    if cursor is not None and not is_slug(cursor):
        raise BadInput("This is no cursor of this list. Send the `next` of an answer as it is.", "cursor")


def list_body(items: Sequence[T], limit: int, to_dict: Callable[[T], dict[str, Any]], cursor: str) -> dict[str, Any]:
    """Return the body of a list. There are more items if `items` has more than `limit`; `cursor` names a field."""
    page = [to_dict(item) for item in items[:limit]]
    return {"items": page, "next": page[-1][cursor] if len(items) > limit else None}


async def answer_created(call: Call, body: dict[str, Any]) -> Response:
    return await answer_write(call, orjson.dumps(body), 201)


async def find_tenant_id(call: Call, name: str) -> UUID:
    """Return the id of the tenant in the path. Raises NotFound."""
    return (await tenants.find_tenant(call.endpoint.database, name)).id
