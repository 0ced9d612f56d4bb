"""Scalars: one format for each, whichever way a value takes to the client."""

from datetime import UTC, datetime
from typing import Any

import orjson
import strawberry
from graphql import GraphQLError
from strawberry.schema.config import StrawberryConfig
from strawberry.types.scalar import ScalarDefinition

from selection.wire import timestamp


def read_moment(text: Any) -> datetime:
    """ISO 8601; without a zone it is UTC."""
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (TypeError, ValueError, OverflowError) as error:
        raise GraphQLError("A DateTime is written as 2026-11-20T10:00:00Z.") from error


def read_document(value: Any) -> Any:
    """Whatever JSON can say, up to 64 kB."""
    if len(orjson.dumps(value)) > 65536:
        raise GraphQLError("This JSON is larger than 64 kB.")
    return value


SCALARS: dict[Any, ScalarDefinition] = {
    datetime: strawberry.scalar(
        name="DateTime",
        description="A moment in ISO 8601; answers are in UTC with microseconds, as 2026-11-20T10:00:00.000000Z.",
        serialize=timestamp,
        parse_value=read_moment,
    ),
    strawberry.scalars.JSON: strawberry.scalar(
        name="JSON", description="Any JSON value.", serialize=lambda value: value, parse_value=read_document
    ),
}

CONFIG = StrawberryConfig(scalar_map=SCALARS)
