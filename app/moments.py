"""The times in requests of REST and MCP, which follow one rule: they are texts in ISO 8601, as in GraphQL."""

from datetime import datetime
from typing import Annotated

from pydantic import BeforeValidator, Field


def parse_moment(value: object) -> object:
    """Return the time in a text. Raise ValueError for a number, which pydantic would accept, also in quotes."""
    if isinstance(value, datetime):
        return value
    try:
        return datetime.fromisoformat(value)  # type: ignore[arg-type]  # raises TypeError for other values
    except (TypeError, ValueError):
        raise ValueError("must be a text like 2026-11-20T10:00:00Z") from None


Moment = Annotated[datetime, BeforeValidator(parse_moment), Field(strict=False)]
