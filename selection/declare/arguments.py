"""GraphQL arguments as a declaration sees them: None, a choice, or a bound SQL parameter."""

from contextlib import suppress
from types import SimpleNamespace
from typing import Any, NamedTuple

from graphql import (
    FieldNode,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    get_named_type,
    get_nullable_type,
)
from graphql.execution.values import VariableValues, get_argument_values
from sqlalchemy import ARRAY, BigInteger, DateTime, Double, Integer, Text, Uuid
from sqlalchemy.types import TypeEngine

from ..compile.parameters import Binds, Fixed, Getter, getter_of, is_choice, is_plain, map_getter, parameter_reader
from ..errors import BadInput
from .contract import python_name
from .mapping import Paging

SQL_TYPES: dict[str, TypeEngine[Any]] = {
    "ID": Uuid(),
    "UUID": Uuid(),
    "Int": Integer(),
    "Float": Double(),
    "DateTime": DateTime(timezone=True),
    "BigInt": BigInteger(),
}


class Argument(NamedTuple):
    """One argument of one field."""

    type: GraphQLInputType
    value: Any
    """In the request the plan is built for: only its shape may be looked at."""
    get: Getter
    """In any request of that shape."""


def read_arguments(field: GraphQLField, node: FieldNode, variables: VariableValues) -> dict[str, Argument]:
    """Return the arguments of a field by Python name, defaults filled in. Raises what graphql-core would raise."""
    values = get_argument_values(field, node, variables)
    written = {argument.name.value: argument.value for argument in node.arguments or ()}
    read = {}
    for name, value in values.items():
        argument = field.args[name]
        read[python_name(argument)] = Argument(argument.type, value, getter_of(argument.type, written.get(name), value))
    return read


def bind(argument: Argument, binds: Binds) -> Any:
    type_, value, get = argument
    if value is None:
        return None
    if is_plain(type_):
        return binds.add(map_getter(parameter_reader(type_), get), sql_type(type_))
    nullable = get_nullable_type(type_)
    if isinstance(nullable, GraphQLList):
        return [bind(Argument(nullable.of_type, item, item_getter(get, i)), binds) for i, item in enumerate(value)]
    if isinstance(nullable, GraphQLInputObjectType):
        return SimpleNamespace(
            **{
                python_name(field): bind(Argument(field.type, value.get(name), item_getter(get, name)), binds)
                for name, field in nullable.fields.items()
            }
        )
    assert is_choice(nullable)
    return value


def item_getter(get: Getter, key: str | int) -> Getter:
    return lambda request: get(request)[key]


def sql_type(type_: GraphQLInputType) -> TypeEngine[Any]:
    item = SQL_TYPES.get(get_named_type(type_).name, Text())
    return ARRAY(item) if isinstance(get_nullable_type(type_), GraphQLList) else item


PAGING = {"limit", "first", "after", "last", "before"}


class PageArgs:
    """The asked part of one list."""

    def __init__(self, arguments: dict[str, Argument], paging: Paging) -> None:
        given = {name: argument.get for name, argument in arguments.items() if argument.value is not None}
        if "first" in given and "last" in given:
            raise BadInput("first and last together have no meaning; ask for one.")
        self.after: Getter | None = given.get("after")
        self.before: Getter | None = given.get("before")
        self.backward = "last" in given
        self.per_row, self.history = paging.per_row, paging.history
        asked = given.get("last") or given.get("first") or given.get("limit")
        self.size = page_size_getter(asked, paging) if asked else Fixed(paging.default)


def page_size_getter(asked: Getter, paging: Paging) -> Getter:
    if isinstance(asked, Fixed):
        with suppress(BadInput):  # each request is told so, before any SQL
            return Fixed(clamp_page_size(asked.value, paging))
    return lambda request: clamp_page_size(asked(request), paging)


def clamp_page_size(value: int, paging: Paging) -> int:
    if paging.least is not None:
        value = max(value, paging.least)
    if value < 0:
        raise BadInput("A list cannot have a negative size.")
    return min(value, paging.most)


def length_getter(items: Argument) -> Getter:
    """Return a getter of the number of items in a list that is an argument."""
    return lambda request: len(items.get(request))
