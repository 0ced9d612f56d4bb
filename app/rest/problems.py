"""Errors as `application/problem+json` (RFC 9457), with the same codes as in GraphQL and MCP."""

import re
from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Any

import orjson
import structlog
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from observability.trace import record_error, request_id
from resolvers.errors import BadInput, CairnError, Unauthenticated
from resolvers.rate_limits import Throttled
from resolvers.transactions.db_errors import translate_error
from schema.errors import LONGEST, masked

from ..http.errors import CODES, argument_problem, challenge
from ..http.request import Refused

log = structlog.get_logger()
PROBLEM = "application/problem+json"
STATUSES = {
    "BAD_REQUEST": 400,
    "UNAUTHENTICATED": 401,
    "FORBIDDEN": 403,
    "NOT_FOUND": 404,
    "METHOD_NOT_ALLOWED": 405,
    "ALIAS_TAKEN": 409,
    "ATTACHMENT_TAKEN": 409,
    "CONFLICT": 409,
    "EDIT_AMBIGUOUS": 409,
    "EDIT_FAILED": 409,
    "IDEMPOTENCY_IN_PROGRESS": 409,
    "PAGE_EXISTS": 409,
    "REVIEW_REQUIRED": 409,
    "SLUG_TAKEN": 409,
    "SOURCE_TAKEN": 409,
    "FILE_MISSING": 500,
    "CURSOR_EXPIRED": 410,
    "PRECONDITION_FAILED": 412,
    "LIMIT_EXCEEDED": 413,
    "BAD_USER_INPUT": 422,
    "IDEMPOTENCY_KEY_NOT_ALLOWED": 422,
    "NOT_FETCHED": 422,
    "PRIVATE_LINK": 422,
    "IDEMPOTENCY_KEY_REUSED": 422,
    "SOURCE_FORGOTTEN": 422,
    "THROTTLED": 429,
    "INTERNAL_SERVER_ERROR": 500,
    "UNAVAILABLE": 503,
    "TIMEOUT": 504,
}
# Names of resolvers' arguments that differ in REST.
FIELDS = {
    "after": "cursor",
    "bodyMd": "content",
    "first": "limit",
    "query": "q",
    "spaces": "space",
    "sectionSlug": "section",
}
MAX_FAULTS = 20  # faults of a request that the response lists
LOWER_UPPER = re.compile(r"(?<=[a-z])(?=[A-Z])")


class UnknownParameter(BadInput):
    """The path has no query parameter of this name. The name is shown as the client sent it."""


def problem_of(error: Exception) -> Response:
    """Return the response for an error. An internal error is logged, and its details are masked."""
    error = translate_error(error)
    match error:
        case Refused():
            return problem(error.status, error.code, error.message)
        case RequestValidationError():
            return validation_problem(error.errors())
        case Throttled():
            return problem(429, headers=retry_after(error.retry_after), **problem_fields(error))
        case Unauthenticated():
            return problem(401, headers=[("WWW-Authenticate", challenge(error))], **problem_fields(error))
        case CairnError():
            return problem(STATUSES.get(error.code, 400), **problem_fields(error))
        case HTTPException():
            return router_problem(error.status_code, str(error.detail))
    log.error("internal error", exc_info=error)
    public = masked()
    return problem(500, public["extensions"]["code"], public["message"])


def problem_fields(error: CairnError) -> dict[str, Any]:
    """Return the members of a problem for an error, with names as in REST."""
    more = {snake(name): value for name, value in error.extensions.items()}
    if (field := more.get("field")) and not isinstance(error, UnknownParameter):
        more["field"] = field_named(field)
    return {"detail": error.message[:LONGEST], **more}


def field_named(path: str) -> str:
    """Return the name of a field in REST: `sections.0.bodyMd` becomes `sections.0.content`."""
    return ".".join(FIELDS.get(part, snake(part)) for part in path.split("."))


def snake(name: str) -> str:
    return LOWER_UPPER.sub("_", name).lower()


def problem(status: int, code: str, detail: str, headers: Iterable[tuple[str, str]] = (), **more: Any) -> Response:
    """Return a problem response. `code` is for programs, and `detail` is for people."""
    record_error(code)
    body = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
        **more,
        "request_id": request_id(),
    }
    return Response(orjson.dumps(body), status, dict(HEADERS_BY_STATUS.get(status, ())) | dict(headers), PROBLEM)


HEADERS_BY_STATUS: dict[int, Sequence[tuple[str, str]]] = {
    503: [("Retry-After", "1")],
}


def retry_after(seconds: int) -> list[tuple[str, str]]:
    return [("Retry-After", str(seconds))]


def validation_problem(faults: Sequence[Any]) -> Response:
    """Return the problem for invalid input. `detail` is the first fault, and `errors` lists all, up to MAX_FAULTS."""
    errors = [{"field": field_path(fault["loc"]), "message": argument_problem(fault)} for fault in faults[:MAX_FAULTS]]
    first = errors[0]
    detail = f"{first['field']}: {first['message']}." if first["field"] else f"{first['message']}."
    return problem(422, "BAD_USER_INPUT", detail, field=first["field"], errors=errors)


def field_path(parts: Sequence[Any]) -> str | None:
    """Return the path of a faulty field, or None for the whole body.

    pydantic's location begins with `body` or `query`, and with the variant of a union, which are left out.
    """
    path = parts[2:] if parts[1:2] in (("one",), ("many",)) else parts[1:]
    return ".".join(str(part)[:100] for part in path) or None


def router_problem(status: int, detail: str) -> Response:
    """Return the problem for an unknown path, or for a method that the path does not allow."""
    details = {
        404: "There is nothing at this path; openapi.json names those that there are, and docs shows them.",
        405: "Method not allowed. See the Allow header for the methods of this path.",
    }
    return problem(status, CODES.get(status, "BAD_REQUEST"), details.get(status, detail))
