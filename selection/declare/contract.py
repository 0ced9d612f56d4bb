"""Reads mappings from a built GraphQL schema.

Strawberry stores its definitions in the `extensions` of graphql-core's objects, so this module need not import
Strawberry.
"""

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

from .mapping import ConnectionPart, Mapping, Source

METADATA = "selection"
"""The key of a field's metadata that holds its mapping."""


def strawberry_definition(element: GraphQLField | GraphQLArgument | GraphQLInputField) -> Any:
    return element.extensions.get("strawberry-definition")


def mapping_of(field: GraphQLField) -> Mapping | None:
    """Return the mapping of a field, or None if the field is an ordinary method or attribute."""
    definition = strawberry_definition(field)
    mapping: Mapping | None = definition.metadata.get(METADATA) if definition else None
    return mapping


def python_name(element: GraphQLField | GraphQLArgument | GraphQLInputField) -> str:
    """Return the name of a field or argument in Python: `slug_prefix`, not `slugPrefix`."""
    name: str = strawberry_definition(element).python_name
    return name


def is_list_from_step(field: GraphQLField | None) -> bool:
    """Return whether the field is a list whose rows a step finds. Its value is [] if the step finds no row."""
    source = mapping_of(field) if field else None
    is_list = field is not None and is_list_type(get_nullable_type(field.type))
    return is_list and isinstance(source, Source) and source.step is not None


def is_connection(named: Any) -> bool:
    """Return whether a type is a connection that the compiler pages: its `pageInfo` is mapped as a ConnectionPart."""
    info = named.fields.get("pageInfo") if is_object_type(named) else None
    return info is not None and isinstance(mapping_of(info), ConnectionPart)


def object_type(named: Any) -> GraphQLObjectType:
    """Return the type itself, which must be an object type."""
    assert isinstance(named, GraphQLObjectType), named
    return named
