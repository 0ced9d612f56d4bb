"""POST and GET /graphql, as GraphQL over HTTP has it."""

from typing import Any

import orjson
import structlog
from graphql import OperationType
from starlette.types import Receive, Scope, Send

from db.database import Database
from db.scope import Scope as Wiki
from resolvers.credentials import Credentials
from resolvers.errors import CairnError, Forbidden, Unauthenticated, Unavailable
from resolvers.throttling import Throttled
from schema.errors import MASKED
from selection import Engine
from selection.operation import Invalid

from .bounds import Bounds
from .deadline import OutOfTime
from .request import GRAPHQL_JSON, JSON, Bodies, Operation, Refused, answer_type, header, read_operation

log = structlog.get_logger()


class GraphQLEndpoint:
    """From bytes to bytes. What is wrong with a request is told before anything is executed."""

    def __init__(
        self, engine: Engine, database: Database, credentials: Credentials, *, max_body: int, bounds: Bounds
    ) -> None:
        self.engine, self.database, self.credentials = engine, database, credentials
        self.bodies, self.bounds = Bodies(max_body), bounds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        kind, extra = JSON, []
        try:
            kind = answer_type(scope)
            wiki = await self.credentials.scope(header(scope, b"authorization"), header(scope, b"x-cairn-owner"))
            asked = await read_operation(scope, receive, self.bodies)
            if scope["method"] == "GET":
                await self.check_is_query(asked)
            status, body = await self.execute(asked, wiki, kind)
        except Refused as refused:
            status, body = refused.status, error_body(refused.message, {"code": refused.code})
        except CairnError as error:
            status, body = STATUSES.get(type(error), 400), error_body(error.message, error.extensions)
            extra = retry_after(error)
        except Exception as error:
            log.error("internal error", exc_info=error)
            status, body = 500, error_body(MASKED, {"code": "INTERNAL_SERVER_ERROR"})
        await respond(send, status, kind, body, extra)

    async def execute(self, asked: Operation, wiki: Wiki, kind: str) -> tuple[int, bytes]:
        """Old clients, who take plain JSON, want 200 for every well-formed request."""
        answer = await self.bounds.execute(self.engine, self.database, wiki, asked)
        return (200 if answer.executed or kind == JSON else 400), answer.body

    async def check_is_query(self, asked: Operation) -> None:
        try:
            document = await self.engine.document(asked.query, asked.name)
        except Invalid:
            return
        if document.operation.definition.operation is not OperationType.QUERY:
            raise Refused(405, "GET is for queries; send a mutation as a POST.", "METHOD_NOT_ALLOWED")


STATUSES: dict[type[CairnError], int] = {
    Unauthenticated: 401,
    Forbidden: 403,
    Throttled: 429,
    Unavailable: 503,
    OutOfTime: 504,
}
CONTENT_TYPES = {kind: (b"content-type", f"{kind}; charset=utf-8".encode()) for kind in (JSON, GRAPHQL_JSON)}
NO_STORE = (b"cache-control", b"no-store")
EXTRA: dict[int, list[tuple[bytes, bytes]]] = {
    401: [(b"www-authenticate", b'Bearer realm="cairn"')],
    405: [(b"allow", b"GET, POST")],
}


Headers = list[tuple[bytes, bytes]]


def error_body(message: str, extensions: dict[str, Any]) -> bytes:
    return orjson.dumps({"errors": [{"message": message, "extensions": extensions}]})


def retry_after(error: CairnError) -> Headers:
    return [(b"retry-after", b"%d" % error.retry_after)] if isinstance(error, Throttled) else []


async def respond(send: Send, status: int, kind: str, body: bytes, extra: Headers) -> None:
    length = (b"content-length", b"%d" % len(body))
    headers = [CONTENT_TYPES[kind], length, NO_STORE, *EXTRA.get(status, ()), *extra]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
