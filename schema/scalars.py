"""The scalars, each with one format in requests and responses, whichever code formats them."""

from datetime import UTC, datetime
from math import isfinite
from typing import Any

import orjson
import strawberry
from graphql import GraphQLError
from strawberry.types.scalar import ScalarDefinition

from selection.declare.json_format import timestamp


def read_moment(text: Any) -> datetime:
    """Parse a time in ISO 8601, in UTC if it has no zone. Raises GraphQLError."""
    try:
        moment = datetime.fromisoformat(text)
        moment = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (TypeError, ValueError, OverflowError) as error:
        raise GraphQLError("A DateTime is written as 2026-11-20T10:00:00Z.") from error
    if not 1 < moment.year < 9999:
        raise GraphQLError("A DateTime lies in the years 2 to 9998.")
    return moment


BAD_JSON = "This JSON is nested too deeply, or holds a number that JSON cannot keep."


def read_document(value: Any) -> Any:
    """Return a JSON value of at most 64 kB. Raises GraphQLError for any other value."""
    try:
        size = len(orjson.dumps(value)) if is_finite(value) else None
    except (TypeError, ValueError, RecursionError) as error:
        raise GraphQLError(BAD_JSON) from error
    if size is None:
        raise GraphQLError(BAD_JSON)
    if size > 65536:
        raise GraphQLError("This JSON is larger than 64 kB.")
    return value


def is_finite(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(is_finite, value.values()))
    if isinstance(value, list):
        return all(map(is_finite, value))
    return not isinstance(value, float) or isfinite(value)


SCALARS: dict[Any, ScalarDefinition] = {
    datetime: strawberry.scalar(
        name="DateTime",
        description="Time in ISO 8601. Responses are in UTC with microseconds, such as 2026-11-20T10:00:00.000000Z.",
        specified_by_url="https://scalars.graphql.org/andimarek/date-time.html",
        serialize=timestamp,
        parse_value=read_moment,
    ),
    strawberry.scalars.JSON: strawberry.scalar(
        name="JSON",
        description="Any JSON value.",
        specified_by_url="https://www.rfc-editor.org/rfc/rfc8259",
        serialize=lambda value: value,
        parse_value=read_document,
    ),
}
