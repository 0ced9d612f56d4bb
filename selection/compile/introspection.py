"""The cost of introspection, the fields of an operation that read the schema itself. It is counted in rows."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from math import ceil
from typing import Any

from graphql import FieldNode, FragmentDefinitionNode, FragmentSpreadNode, GraphQLSchema, SelectionSetNode

Fragments = Mapping[str, FragmentDefinitionNode]
ROOTS = frozenset({"__schema", "__type", "_service"})
"""The root fields that need the right to introspect. `_service` returns the schema to federation gateways.

`__typename` is none of them, because it reveals nothing about the schema beyond the response.
"""
ROOTS_AND_TYPENAME = ROOTS | {"__typename"}


def introspection_rows(schema: GraphQLSchema, selections: SelectionSetNode, fragments: Fragments) -> int:
    """Return the cost of an operation's introspection in rows; 0 if it has none. The document must be valid."""
    sizes = list_sizes(schema)
    roots = [node for node in fields(selections, fragments) if node.name.value in ROOTS]
    return len(roots) + sum(count_rows(node, fragments, sizes) for node in roots)


def count_rows(node: FieldNode, fragments: Fragments, sizes: Mapping[str, int]) -> int:
    """Return the number of objects in the lists below a field. `sizes` are the lengths of lists by field name."""
    objects = (field for field in fields(node.selection_set, fragments) if field.selection_set)
    inside = sum(count_rows(field, fragments, sizes) for field in objects)
    size = sizes.get(node.name.value)
    return inside if size is None else size * (1 + inside)


def fields(selections: SelectionSetNode | None, fragments: Fragments) -> Iterator[FieldNode]:
    """Yield the fields on the top level of a selection set, also those inside of fragments."""
    for node in selections.selections if selections else ():
        match node:
            case FieldNode():
                yield node
            case FragmentSpreadNode():
                yield from fields(fragments[node.name.value].selection_set, fragments)
            case _:
                yield from fields(getattr(node, "selection_set", None), fragments)


@lru_cache(maxsize=4)
def list_sizes(schema: GraphQLSchema) -> Mapping[str, int]:
    """Return the lengths of introspection lists by field name: exact ones of the schema, averages inside of types."""
    types: list[Any] = list(schema.type_map.values())
    members = [list(getattr(type_, "fields", {}).values()) for type_ in types]
    arguments = [len(getattr(field, "args", ())) for fields in members for field in fields]
    average = max(1, ceil(sum(map(len, members)) / len(types)))
    return {
        "types": len(types),
        "directives": len(schema.directives),
        "fields": average,
        "inputFields": average,
        "enumValues": average,
        "interfaces": 1,
        "possibleTypes": 1,
        "args": max(1, ceil(sum(arguments) / max(1, len(arguments)))),
    }
