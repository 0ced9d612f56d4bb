"""Errors outside of GraphQL operations: the same form, a code on each, and nothing of our insides."""

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
CODES = {404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED"}
WORDS = {
    404: "There is nothing at this path. The API is at /graphql.",
    405: "Method not allowed. See the Allow header for the methods of this path.",
}


def error_body(message: str, code: str, **extensions: Any) -> bytes:
    record_error(code)
    return orjson.dumps({"errors": [{"message": message, "extensions": {"code": code, **extensions}}]})


def masked_body() -> bytes:
    """Return the body for an internal fault: it has the id that is in the log, and nothing else."""
    shown = masked()
    return error_body(shown["message"], **shown["extensions"])


def challenge(error: Unauthenticated, metadata: str | None = None) -> str:
    """Return the WWW-Authenticate header of a 401 (RFC 6750): without an error if no credential was sent.

    `metadata` is the address of the metadata of the protected resource, where programs may get tokens by OAuth.
    """
    shown = 'Bearer realm="cairn"' + (f', resource_metadata="{metadata}"' if metadata else "")
    if isinstance(error, NoCredential):
        return shown
    description = "".join(c for c in error.message if " " <= c <= "~" and c not in '"\\')
    return f'{shown}, error="invalid_token", error_description="{description}"'


def fault(error: Exception) -> tuple[int, bytes]:
    """Return status and body for an error that nothing else has answered: 503 if Postgres was lost, else 500."""
    known = translate_error(error)
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
    """Answer what the router refuses: an unknown path, or a method that the path does not have."""
    assert isinstance(error, HTTPException)
    status = error.status_code
    body = error_body(WORDS.get(status, str(error.detail)), CODES.get(status, "BAD_REQUEST"))
    return Response(body, status, dict(error.headers or {}), "application/json")


class ErrorMiddleware:
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


LONGEST = 200  # characters of a message
# By the type of a mistake; what is in braces is of its context.
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


def argument_problem(fault: Mapping[str, Any]) -> str:
    """Return what is wrong with one argument, worded to follow its name."""
    kind, message, context = str(fault["type"]), str(fault["msg"]), fault.get("ctx") or {}
    if kind in ("enum", "literal_error"):
        return f"must be {str(context.get('expected', '')).replace(chr(39), '')}"[:LONGEST]
    if kind in ("value_error", "assertion_error"):
        return message.removeprefix("Value error, ").removeprefix("Assertion failed, ")[:LONGEST]
    try:
        return MESSAGES[kind].format_map(context)[:LONGEST]
    except KeyError:
        return message.replace("Input should", "must", 1)[:LONGEST]
