"""Serves the requests of REST: authentication, limits of size, rate and time, and errors."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from fastapi.dependencies.utils import get_flat_params
from fastapi.params import Query
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from db.database import Database
from db.scope import Scope as Wiki
from db.sensitivity import restricted
from observability.trace import record_path
from resolvers.errors import Unavailable
from resolvers.rate_limits import Account

from ..http.errors import STOPPED
from ..http.limits import Bounds
from ..http.request import Bodies, check_content_type, credential_of, header, parse_in_thread, parse_json
from ..server.server import DRAINING
from .problems import UnknownParameter, problem_of

PATH = "/api/wiki"


class Authenticator(Protocol):
    """An authenticator of requests, such as Credentials."""

    async def scope(self, authorization: str | None, owner: str | None = None) -> Wiki:
        """Return the scope for the headers Authorization and X-Cairn-Owner. Raises Unauthenticated."""
        ...


@dataclass(frozen=True)
class RestEndpoint:
    """The objects and limits that all requests share."""

    database: Database
    credentials: Authenticator
    bounds: Bounds
    bodies: Bodies
    compress_over: int
    """The size in bytes above which responses are compressed; 0 for never."""
    max_import: int
    """The maximum size of an imported upload in bytes."""


@dataclass(frozen=True)
class Call:
    """An authenticated request, with its wiki and the account that it is charged to."""

    endpoint: RestEndpoint
    request: "BufferedRequest"
    wiki: Wiki
    account: Account

    @property
    def database(self) -> Database:
        """Return the database restricted to the rows that the caller may read."""
        return restricted(self.endpoint.database, self.wiki)


class BufferedRequest(Request):
    """A request with its body in memory, parsed as JSON if its path has a body."""

    content: bytes = b""
    document: Any = None

    async def body(self) -> bytes:
        return self.content

    async def json(self) -> Any:
        return self.document

    async def read_body(self, bodies: Bodies, *, is_required: bool) -> None:
        """Read and parse the body, which may be empty if it is not required. Raises Refused."""
        written = header(self.scope, b"content-type") or ""
        if is_required or written:
            check_content_type(written)
        self.content = content = await bodies.read(self.scope, self.receive)
        if is_required or content:
            check_content_type(written)
            self.document = await parse_in_thread(len(content), lambda: parse_json(content, "The body"))


Handle = Callable[[Request], Coroutine[Any, Any, Response]]


class WikiRoute(APIRoute):
    """A route that needs a credential."""

    is_bulk = False
    base = PATH

    def get_route_handler(self) -> Handle:
        handle, body = super().get_route_handler(), self.body_field
        requires_body = body.field_info.is_required() if body else None
        parameters = [field.alias for field in get_flat_params(self.dependant) if isinstance(field.field_info, Query)]

        async def answer(request: Request) -> Response:
            record_path(self.base + self.path)
            try:
                return await answer_request(request, handle, requires_body, self.is_bulk, parameters)
            except asyncio.CancelledError:
                if not DRAINING.is_on:
                    raise
                return problem_of(Unavailable(STOPPED))
            except Exception as error:
                return problem_of(error)

        return answer


class BulkRoute(WikiRoute):
    """A route for uploads, imports and exports, with the longer timeout."""

    is_bulk = True


async def answer_request(
    request: Request, handle: Handle, requires_body: bool | None, is_bulk: bool, parameters: Sequence[str]
) -> Response:
    """Authenticate a request, check the names of its query parameters, read its body and handle it within the limits.

    `requires_body` is None for a path without a body, and `parameters` are the names of the path's query parameters.
    """
    endpoint: RestEndpoint = request.app.state.endpoint
    wiki = await endpoint.credentials.scope(*credential_of(request.scope))
    check_parameters(request, parameters)
    buffered = BufferedRequest(request.scope, request.receive)
    if requires_body is not None:
        await buffered.read_body(endpoint.bodies, is_required=requires_body)

    def work(account: Account) -> Awaitable[Response]:
        request.state.call = Call(endpoint, buffered, wiki, account)
        return handle(buffered)

    return await endpoint.bounds.admit(wiki, work, is_bulk=is_bulk)


def check_parameters(request: Request, known: Sequence[str]) -> None:
    """Raise UnknownParameter for a query parameter that the path lacks: a misspelt filter would silently be ignored."""
    unknown = next((name for name in request.query_params if name not in known), None)
    if unknown is not None:
        these = f"The parameters of this path are {', '.join(sorted(known))}." if known else "This path has none."
        raise UnknownParameter(f'There is no query parameter "{unknown[:100]}" here. {these}', unknown[:100])


async def call_of(request: Request) -> Call:
    """Return the call of a request. It is asynchronous, because FastAPI runs plain functions in threads."""
    call: Call = request.state.call
    return call
