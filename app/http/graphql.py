"""POST and GET /graphql, as GraphQL over HTTP has it."""

import asyncio
from contextlib import suppress
from uuid import UUID

from graphql import OperationType
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
from selection.execute.operation import Invalid

from ..documents.store import Documents
from ..server.server import DRAINING
from .errors import challenge, error_body, fault
from .idempotency import answer_once
from .limits import Bounds, OutOfTime
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
from .responses import NO_STORE, PIECE, Headers, UnreadAnswers, make_delivery, send_pieces

STOPPED = "The service stopped before this was done. Read what is there before you send a write again."


class GraphQLEndpoint:
    """The GraphQL endpoint, from bytes to bytes. It refuses a faulty request before anything is executed."""

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
        """`contract` names the engine's contract where it is not the newest: an idempotency key is of one of them.
        `streaming` serves the WebSockets and event streams of this path, if there are any."""
        self.contract, self.streaming = contract, streaming
        self.engine, self.database, self.credentials, self.documents = engine, database, credentials, documents
        self.bodies, self.bounds, self.compress_over = Bodies(max_body), bounds, compress_over
        self.unread = UnreadAnswers()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.streaming is not None and (scope["type"] == "websocket" or wants_events(scope)):
            await self.streaming(scope, receive, send)
            return
        kind, more, borrower = JSON, NO_HEADERS, None
        try:
            kind = answer_type(scope)
            wiki = await self.credentials.scope(*credential_of(scope))
            request = await read_operation(scope, receive, self.bodies)
            if request.document is not None or self.documents.are_trusted_only:
                request = self.documents.resolve(request, wiki.tenant_id)
            if request.position is not None:
                bring_position(request.position)
            if scope["method"] == "GET":
                await self.check_is_query(request)
            if (key := idempotency_key(scope)) is None:
                answer = await self.execute(request, wiki, self.database)
            else:
                answer, more = await answer_once(
                    self.engine, self.database, wiki, key, request, self.execute, self.contract
                )
            if ROUTE.get() is not None:
                answer = await with_position(self.database, answer)
            status, body, borrower = status_of(answer, kind), answer.body, wiki.tenant_id
            if len(body) > PIECE:
                await self.check_room(request, borrower, len(body))
        except Refused as refused:
            status, body = refused.status, error_body(refused.message, refused.code)
        except CairnError as error:
            status, body = status_of_error(error), error_body(error.message, **error.extensions)
            more = headers_of(error)
        except asyncio.CancelledError:
            if not DRAINING.is_on:
                raise
            status, body = 503, error_body(STOPPED, "UNAVAILABLE")
        except Exception as error:
            status, body = fault(error)
        if status == 200:
            more += retry_headers()
        headers = NO_STORE
        if scope["method"] == "GET" or 0 < self.compress_over < len(body):
            status, body, headers = await make_delivery(scope, status, body, self.compress_over)
        if len(body) <= PIECE:
            await respond(send, status, kind, body, headers + more)
            return
        with self.unread.hold(borrower, len(body)), suppress(TimeoutError):  # the server closes what was not sent whole
            await respond(send, status, kind, body, headers + more)

    async def execute(self, request: GraphQLRequest, wiki: Wiki, database: Database) -> Answer:
        with span("operation"):
            return await self.bounds.execute(self.engine, database, wiki, request)

    async def check_room(self, request: GraphQLRequest, borrower: UUID, size: int) -> None:
        """Refuse a large answer while much is unread. The answer of a mutation is sent: what it says was done."""
        if not self.unread.has_room(borrower, size) and not await self.is_mutation(request):
            raise Throttled("Clients of this tenant have not read earlier large responses. Try again in a moment.", 1)

    async def check_is_query(self, request: GraphQLRequest) -> None:
        if await self.is_mutation(request):
            raise Refused(405, "GET is for queries; send a mutation as a POST.", "METHOD_NOT_ALLOWED")

    async def is_mutation(self, request: GraphQLRequest) -> bool:
        try:
            document = await self.engine.document(request.query, request.name)
        except Invalid:
            return False
        return document.operation.definition.operation is OperationType.MUTATION


def bring_position(given: object) -> None:
    """Have the reads of this request see the write whose answer said this position."""
    if (route := ROUTE.get()) is None:
        return
    try:
        route.wanted = max(route.wanted, parse_position(str(given)))
    except ValueError:
        raise faulty_position("extensions.position") from None


def status_of_error(error: CairnError) -> int:
    """Return the status of an error by its kind, or by that of which it is one."""
    return next((STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES), 400)


STATUSES: dict[type[CairnError], int] = {
    Unauthenticated: 401,
    NoCredential: 401,
    Forbidden: 403,
    InProgress: 409,
    KeyReused: 422,
    Throttled: 429,
    Unavailable: 503,
    OutOfTime: 504,
}
CONTENT_TYPES = {kind: (b"content-type", f"{kind}; charset=utf-8".encode()) for kind in (JSON, GRAPHQL_JSON)}
RETRY_SOON = (b"retry-after", b"1")  # seconds
EXTRA: dict[int, list[tuple[bytes, bytes]]] = {
    405: [(b"allow", b"GET, POST")],
    409: [RETRY_SOON],
    503: [RETRY_SOON],
}
NO_HEADERS: Headers = ()


def status_of(answer: Answer, kind: str) -> int:
    """Return the status of an answer. Old clients, who take plain JSON, want 200 for every well-formed request."""
    if answer.unavailable:
        return 503
    return 200 if answer.executed or kind == JSON else 400


def headers_of(error: CairnError, metadata: str | None = None) -> Headers:
    """The headers that tell a client how to go on after this error; `metadata` is where it learns to get a token."""
    if isinstance(error, Throttled):
        return ((b"retry-after", b"%d" % error.retry_after),)
    if isinstance(error, Unauthenticated):
        return ((b"www-authenticate", challenge(error, metadata).encode()),)
    return NO_HEADERS


def retry_headers() -> Headers:
    """Return Retry-After if a part of the answer failed only for now: its status is that of an executed operation."""
    return (RETRY_SOON,) if has_error("UNAVAILABLE") else NO_HEADERS


async def respond(send: Send, status: int, kind: str, body: bytes, more: Headers) -> None:
    length = (b"content-length", b"%d" % len(body))
    headers = [CONTENT_TYPES[kind], length, *more, *EXTRA.get(status, ())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    if len(body) <= PIECE:
        await send({"type": "http.response.body", "body": body})
    else:
        await send_pieces(send, body)
