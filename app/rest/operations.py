"""The reads and writes of REST: stored queries and resolvers, run with the scope of the caller."""

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
    """Run an operation of a stored query in the wiki of the call, charge its account, and return the data."""
    bounds = call.endpoint.bounds
    context = bounds.context(database or call.database, call.wiki, call.account)
    return await run_stored_query(stored_query("rest", name), operation, variables, bounds, context)


async def find_type(call: Call, slug: str, type: str | None) -> str:
    """Return the type of the page with this slug. If the request names the type, the page is not looked up."""
    if type is None:
        return (await locate_slug(call.database, call.wiki, slug)).type
    if not is_slug(compose(slug, SLUG)):
        raise NotFound(NO_PAGE)
    return type


async def read_page_data(
    call: Call, name: str, operation: str, type: str, slug: str, include_archived: bool, **variables: Any
) -> dict[str, Any]:
    """Return the data of an operation about a page. Raises NotFound if there is no such page."""
    address: dict[str, Any] = {"tenantId": str(call.wiki.tenant_id), "type": type.upper(), "slug": slug}
    data = await read(call, name, operation, **address, includeArchived=include_archived, **variables)
    page: dict[str, Any] | None = data["page"]
    if page is None:
        raise NotFound(NO_PAGE)
    return page


Work = Callable[[Database], Awaitable[Any]]


class WriteResponse(NamedTuple):
    """The body of a response, with the header Idempotency-Replayed if it is a stored response."""

    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


async def write(call: Call, work: Work) -> WriteResponse:
    """Run `work` and return its result as JSON. A repeated Idempotency-Key returns the stored response."""
    key = idempotency_key(call.request.scope)
    if key is None:
        return WriteResponse(orjson.dumps(await work(call.database)))

    async def run(database: Database) -> bytes:
        return orjson.dumps(await work(database))

    body, replayed = await run_once(call.database, make_attempt(call, key), run)
    return WriteResponse(body, (("Idempotency-Replayed", "true"),) if replayed else ())


def make_attempt(call: Call, key: str) -> Attempt:
    """Return the idempotent attempt, with all parts of the request that a repetition must have too."""
    scope = call.request.scope
    query, if_match = scope["query_string"].decode("latin-1"), header(scope, b"if-match")
    return Attempt(call.wiki, key, [scope["method"], scope["path"], query, if_match, call.request.document])
