"""Introspection: the part of an operation that asks about the contract itself, counted in rows like anything else."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from math import ceil
from typing import Any

from graphql import FieldNode, FragmentDefinitionNode, FragmentSpreadNode, GraphQLSchema, SelectionSetNode

Fragments = Mapping[str, FragmentDefinitionNode]
ROOTS = frozenset({"__schema", "__type", "_service"})
"""`_service` shows the contract to gateways. `__typename` is none of them: it says nothing that the answer does not."""
ROOTS_AND_TYPENAME = ROOTS | {"__typename"}


def introspection_rows(schema: GraphQLSchema, selections: SelectionSetNode, fragments: Fragments) -> int:
    """Return the rows that its introspection amounts to; 0 when it has none. The document must be valid."""
    sizes = list_sizes(schema)
    asked = [node for node in fields(selections, fragments) if node.name.value in ROOTS]
    return len(asked) + sum(count_rows(node, fragments, sizes) for node in asked)


def count_rows(node: FieldNode, fragments: Fragments, sizes: Mapping[str, int]) -> int:
    objects = (field for field in fields(node.selection_set, fragments) if field.selection_set)
    inside = sum(count_rows(field, fragments, sizes) for field in objects)
    size = sizes.get(node.name.value)
    return inside if size is None else size * (1 + inside)


def fields(selections: SelectionSetNode | None, fragments: Fragments) -> Iterator[FieldNode]:
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
    """Return the lengths of the lists of introspection: of types exactly, inside them on average."""
    types: list[Any] = list(schema.type_map.values())
    members = [list(getattr(type_, "fields", {}).values()) for type_ in types]
    arguments = [len(getattr(field, "args", ())) for fields in members for field in fields]
    several = max(1, ceil(sum(map(len, members)) / len(types)))
    return {
        "types": len(types),
        "directives": len(schema.directives),
        "fields": several,
        "inputFields": several,
        "enumValues": several,
        "interfaces": 1,
        "possibleTypes": 1,
        "args": max(1, ceil(sum(arguments) / max(1, len(arguments)))),
    }
