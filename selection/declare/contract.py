"""The mappings of a built schema. Strawberry leaves its definitions on graphql-core's objects; nothing is imported."""

from typing import Any

from graphql import (
    GraphQLArgument,
    GraphQLField,
    GraphQLInputField,
    GraphQLObjectType,
    get_nullable_type,
    is_list_type,
    is_object_type,
)

from .mapping import Mapping, Part, Source

METADATA = "selection"


def strawberry_definition(element: GraphQLField | GraphQLArgument | GraphQLInputField) -> Any:
    return element.extensions.get("strawberry-definition")


def mapping_of(field: GraphQLField) -> Mapping | None:
    found = strawberry_definition(field)
    mapping: Mapping | None = found.metadata.get(METADATA) if found else None
    return mapping


def python_name(element: GraphQLField | GraphQLArgument | GraphQLInputField) -> str:
    name: str = strawberry_definition(element).python_name
    return name


def is_list_from_step(field: GraphQLField | None) -> bool:
    """Return whether the field's answer is [] when its step finds nothing."""
    source = mapping_of(field) if field else None
    is_list = field is not None and is_list_type(get_nullable_type(field.type))
    return is_list and isinstance(source, Source) and source.step is not None


def is_connection(named: Any) -> bool:
    """Return whether the compiler pages it. Where `pageInfo` is not its own to make, it is an object like any other."""
    info = named.fields.get("pageInfo") if is_object_type(named) else None
    return info is not None and isinstance(mapping_of(info), Part)


def object_type(named: Any) -> GraphQLObjectType:
    assert isinstance(named, GraphQLObjectType), named
    return named
