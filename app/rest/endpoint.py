"""The endpoint of every request under /api/wiki: it authenticates, limits size, rate and time, and answers."""

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
from db.restricted import restricted
from db.scope import Scope as Wiki
from observability.trace import record_path
from resolvers.errors import Unavailable
from resolvers.rate_limits import Account

from ..http.limits import Bounds
from ..http.request import Bodies, check_content_type, credential_of, header, parse_in_thread, parse_json
from ..server.server import DRAINING
from .problems import UnknownParameter, problem_of

PATH = "/api/wiki"
STOPPED = "The service stopped before this was done. Read what is there before you send a write again."


class Callers(Protocol):
    """An authenticator, which knows a request's scope by Authorization and X-Cairn-Owner, or raises Unauthenticated."""

    async def scope(self, authorization: str | None, owner: str | None = None) -> Wiki: ...


@dataclass(frozen=True)
class RestEndpoint:
    """The objects and limits that requests share. `compress_over` and `max_import` in bytes; 0 never compresses."""

    database: Database
    credentials: Callers
    bounds: Bounds
    bodies: Bodies
    compress_over: int
    max_import: int


@dataclass(frozen=True)
class Call:
    """A request whose caller is known, at work in a wiki."""

    endpoint: RestEndpoint
    request: "Sent"
    wiki: Wiki
    account: Account

    @property
    def database(self) -> Database:
        """Return the database as the caller may read it."""
        return restricted(self.endpoint.database, self.wiki)


class Sent(Request):
    """A request whose body has come, within its bounds, and is JSON where one is wanted."""

    content: bytes = b""
    document: Any = None

    async def body(self) -> bytes:
        return self.content

    async def json(self) -> Any:
        return self.document

    async def take(self, bodies: Bodies) -> None:
        check_content_type(header(self.scope, b"content-type") or "")
        self.content = content = await bodies.read(self.scope, self.receive)
        self.document = await parse_in_thread(len(content), lambda: parse_json(content, "The body"))


Handle = Callable[[Request], Coroutine[Any, Any, Response]]


class WikiRoute(APIRoute):
    """A path that needs a credential."""

    is_bulk = False
    base = PATH

    def get_route_handler(self) -> Handle:
        handle, wants_body = super().get_route_handler(), self.body_field is not None
        known = [field.alias for field in get_flat_params(self.dependant) if isinstance(field.field_info, Query)]

        async def answer(request: Request) -> Response:
            record_path(self.base + self.path)
            try:
                return await answer_admitted(request, handle, wants_body, self.is_bulk, known)
            except asyncio.CancelledError:
                if not DRAINING.is_on:
                    raise
                return problem_of(Unavailable(STOPPED))
            except Exception as error:
                return problem_of(error)

        return answer


class BulkRoute(WikiRoute):
    """A path that moves a whole wiki, and is given the time for it."""

    is_bulk = True


async def answer_admitted(
    request: Request, handle: Handle, wants_body: bool, is_bulk: bool, known: Sequence[str]
) -> Response:
    """Answer a request whose credential is valid and whose parameters exist. `known` are their names."""
    endpoint: RestEndpoint = request.app.state.endpoint
    wiki = await endpoint.credentials.scope(*credential_of(request.scope))
    check_parameters(request, known)
    sent = Sent(request.scope, request.receive)
    if wants_body:
        await sent.take(endpoint.bodies)

    def work(account: Account) -> Awaitable[Response]:
        request.state.call = Call(endpoint, sent, wiki, account)
        return handle(sent)

    return await endpoint.bounds.admit(wiki, work, is_bulk=is_bulk)


def check_parameters(request: Request, known: Sequence[str]) -> None:
    """Refuse a query parameter that the path does not have: a misspelt filter would silently not filter."""
    unknown = next((name for name in request.query_params if name not in known), None)
    if unknown is not None:
        these = f"The parameters of this path are {', '.join(sorted(known))}." if known else "This path has none."
        raise UnknownParameter(f'There is no query parameter "{unknown[:100]}" here. {these}', unknown[:100])


async def call_of(request: Request) -> Call:
    """Return the call that a request is. Not a plain function: those FastAPI runs in threads."""
    call: Call = request.state.call
    return call
