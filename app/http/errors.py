"""Errors outside of GraphQL operations. They have the form of GraphQL errors, with a code, and no internal details."""

from collections.abc import Mapping
from typing import Any

import orjson
import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from observability.trace import record_error
from resolvers.errors import NoCredential, Unauthenticated, Unavailable
from resolvers.transactions.db_errors import translate_error
from schema.errors import masked

log = structlog.get_logger()
STOPPED = "The service stopped before this was done. Read what is there before you send a write again."
CODES = {404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED"}
ROUTER_MESSAGES = {
    404: "There is nothing at this path. The API is at /graphql.",
    405: "Method not allowed. See the Allow header for the methods of this path.",
}


def error_body(message: str, code: str, **extensions: Any) -> bytes:
    record_error(code)
    return orjson.dumps({"errors": [{"message": message, "extensions": {"code": code, **extensions}}]})


def masked_body() -> bytes:
    """Return the body for an internal error. It shows only the request id, which the log entry has too."""
    public = masked()
    return error_body(public["message"], **public["extensions"])


def challenge(error: Unauthenticated, metadata: str | None = None) -> str:
    """Return the WWW-Authenticate header of a 401 (RFC 6750), without an `error` if the request had no credential.

    `metadata` is the URL of the protected resource metadata, if clients can get tokens by OAuth.
    """
    header = 'Bearer realm="cairn"' + (f', resource_metadata="{metadata}"' if metadata else "")
    if isinstance(error, NoCredential):
        return header
    description = "".join(c for c in error.message if " " <= c <= "~" and c not in '"\\')
    return f'{header}, error="invalid_token", error_description="{description}"'


def fault_response(error: Exception) -> tuple[int, bytes]:
    """Return the status and body for an unhandled error: 503 if Postgres cannot be used now, else 500."""
    known = translate_error(error)
    if isinstance(known, Unavailable):
        return 503, error_body(known.message, **known.extensions)
    log.error("internal error", exc_info=error)
    return 500, masked_body()


async def send_json(send: Send, status: int, body: bytes) -> None:
    """Send a JSON response, with Retry-After if its status is 503."""
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 503:
        headers.append((b"retry-after", b"%d" % Unavailable.retry_after))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def router_error_response(request: Request, error: Exception) -> Response:
    """Return the response for an error of the router: an unknown path, or a method that the path does not allow."""
    assert isinstance(error, HTTPException)
    status = error.status_code
    body = error_body(ROUTER_MESSAGES.get(status, str(error.detail)), CODES.get(status, "BAD_REQUEST"))
    return Response(body, status, dict(error.headers or {}), "application/json")


class ErrorMiddleware:
    """Middleware that logs an unhandled error once, with its traceback, and answers in the common form of errors."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        has_begun = False

        async def track_begin(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self.app(scope, receive, track_begin)
        except Exception as error:
            if has_begun:
                raise  # a part of the response was sent: the server must cut the connection
            await send_json(send, *fault_response(error))


MESSAGE_MAX = 200  # characters of a message
# The messages by pydantic's error type. The names in braces are keys of the error's context.
MESSAGES = {
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "date_from_datetime_parsing": "must be a date like 2026-11-20",
    "date_parsing": "must be a date like 2026-11-20",
    "date_type": "must be a date like 2026-11-20",
    "datetime_from_date_parsing": "must be a moment like 2026-11-20T10:00:00Z",
    "datetime_parsing": "must be a moment like 2026-11-20T10:00:00Z",
    "datetime_type": "must be a moment like 2026-11-20T10:00:00Z",
    "dict_type": "must be an object",
    "extra_forbidden": "is not known here",
    "finite_number": "must be a finite number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a smaller number",
    "int_type": "must be a whole number",
    "json_invalid": "is not valid JSON",
    "json_type": "must be JSON text",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "list_type": "must be a list",
    "missing": "is required",
    "missing_argument": "is required",
    "model_attributes_type": "must be an object",
    "model_type": "must be an object",
    "none_required": "must be null",
    "path_type": "must be a path",
    "string_pattern_mismatch": "must match the pattern {pattern}",
    "string_too_long": "must have at most {max_length} characters",
    "string_too_short": "must have at least {min_length} characters",
    "string_type": "must be text",
    "string_unicode": "must be valid Unicode",
    "time_parsing": "must be a time like 03:30",
    "time_type": "must be a time like 03:30",
    "timezone_aware": "must have a time zone",
    "too_long": "must have at most {max_length} items",
    "too_short": "must have at least {min_length} items",
    "tuple_type": "must be a list",
    "unexpected_keyword_argument": "is not known here",
    "uuid_parsing": "must be an id: a UUID",
    "uuid_type": "must be an id: a UUID",
}


def argument_problem(error: Mapping[str, Any]) -> str:
    """Return a message about a pydantic error in an argument, to be shown after the argument's name."""
    kind, message, context = str(error["type"]), str(error["msg"]), error.get("ctx") or {}
    if kind in ("enum", "literal_error"):
        return f"must be {str(context.get('expected', '')).replace(chr(39), '')}"[:MESSAGE_MAX]
    if kind in ("value_error", "assertion_error"):
        return message.removeprefix("Value error, ").removeprefix("Assertion failed, ")[:MESSAGE_MAX]
    try:
        return MESSAGES[kind].format_map(context)[:MESSAGE_MAX]
    except KeyError:
        return message.replace("Input should", "must", 1)[:MESSAGE_MAX]
