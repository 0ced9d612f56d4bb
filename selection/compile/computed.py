"""Fields that Python computes, in an answer that Postgres writes: each holds what its function needs of the row."""

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
"""The key under which such a field says which call of the plan it waits for. The other keys are what it needs."""

Nodes = list[FieldNode]
Places = dict[str, "Places"]
"""By response key the objects that hold such fields, and the fields themselves, with nothing below them."""


class Call(NamedTuple):
    """The function of one field of an operation, and the arguments that the operation gives to it."""

    function: Callable[..., Any]
    arguments: dict[str, Argument]


class Calls:
    """The calls of a plan, and the places in its answer where their results belong."""

    def __init__(self, calls: Sequence[Call], places: Places) -> None:
        self.calls, self.places = calls, places

    async def fill(self, answer: bytes, request: Request) -> bytes:
        """Return an answer with each field computed from what it holds."""
        value = orjson.loads(answer)
        given = [{name: one.get(request) for name, one in call.arguments.items()} for call in self.calls]
        for row, key in pending_calls(value, self.places):
            needs = row[key]
            number = needs.pop(CALL)
            found = self.calls[number].function(**needs, **given[number])
            if isawaitable(found):
                found = await found
                await asyncio.sleep(0)  # for others: a long answer holds many short texts
            row[key] = found
        return orjson.dumps(value)


def pending_calls(value: Any, places: Places) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the rows of a value that hold a call, each with its key. Nothing else of the value is looked at."""
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
    """Return where the fields lie that Python computes, in an object of which these fields are selected."""
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
    """Return the same for the value of a field.

    The types that an abstract one may be share one tree: what they select under the same key has the same shape.
    """
    type_: Any = get_named_type(field.type)
    found = {} if found is None else found
    for concrete in collector.schema.get_possible_types(type_) if is_abstract_type(type_) else [type_]:
        if is_object_type(concrete):
            places_in(collector, concrete, collector.subfields(concrete, nodes), found)
    return found
