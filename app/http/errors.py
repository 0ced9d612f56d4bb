"""Errors outside of GraphQL operations: the same form, a code on each, and nothing of our insides."""

from typing import Any

import orjson
import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from observability.trace import record_error
from resolvers.errors import NoCredential, Unauthenticated, Unavailable
from resolvers.transactions.db_errors import explained
from schema.errors import masked

log = structlog.get_logger()
CODES = {404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED"}
WORDS = {
    404: "There is nothing at this path. The API is at /graphql.",
    405: "Method not allowed. See the Allow header for the methods of this path.",
}


def error_body(message: str, code: str, **extensions: Any) -> bytes:
    record_error(code)
    return orjson.dumps({"errors": [{"message": message, "extensions": {"code": code, **extensions}}]})


def masked_body() -> bytes:
    """For a fault of ours: it says the id under which the log has it, and nothing else."""
    shown = masked()
    return error_body(shown["message"], **shown["extensions"])


def challenge(error: Unauthenticated) -> str:
    """The WWW-Authenticate header of a 401 (RFC 6750): without an error where no credential was sent."""
    if isinstance(error, NoCredential):
        return 'Bearer realm="cairn"'
    description = "".join(c for c in error.message if " " <= c <= "~" and c not in '"\\')
    return f'Bearer realm="cairn", error="invalid_token", error_description="{description}"'


def fault(error: Exception) -> tuple[int, bytes]:
    """Status and body for what nothing else has answered: 503 where Postgres was lost, else it is one of ours."""
    known = explained(error)
    if isinstance(known, Unavailable):
        return 503, error_body(known.message, **known.extensions)
    log.error("internal error", exc_info=error)
    return 500, masked_body()


async def answer(send: Send, status: int, body: bytes) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 503:
        headers.append((b"retry-after", b"%d" % Unavailable.retry_after))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def not_served(request: Request, error: Exception) -> Response:
    """What the router refuses: an unknown path, or a method that the path does not have."""
    assert isinstance(error, HTTPException)
    status = error.status_code
    body = error_body(WORDS.get(status, str(error.detail)), CODES.get(status, "BAD_REQUEST"))
    return Response(body, status, dict(error.headers or {}), "application/json")


class Caught:
    """A fault in whatever is below is logged once, with its traceback, and answered in the common form."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = False

        async def noting(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, noting)
        except Exception as error:
            if begun:
                raise  # half an answer is out: the server must cut the connection
            await answer(send, *fault(error))
