"""The JSON format of each scalar type. SQL and Python produce the same format."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from graphql import GraphQLEnumType, GraphQLOutputType, get_named_type
from sqlalchemy import ARRAY, JSON, Column, ColumnElement, Double, Text, cast, func, literal
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.elements import BindParameter
from sqlalchemy.sql.functions import FunctionElement

from ..compile.parameters import BoundParameter

EMPTY = cast(literal("[]"), JSON)


class json_object(FunctionElement[Any]):
    """A call of JSON_OBJECT('key': value, ...). Unlike json_build_object, it is not limited to 50 keys."""

    type = JSON()
    inherit_cache = False

    def __init__(self, pairs: Mapping[str, ColumnElement[Any]]) -> None:
        self.keys = tuple(pairs)
        super().__init__(*pairs.values())


@compiles(json_object)
def render(element: json_object, compiler: Any, **options: Any) -> str:
    values = (compiler.process(value, **options) for value in element.clauses)
    pairs = (f"'{key}': {value}" for key, value in zip(element.keys, values, strict=True))
    return f"JSON_OBJECT({', '.join(pairs)})"


def is_never_null(value: ColumnElement[Any]) -> bool:
    """Return whether the value is certainly not null: a NOT NULL column or a constant, but not a request's value."""
    if isinstance(value, BindParameter):
        return not isinstance(value, BoundParameter) and value.value is not None
    return isinstance(value, Column) and not value.nullable


def format_value(type_: GraphQLOutputType, value: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return a scalar or enum value in the format of the GraphQL response."""
    named = get_named_type(type_)
    if isinstance(named, GraphQLEnumType):
        return enum_name(value)
    if named.name == "DateTime":
        return func.to_char(func.timezone("UTC", value), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    if named.name == "Float":
        return cast(value, Double)
    if named.name == "JSON":
        return cast(value, JSON)  # a jsonb value would turn the whole JSON_OBJECT into jsonb, which sorts its keys
    return value


def enum_name(value: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return the GraphQL name of an enum value: the stored text in capitals. An array is converted as one text."""
    if isinstance(value.type, ARRAY):
        return cast(func.upper(cast(value, Text)), ARRAY(Text))
    return func.upper(value)


def require_not_null(value: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return the value as JSON, in an expression that makes the statement fail if the value is null.

    The engine then executes the operation with graphql-core, which reports the null and propagates it to the parent
    field.
    """
    return func.coalesce(func.to_json(value), cast(func.concat("null in a non-null field"), JSON))


def timestamp(value: datetime | str) -> str:
    """Format a timestamp as `format_value` does in SQL."""
    if isinstance(value, str):
        return value
    return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
