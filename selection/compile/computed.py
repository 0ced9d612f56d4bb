"""Fills in computed fields in the JSON that Postgres returns.

In that JSON, a computed field is an object of the inputs of its function. Python replaces it with the function's value.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from inspect import isawaitable
from typing import Any, NamedTuple

import orjson
from graphql import FieldNode, GraphQLField, GraphQLObjectType, get_named_type, is_abstract_type, is_object_type

from ..declare.arguments import Argument
from ..declare.contract import mapping_of
from ..declare.mapping import Computed
from .collect import Collector, Fields
from .parameters import Request

CALL = "$call"
"""The key of a computed field's object that holds the index of its call. The other keys are the inputs."""

Nodes = list[FieldNode]
Places = dict[str, "Places"]
"""A tree of response keys that leads to the computed fields. The leaves, which are empty, are computed fields."""


class Call(NamedTuple):
    """The function of a computed field in an operation, with the arguments of the field."""

    function: Callable[..., Any]
    arguments: dict[str, Argument]


class Calls:
    """The calls of a plan, and the places of the computed fields in its JSON."""

    def __init__(self, calls: Sequence[Call], places: Places) -> None:
        self.calls = calls
        self.places = places

    async def fill(self, answer: bytes, request: Request) -> bytes:
        """Return the JSON with the value of each computed field."""
        value = orjson.loads(answer)
        arguments = [{name: argument.get(request) for name, argument in call.arguments.items()} for call in self.calls]
        for row, key in pending_calls(value, self.places):
            needs = row[key]
            number = needs.pop(CALL)
            result = self.calls[number].function(**needs, **arguments[number])
            if isawaitable(result):
                result = await result
                await asyncio.sleep(0)  # lets other tasks run: a response may contain many such fields
            row[key] = result
        return orjson.dumps(value)


def pending_calls(value: Any, places: Places) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each object that has a computed field, with the key of the field. Only the places are searched."""
    if isinstance(value, list):
        for item in value:
            yield from pending_calls(item, places)
    elif isinstance(value, dict):
        for key, below in places.items():
            if below:
                yield from pending_calls(value.get(key), below)
            elif isinstance(value.get(key), dict):
                yield value, key


def places_in(collector: Collector, type_: GraphQLObjectType, fields: Fields, found: Places | None = None) -> Places:
    """Return the places of computed fields in an object with these fields. `found` is the tree to add them to."""
    found = {} if found is None else found
    for key, nodes in fields.items():
        field = type_.fields.get(nodes[0].name.value)
        if field is None:
            continue
        if isinstance(mapping_of(field), Computed):
            found[key] = {}
        elif below := places_below(collector, field, nodes, found.get(key)):
            found[key] = below
    return found


def places_below(collector: Collector, field: GraphQLField, nodes: Nodes, found: Places | None = None) -> Places:
    """Return the places of computed fields in the value of a field. `found` is the tree to add them to.

    The concrete types of an abstract type share one tree, because values under the same key have the same shape.
    """
    type_: Any = get_named_type(field.type)
    found = {} if found is None else found
    for concrete in collector.schema.get_possible_types(type_) if is_abstract_type(type_) else [type_]:
        if is_object_type(concrete):
            places_in(collector, concrete, collector.subfields(concrete, nodes), found)
    return found
