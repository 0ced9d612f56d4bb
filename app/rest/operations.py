"""Reads and writes of REST: stored documents and resolvers, run with the scope of the caller."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import orjson

from content.limits import SLUG
from content.names import compose, is_slug
from db.database import Database
from resolvers.errors import NotFound
from resolvers.idempotency import Attempt, run_once
from resolvers.model.lookup import locate_slug
from resolvers.transactions.transaction import NO_PAGE

from ..http.request import header, idempotency_key
from ..stored_queries import run_stored_query, stored_query
from .endpoint import Call


async def read(call: Call, name: str, operation: str, database: Database | None = None, **variables: Any) -> Any:
    """Return the data of an operation in the call's wiki, paid from its account."""
    bounds = call.endpoint.bounds
    context = bounds.context(database or call.database, call.wiki, call.account)
    return await run_stored_query(stored_query("rest", name), operation, variables, bounds, context)


async def type_of(call: Call, slug: str, type: str | None) -> str:
    """Return the type of the page that is meant; if the request names it, nothing is looked up."""
    if type is None:
        return (await locate_slug(call.database, call.wiki, slug)).type
    if not is_slug(compose(slug, SLUG)):
        raise NotFound(NO_PAGE)
    return type


async def read_of_page(
    call: Call, name: str, operation: str, type: str, slug: str, is_archived_too: bool, **variables: Any
) -> dict[str, Any]:
    """Return what an operation says of a page; raise NotFound if there is none."""
    where: dict[str, Any] = {"tenantId": str(call.wiki.tenant_id), "type": type.upper(), "slug": slug}
    data = await read(call, name, operation, **where, includeArchived=is_archived_too, **variables)
    page: dict[str, Any] | None = data["page"]
    if page is None:
        raise NotFound(NO_PAGE)
    return page


Work = Callable[[Database], Awaitable[Any]]


class WriteResponse(NamedTuple):
    """The body of the answer, and the headers that say whether it was given before."""

    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


async def write(call: Call, work: Work) -> WriteResponse:
    """Run `work` with a database and return what it answers; a repeated Idempotency-Key returns the first answer."""
    key = idempotency_key(call.request.scope)
    if key is None:
        return WriteResponse(orjson.dumps(await work(call.database)))

    async def run(database: Database) -> bytes:
        return orjson.dumps(await work(database))

    body, replayed = await run_once(call.database, attempt(call, key), run)
    return WriteResponse(body, (("Idempotency-Replayed", "true"),) if replayed else ())


def attempt(call: Call, key: str) -> Attempt:
    """Return everything that must be the same again for a repetition to get the same answer."""
    scope = call.request.scope
    query, matched = scope["query_string"].decode("latin-1"), header(scope, b"if-match")
    return Attempt(call.wiki, key, [scope["method"], scope["path"], query, matched, call.request.document])
