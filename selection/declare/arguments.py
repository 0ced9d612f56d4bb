"""GraphQL arguments as the functions of a mapping receive them: None, a Choice, a bool, or a bound SQL parameter.

A plan is compiled once for all requests whose variables have the same shape. Compiling may therefore depend on the
shape of a value only (null or not, which Choice, which fields of an input object); the value itself is read from each
request by a Getter.
"""

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
    """An argument of a field: its type and its value."""

    type: GraphQLInputType
    value: Any
    """The value in the request for which the plan is compiled. Compiling may depend on its shape only."""
    get: Getter
    """Returns the value in any request of the same shape."""


def read_arguments(field: GraphQLField, node: FieldNode, variables: VariableValues) -> dict[str, Argument]:
    """Return the arguments of a field by Python name, with defaults. Raises the GraphQLErrors of graphql-core."""
    values = get_argument_values(field, node, variables)
    written = {argument.name.value: argument.value for argument in node.arguments or ()}
    read = {}
    for name, value in values.items():
        argument = field.args[name]
        read[python_name(argument)] = Argument(argument.type, value, getter_of(argument.type, written.get(name), value))
    return read


def bind(argument: Argument, binds: Binds) -> Any:
    """Return the argument as a mapping's function receives it.

    Null is None. A scalar, an enum or a list of them is one bound parameter. A Choice or a bool is its plain value.
    Other lists and input objects become lists and namespaces of the same.
    """
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
    """Return a getter of one item of a list, or one field of an input object."""
    return lambda request: get(request)[key]


def sql_type(type_: GraphQLInputType) -> TypeEngine[Any]:
    """Return the SQL type of a parameter for this GraphQL type: text where SQL_TYPES names no other."""
    item = SQL_TYPES.get(get_named_type(type_).name, Text())
    return ARRAY(item) if isinstance(get_nullable_type(type_), GraphQLList) else item


PAGING = {"limit", "first", "after", "last", "before"}
"""The arguments of lists and connections that the compiler reads; a mapping's query does not receive them."""


class PageArgs:
    """The paging arguments of one list or connection."""

    def __init__(self, arguments: dict[str, Argument], paging: Paging) -> None:
        getters = {name: argument.get for name, argument in arguments.items() if argument.value is not None}
        if "first" in getters and "last" in getters:
            raise BadInput("first and last together have no meaning; ask for one.")
        self.after: Getter | None = getters.get("after")
        self.before: Getter | None = getters.get("before")
        self.backward = "last" in getters
        self.per_row = paging.per_row
        self.history = paging.history
        size = getters.get("last") or getters.get("first") or getters.get("limit")
        self.size = page_size_getter(size, paging) if size else Fixed(paging.default)


def page_size_getter(size: Getter, paging: Paging) -> Getter:
    """Return a getter of the page size, within the bounds of the paging."""
    if isinstance(size, Fixed):
        # An invalid constant does not fail the compilation: the getter raises BadInput in each request, before any SQL.
        with suppress(BadInput):
            return Fixed(clamp_page_size(size.value, paging))
    return lambda request: clamp_page_size(size(request), paging)


def clamp_page_size(value: int, paging: Paging) -> int:
    """Return the size within the limits of the paging. Raises BadInput for a negative size without a `min_limit`."""
    if paging.min_limit is not None:
        value = max(value, paging.min_limit)
    if value < 0:
        raise BadInput("A list cannot have a negative size.")
    return min(value, paging.max_limit)


def length_getter(items: Argument) -> Getter:
    """Return a getter of the number of items of a list argument."""
    return lambda request: len(items.get(request))
