"""Mistakes in arguments, settings and bodies, in the words of those who send them rather than of pydantic."""

from collections.abc import Mapping
from typing import Any

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


def said(fault: Mapping[str, Any]) -> str:
    """What is wrong with one argument, to be read behind its name."""
    kind, message, context = str(fault["type"]), str(fault["msg"]), fault.get("ctx") or {}
    if kind in ("enum", "literal_error"):
        return f"must be {str(context.get('expected', '')).replace(chr(39), '')}"[:LONGEST]
    if kind in ("value_error", "assertion_error"):
        return message.removeprefix("Value error, ").removeprefix("Assertion failed, ")[:LONGEST]
    try:
        return MESSAGES[kind].format_map(context)[:LONGEST]
    except KeyError:
        return message.replace("Input should", "must", 1)[:LONGEST]
