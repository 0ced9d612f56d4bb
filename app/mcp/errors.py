"""The errors of tool calls, with messages that help a model to correct its call."""

from collections.abc import Mapping
from typing import Any

import structlog
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, CallToolResult, TextContent
from pydantic import ValidationError

from observability.trace import record_error
from resolvers.errors import BadInput, CairnError, Conflict, Unavailable
from resolvers.pages.edits import EditFailed
from resolvers.transactions.db_errors import translate_error
from schema.errors import masked

from ..http.errors import argument_problem
from .output_limit import cut, fence, paragraphs
from .tool import ToolInput

log = structlog.get_logger()
ERROR = "cairn/error"
"""The key of `_meta` for the error's code. Structured content must match the output schema, so it cannot have it."""
MISTAKES_SHOWN = 5  # mistakes in arguments that a message lists
NEAREST_MAX = 2_000  # characters of the nearest text

NEXT_STEPS: Mapping[str, str] = {
    "CONFLICT": "Read the page again with wiki_read, then make the change anew with its version.",
    "EDIT_AMBIGUOUS": "Give more lines around it as old_text, or replace_all.",
    "FORBIDDEN": "This credential cannot do it; a person has to.",
    "LIMIT_EXCEEDED": "Ask for less at once: a smaller limit, depth or max_chars.",
    "PAGE_EXISTS": "Read it with wiki_read, then change it with wiki_edit, wiki_append or wiki_update. "
    "If you mean another subject of that name, give a slug of its own.",
    "PRIVATE_LINK": "Link to a page of a shared space, or say it in words.",
    "REVIEW_REQUIRED": "A person decides. wiki_proposals says what became of it, and why.",
    "SLUG_TAKEN": "Give another slug, or change the page that has this one.",
    "TIMEOUT": "Ask for less at once.",
    "UNAVAILABLE": "Try the same again in a few seconds.",
}


def error_result(error: Exception, input_model: type[ToolInput]) -> CallToolResult:
    """Return the result of a tool call that failed. `input_model` has the arguments of the tool."""
    if isinstance(error, ValidationError):
        error = bad_arguments(error)
    message, extensions = public_error(error)
    code = extensions["code"]
    text = paragraphs(error_text(error, message, code, input_model), nearest_text(error), NEXT_STEPS.get(code))
    meta = {ERROR: {"message": message, **extensions}}
    return CallToolResult(content=[TextContent(text=text)], is_error=True, _meta=meta)


def protocol_error(error: Exception, **parameters: Any) -> MCPError:
    """Return the JSON-RPC error for a request other than a tool call, with the parameters of the request."""
    if isinstance(error, MCPError):
        return error
    message, extensions = public_error(error)
    number = INVALID_PARAMS if extensions["code"] in ("BAD_USER_INPUT", "NOT_FOUND") else INTERNAL_ERROR
    return MCPError(number, message, {**parameters, **extensions})


def is_outage(error: Exception) -> bool:
    """Return whether the call failed because the database was unavailable, so that a retry may succeed."""
    return isinstance(error, CairnError) and error.code == Unavailable.code


def public_error(error: Exception) -> tuple[str, Mapping[str, Any]]:
    """Return the message and the extensions of an error. An internal error is logged, and its details are masked."""
    error = translate_error(error)
    if isinstance(error, CairnError):
        record_error(error.code)
        return error.message, error.extensions
    log.error("internal error", exc_info=error)
    public = masked()
    record_error(public["extensions"]["code"])
    return public["message"], public["extensions"]


def error_text(error: Exception, message: str, code: str, input_model: type[ToolInput]) -> str:
    """Return the text of an error with its code and its argument. A conflict's message has a title, so it is fenced."""
    if isinstance(error, Conflict):
        return paragraphs(f"{code}: The page is not as you know it.", fence(message))
    field = error.field if isinstance(error, BadInput) else None
    is_named = field in input_model.model_fields and not message.startswith(f"{field}: ")
    return f"{code}: {field}: {message}" if is_named else f"{code}: {message}"


def bad_arguments(error: ValidationError) -> BadInput:
    """Return an error that lists the mistakes and their arguments, without the given values."""
    mistakes = error.errors(include_url=False, include_input=False)
    shown = "; ".join(
        f"{argument_path(mistake['loc'])}: {argument_problem(mistake)}" for mistake in mistakes[:MISTAKES_SHOWN]
    )
    more = f"; and {len(mistakes) - MISTAKES_SHOWN} more" if len(mistakes) > MISTAKES_SHOWN else ""
    return BadInput(f"{shown}{more}. The tool's input schema says what it takes.", argument_path(mistakes[0]["loc"]))


def argument_path(path: tuple[int | str, ...]) -> str:
    return ".".join(map(str, path))[:100] or "arguments"


def nearest_text(error: Exception) -> str | None:
    """Return the text of the page that is most similar to the old text of a failed edit, to be sent as old_text."""
    if not isinstance(error, EditFailed) or error.nearest is None:
        return None
    return f"Nearest text, at line {error.nearest.line}:\n{fence(cut(error.nearest.text, 0, NEAREST_MAX).text)}"
