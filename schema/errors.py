"""Format errors for clients: each has a code, and none shows internals of the service."""

import re
from typing import Any

import structlog
from graphql import GraphQLError

from observability.trace import request_id
from resolvers.errors import CairnError
from resolvers.transactions.db_errors import translate_error

log = structlog.get_logger()
LONGEST = 1000  # characters of a message, which may quote what a client has sent
# graphql-core writes values in messages as Python does. Text in quotes comes from the client, and stays unchanged.
PYTHON_WORD = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\b(None|True|False)\b""")
IN_JSON = {"None": "null", "True": "true", "False": "false"}


def format_error(error: GraphQLError) -> dict[str, Any]:
    """Return an error as the client gets it.

    Errors of the request, and those that are or become a CairnError, are shown. Any other is masked and logged.
    """
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
    """Return a message with JSON's words: `got invalid value None` → `got invalid value null`."""
    return PYTHON_WORD.sub(lambda found: IN_JSON[found[1]] if found[1] else found[0], message)


def masked() -> dict[str, Any]:
    """Return the message and extensions of an internal error.

    Only the log has the error, under the id of the request.
    """
    id = request_id()
    code = "INTERNAL_SERVER_ERROR"
    if id is None:
        return {"message": "Something went wrong here. The log says what.", "extensions": {"code": code}}
    message = f"Something went wrong here. Tell the operators the request id {id}: the log says what."
    return {"message": message, "extensions": {"code": code, "requestId": id}}
