"""POST and GET /graphql, as the GraphQL over HTTP specification defines them."""

import asyncio
from contextlib import suppress
from uuid import UUID

from starlette.types import ASGIApp, Receive, Scope, Send

from db.database import Database
from db.replicas.routing import ROUTE, parse_position
from db.scope import Scope as Wiki
from observability.trace import has_error, span
from resolvers.auth.credentials import Credentials
from resolvers.errors import CairnError, Forbidden, NoCredential, Unauthenticated, Unavailable
from resolvers.idempotency import InProgress, KeyReused
from resolvers.rate_limits import Throttled
from selection import Engine
from selection.execute.engine import Answer

from ..documents.store import Documents
from ..server.server import DRAINING
from .errors import STOPPED, challenge, error_body, fault_response
from .idempotency import answer_once, is_mutation
from .limits import Bounds, OperationTimeout
from .positions import with_position
from .request import (
    GRAPHQL_JSON,
    JSON,
    Bodies,
    GraphQLRequest,
    Refused,
    answer_type,
    credential_of,
    faulty_position,
    idempotency_key,
    read_operation,
    wants_events,
)
from .responses import NO_STORE, PIECE_SIZE, Headers, UnreadAnswers, make_delivery, send_pieces


class GraphQLEndpoint:
    """The GraphQL endpoint. It refuses an invalid request before it executes anything."""

    def __init__(
        self,
        engine: Engine,
        database: Database,
        credentials: Credentials,
        documents: Documents,
        *,
        max_body: int,
        bounds: Bounds,
        compress_over: int,
        contract: str | None = None,
        streaming: ASGIApp | None = None,
    ) -> None:
        """Create the endpoint.

        `contract` names the contract of the engine if it is not the newest, to keep the idempotency keys of contracts
        apart. `streaming` serves the WebSockets and event streams of this path, if it has any.
        """
        self.contract, self.streaming = contract, streaming
        self.engine, self.database, self.credentials, self.documents = engine, database, credentials, documents
        self.bodies, self.bounds, self.compress_over = Bodies(max_body), bounds, compress_over
        self.unread = UnreadAnswers()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.streaming is not None and (scope["type"] == "websocket" or wants_events(scope)):
            await self.streaming(scope, receive, send)
            return
        content_type, more, borrower = JSON, NO_HEADERS, None
        try:
            content_type = answer_type(scope)
            wiki = await self.credentials.scope(*credential_of(scope))
            request = await read_operation(scope, receive, self.bodies)
            if request.document is not None or self.documents.are_trusted_only:
                request = self.documents.resolve(request, wiki.tenant_id)
            if request.position is not None:
                require_position(request.position)
            if scope["method"] == "GET" and await is_mutation(self.engine, request):
                raise Refused(405, "GET is for queries; send a mutation as a POST.", "METHOD_NOT_ALLOWED")
            if (key := idempotency_key(scope)) is None:
                answer = await self.execute(request, wiki, self.database)
            else:
                answer, more = await answer_once(
                    self.engine, self.database, wiki, key, request, self.execute, self.contract
                )
            if ROUTE.get() is not None:
                answer = await with_position(self.database, answer)
            status, body, borrower = status_of(answer, content_type), answer.body, wiki.tenant_id
            if len(body) > PIECE_SIZE:
                await self.check_room(request, borrower, len(body))
        except Refused as refused:
            status, body = refused.status, error_body(refused.message, refused.code)
        except CairnError as error:
            status, body = status_of_error(error), error_body(error.message, **error.extensions)
            more = error_headers(error)
        except asyncio.CancelledError:
            if not DRAINING.is_on:
                raise
            status, body = 503, error_body(STOPPED, "UNAVAILABLE")
        except Exception as error:
            status, body = fault_response(error)
        if status == 200:
            more += retry_headers()
        headers = NO_STORE
        if scope["method"] == "GET" or 0 < self.compress_over < len(body):
            status, body, headers = await make_delivery(scope, status, body, self.compress_over)
        if len(body) <= PIECE_SIZE:
            await respond(send, status, content_type, body, headers + more)
            return
        with self.unread.hold(borrower, len(body)), suppress(TimeoutError):  # the server closes an incomplete response
            await respond(send, status, content_type, body, headers + more)

    async def execute(self, request: GraphQLRequest, wiki: Wiki, database: Database) -> Answer:
        with span("operation"):
            return await self.bounds.execute(self.engine, database, wiki, request)

    async def check_room(self, request: GraphQLRequest, borrower: UUID, size: int) -> None:
        """Raise Throttled if the clients of the tenant have too many unread bytes of large responses.

        The response of a mutation is always sent, because its writes are done.
        """
        if not self.unread.has_room(borrower, size) and not await is_mutation(self.engine, request):
            raise Throttled("Clients of this tenant have not read earlier large responses. Try again in a moment.", 1)


def require_position(position: object) -> None:
    """Make the reads of this request include all writes up to a position in the log. Raises Refused if it is none."""
    if (route := ROUTE.get()) is None:
        return
    try:
        route.wanted = max(route.wanted, parse_position(str(position)))
    except ValueError:
        raise faulty_position("extensions.position") from None


def status_of_error(error: CairnError) -> int:
    """Return the HTTP status of an error, by its class or the nearest base class that has a status; by default 400."""
    return next((STATUSES[cls] for cls in type(error).__mro__ if cls in STATUSES), 400)


STATUSES: dict[type[CairnError], int] = {
    Unauthenticated: 401,
    NoCredential: 401,
    Forbidden: 403,
    InProgress: 409,
    KeyReused: 422,
    Throttled: 429,
    Unavailable: 503,
    OperationTimeout: 504,
}
CONTENT_TYPES = {name: (b"content-type", f"{name}; charset=utf-8".encode()) for name in (JSON, GRAPHQL_JSON)}
RETRY_SOON = (b"retry-after", b"1")  # seconds
HEADERS_BY_STATUS: dict[int, list[tuple[bytes, bytes]]] = {
    405: [(b"allow", b"GET, POST")],
    409: [RETRY_SOON],
    503: [RETRY_SOON],
}
NO_HEADERS: Headers = ()


def status_of(answer: Answer, content_type: str) -> int:
    """Return the HTTP status of an answer.

    Older clients, which accept plain JSON, expect 200 for every well-formed request.
    """
    if answer.unavailable:
        return 503
    return 200 if answer.executed or content_type == JSON else 400


def error_headers(error: CairnError, metadata: str | None = None) -> Headers:
    """Return Retry-After or WWW-Authenticate for an error. `metadata` is the URL of the protected resource metadata."""
    if isinstance(error, Throttled):
        return ((b"retry-after", b"%d" % error.retry_after),)
    if isinstance(error, Unauthenticated):
        return ((b"www-authenticate", challenge(error, metadata).encode()),)
    return NO_HEADERS


def retry_headers() -> Headers:
    """Return Retry-After if a part of the response failed only temporarily, although the status is 200."""
    return (RETRY_SOON,) if has_error("UNAVAILABLE") else NO_HEADERS


async def respond(send: Send, status: int, content_type: str, body: bytes, more: Headers) -> None:
    """Send a response, in pieces if it is large. Raises TimeoutError if the client does not read the pieces."""
    length = (b"content-length", b"%d" % len(body))
    headers = [CONTENT_TYPES[content_type], length, *more, *HEADERS_BY_STATUS.get(status, ())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    if len(body) <= PIECE_SIZE:
        await send({"type": "http.response.body", "body": body})
    else:
        await send_pieces(send, body)
