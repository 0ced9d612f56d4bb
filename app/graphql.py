"""POST and GET /graphql, as GraphQL over HTTP has it."""

import asyncio

import structlog
from graphql import OperationType
from starlette.types import Receive, Scope, Send

from db.database import Database
from db.scope import Scope as Wiki
from resolvers.credentials import Credentials
from resolvers.errors import CairnError, Forbidden, NoCredential, Unauthenticated, Unavailable
from resolvers.idempotency import InProgress, KeyReused
from resolvers.throttling import Throttled
from selection import Engine
from selection.engine import Answer
from selection.operation import Invalid
from selection.trail import noted

from .bounds import Bounds
from .deadline import OutOfTime
from .delivery import NO_STORE, Headers, delivered, is_plain
from .documents.store import Documents
from .errors import challenge, error_body, masked_body
from .idempotency import answer_once, idempotency_key
from .request import GRAPHQL_JSON, JSON, Bodies, Operation, Refused, answer_type, header, read_operation
from .server.shutdown import DRAINING

log = structlog.get_logger()
STOPPED = "The service stopped before this was done. Read what is there before you send a write again."


class GraphQLEndpoint:
    """From bytes to bytes. What is wrong with a request is told before anything is executed."""

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
    ) -> None:
        self.engine, self.database, self.credentials, self.documents = engine, database, credentials, documents
        self.bodies, self.bounds, self.compress_over = Bodies(max_body), bounds, compress_over

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        kind, more = JSON, NO_MORE
        try:
            kind = answer_type(scope)
            wiki = await self.credentials.scope(header(scope, b"authorization"), header(scope, b"x-cairn-owner"))
            asked = await read_operation(scope, receive, self.bodies)
            if self.documents.concern(asked):
                asked = self.documents.resolve(asked, wiki.tenant_id)
            if scope["method"] == "GET":
                await self.check_is_query(asked)
            if (key := idempotency_key(scope)) is None:
                answer = await self.execute(asked, wiki, self.database)
            else:
                answer, more = await answer_once(self.engine, self.database, wiki, key, asked, self.execute)
            # Old clients, who take plain JSON, want 200 for every well-formed request.
            status, body = 200 if answer.executed or kind == JSON else 400, answer.body
        except Refused as refused:
            status, body = refused.status, error_body(refused.message, refused.code)
        except CairnError as error:
            status, body = STATUSES.get(type(error), 400), error_body(error.message, **error.extensions)
            more = headers_of(error)
        except asyncio.CancelledError:
            if not DRAINING.is_on:
                raise
            status, body = 503, error_body(STOPPED, "UNAVAILABLE")
        except Exception as error:
            log.error("internal error", exc_info=error)
            status, body = 500, masked_body()
        headers = NO_STORE
        if not is_plain(scope, body, self.compress_over):
            status, body, headers = await delivered(scope, status, body, self.compress_over)
        await respond(send, status, kind, body, headers + more)

    async def execute(self, asked: Operation, wiki: Wiki, database: Database) -> Answer:
        with noted("operation"):
            return await self.bounds.execute(self.engine, database, wiki, asked)

    async def check_is_query(self, asked: Operation) -> None:
        try:
            document = await self.engine.document(asked.query, asked.name)
        except Invalid:
            return
        if document.operation.definition.operation is OperationType.MUTATION:
            raise Refused(405, "GET is for queries; send a mutation as a POST.", "METHOD_NOT_ALLOWED")


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
SOON = (b"retry-after", b"1")  # seconds
EXTRA: dict[int, list[tuple[bytes, bytes]]] = {
    405: [(b"allow", b"GET, POST")],
    409: [SOON],
    503: [SOON],
}
NO_MORE: Headers = ()


def headers_of(error: CairnError) -> Headers:
    """The headers that tell a client how to go on after this error."""
    if isinstance(error, Throttled):
        return ((b"retry-after", b"%d" % error.retry_after),)
    if isinstance(error, Unauthenticated):
        return ((b"www-authenticate", challenge(error).encode()),)
    return NO_MORE


async def respond(send: Send, status: int, kind: str, body: bytes, more: Headers) -> None:
    length = (b"content-length", b"%d" % len(body))
    headers = [CONTENT_TYPES[kind], length, *more, *EXTRA.get(status, ())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
