"""How values of input objects are read: the same as graphql-core reads them, decided once for a type."""

from collections.abc import Callable
from typing import Any, NamedTuple

from graphql import (
    GraphQLInputObjectType,
    GraphQLInputType,
    is_non_null_type,
    is_required_input_field,
)
from graphql.pyutils import Undefined
from graphql.utilities.coerce_input_value import coerce_default_value

Reader = Callable[[Any], Any]
"""Raises, or gives Undefined, where a value is not valid; what is wrong with it is told at length."""


class Entry(NamedTuple):
    """One field of an input object."""

    out_name: str
    name: str
    read: Reader
    is_required: bool
    may_be_null: bool
    default: Any


def object_reader(
    type_: GraphQLInputObjectType, reader_of: Callable[[GraphQLInputType], Reader | None]
) -> Reader | None:
    """Nothing where graphql-core must do it: for types that hold themselves, and those of which one field is given."""
    if type_.is_one_of or holds(type_, type_, set()):
        return None
    entries = []
    for name, field in type_.fields.items():
        if (read := reader_of(field.type)) is None:
            return None
        is_required, may_be_null = is_required_input_field(field), not is_non_null_type(field.type)
        entries.append(Entry(field.out_name or name, name, read, is_required, may_be_null, coerce_default_value(field)))
    names, finished = type_.fields.keys(), type_.out_type

    def read_object(given: Any) -> Any:
        if type(given) is not dict or not given.keys() <= names:
            raise ValueError
        found = {}
        for out_name, name, read, is_required, may_be_null, default in entries:
            if name in given:
                value = given[name]
                if value is not None:
                    value = read(value)
                elif not may_be_null:
                    raise ValueError
            elif is_required:
                raise ValueError
            else:
                value = default
                if value is Undefined:
                    continue
            if value is Undefined:
                raise ValueError
            found[out_name] = value
        return finished(found)

    return read_object


def holds(outer: GraphQLInputObjectType, sought: GraphQLInputObjectType, seen: set[str]) -> bool:
    """Is the one anywhere inside the other?"""
    for field in outer.fields.values():
        inner: Any = field.type
        while hasattr(inner, "of_type"):
            inner = inner.of_type
        if inner is sought:
            return True
        if isinstance(inner, GraphQLInputObjectType) and inner.name not in seen:
            seen.add(inner.name)
            if holds(inner, sought, seen):
                return True
    return False
