"""Errors of calls, in words by which a model can correct them."""

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

from ..http.errors import argument_problem as of_argument
from .output_limit import cut, fenced, paragraphs
from .tool import ToolInput

log = structlog.get_logger()
ERROR = "cairn/error"
"""Where a program finds the code. Not in the structured content: clients compare that with the output schema."""
SHOWN = 5  # mistakes in arguments that are named at once
NEAREST = 2_000  # characters

NEXT: Mapping[str, str] = {
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


def failure(error: Exception, takes: type[ToolInput]) -> CallToolResult:
    """Return the result for any error of a tool that `takes` these arguments."""
    if isinstance(error, ValidationError):
        error = bad_arguments(error)
    message, extensions = public_error(error)
    code = extensions["code"]
    text = paragraphs(error_text(error, message, code, takes), nearest_text(error), NEXT.get(code))
    told = {ERROR: {"message": message, **extensions}}
    return CallToolResult(content=[TextContent(text=text)], is_error=True, _meta=told)


def refusal(error: Exception, **asked: Any) -> MCPError:
    """Return the protocol error for a request other than a tool call, with what was `asked` for."""
    if isinstance(error, MCPError):
        return error
    message, extensions = public_error(error)
    number = INVALID_PARAMS if extensions["code"] in ("BAD_USER_INPUT", "NOT_FOUND") else INTERNAL_ERROR
    return MCPError(number, message, {**asked, **extensions})


def is_outage(error: Exception) -> bool:
    """Return whether the same call may work in a moment, because the database was missing."""
    return isinstance(error, CairnError) and error.code == Unavailable.code


def public_error(error: Exception) -> tuple[str, Mapping[str, Any]]:
    """Return the message and the extensions of an error. An internal fault is logged, and shown without its details."""
    error = translate_error(error)
    if isinstance(error, CairnError):
        record_error(error.code)
        return error.message, error.extensions
    log.error("internal error", exc_info=error)
    hidden = masked()
    record_error(hidden["extensions"]["code"])
    return hidden["message"], hidden["extensions"]


def error_text(error: Exception, message: str, code: str, takes: type[ToolInput]) -> str:
    """Return the message with the argument that is meant. A conflict names the page by its title, which is data."""
    if isinstance(error, Conflict):
        return paragraphs(f"{code}: The page is not as you know it.", fenced(message))
    field = error.field if isinstance(error, BadInput) else None
    is_named = field in takes.model_fields and not message.startswith(f"{field}: ")
    return f"{code}: {field}: {message}" if is_named else f"{code}: {message}"


def bad_arguments(error: ValidationError) -> BadInput:
    """Return an error with each mistake and the argument that it is in; what was given is not repeated."""
    mistakes = error.errors(include_url=False, include_input=False)
    shown = "; ".join(f"{place(one['loc'])}: {of_argument(one)}" for one in mistakes[:SHOWN])
    more = f"; and {len(mistakes) - SHOWN} more" if len(mistakes) > SHOWN else ""
    return BadInput(f"{shown}{more}. The tool's input schema says what it takes.", place(mistakes[0]["loc"]))


def place(path: tuple[int | str, ...]) -> str:
    return ".".join(map(str, path))[:100] or "arguments"


def nearest_text(error: Exception) -> str | None:
    """Return the text that an edit may have meant: quoted from the page, so that it can be sent as old_text."""
    if not isinstance(error, EditFailed) or error.nearest is None:
        return None
    return f"Nearest text, at line {error.nearest.line}:\n{fenced(cut(error.nearest.text, 0, NEAREST).text)}"
