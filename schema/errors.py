"""Errors as clients see them: a code on each, and nothing of our insides."""

import re
from typing import Any

import structlog
from graphql import GraphQLError

from observability.trace import request_id
from resolvers.errors import CairnError
from resolvers.transactions.db_errors import translate_error

log = structlog.get_logger()
LONGEST = 1000  # characters: a message may quote what a client has sent
# graphql-core shows a value as Python writes it. What stands in quotes is text of the client.
PYTHON_WORD = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\b(None|True|False)\b""")
IN_JSON = {"None": "null", "True": "true", "False": "false"}


def format_error(error: GraphQLError) -> dict[str, Any]:
    """Ours and the client's own mistakes as they are; anything else is masked and logged."""
    formatted = dict(error.formatted)
    formatted["message"] = in_json_words(error.message[:LONGEST])
    cause = error.original_error
    while isinstance(cause, GraphQLError) and cause.original_error is not None:
        cause = cause.original_error
    if isinstance(cause, Exception) and not isinstance(cause, CairnError | GraphQLError):
        cause = translate_error(cause)
        formatted["message"] = cause.message if isinstance(cause, CairnError) else formatted["message"]
    if isinstance(cause, CairnError):
        formatted["extensions"] = cause.extensions
    elif cause is None or isinstance(cause, GraphQLError):
        formatted["extensions"] = {"code": "BAD_USER_INPUT", **(error.extensions or {})}
    else:
        log.error("internal error", path=error.path, exc_info=cause)
        formatted |= masked()
    return formatted


def in_json_words(message: str) -> str:
    """`got invalid value None` → `got invalid value null`."""
    return PYTHON_WORD.sub(lambda found: IN_JSON[found[1]] if found[1] else found[0], message)


def masked() -> dict[str, Any]:
    """The message and extensions of a fault of ours: what it was is in the log, under the request's id."""
    known = request_id()
    code = "INTERNAL_SERVER_ERROR"
    if known is None:
        return {"message": "Something went wrong here. The log says what.", "extensions": {"code": code}}
    message = f"Something went wrong here. Tell the operators the request id {known}: the log says what."
    return {"message": message, "extensions": {"code": code, "requestId": known}}
