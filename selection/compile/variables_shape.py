"""The part of the variables that decides the SQL: booleans, choices and what is null. The rest is bound."""

from collections.abc import Hashable
from typing import Any

from graphql import (
    GraphQLBoolean,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    get_nullable_type,
)

from ..declare.mapping import Choice

ABSENT = "absent"


def is_choice(type_: Any) -> bool:
    """Is the value itself part of the shape?"""
    return type_ is GraphQLBoolean or issubclass(getattr(type_, "wrapped_cls", object), Choice)


def is_plain(type_: GraphQLInputType) -> bool:
    """A scalar, an enum, or a list of them: one parameter."""
    nullable = get_nullable_type(type_)
    if isinstance(nullable, GraphQLList):
        return is_plain(nullable.of_type)
    return not isinstance(nullable, GraphQLInputObjectType) and not is_choice(nullable)


def shape(type_: GraphQLInputType, value: Any) -> Hashable:
    if value is None or is_plain(type_):
        return value is None
    nullable = get_nullable_type(type_)
    if isinstance(nullable, GraphQLList):
        return tuple(shape(nullable.of_type, item) for item in value)
    if isinstance(nullable, GraphQLInputObjectType):
        return tuple((name, shape(field.type, value[name])) for name, field in nullable.fields.items() if name in value)
    chosen: Hashable = value
    return chosen
