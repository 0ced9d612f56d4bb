"""Subscriptions: a stream of events is opened once, and each event then executes the operation like a query."""

from collections.abc import AsyncIterator
from typing import Any, NamedTuple, Protocol

from graphql import GraphQLError, GraphQLSchema

from ..compile.collect import Collector
from ..compile.parameters import Request
from ..declare.arguments import read_arguments
from ..declare.contract import mapping_of
from ..declare.mapping import Source
from ..limits import Limits
from .operation import Invalid, Operation, coerce_variables
from .plan import argument_values

STREAM_REQUIRED = (
    "This is a subscription: it needs a stream. Open a WebSocket to this address with the subprotocol "
    "graphql-transport-ws, or send the request with `Accept: text/event-stream`."
)


class EventStream(Protocol):
    """An asynchronous stream of events. The subscriber closes it."""

    def __aiter__(self) -> AsyncIterator[Any]: ...

    async def aclose(self) -> None: ...


class Events(NamedTuple):
    """The event stream of a subscription, and the response key of its root field."""

    key: str
    happening: EventStream


def check_has_event(context: Any) -> None:
    """Raise Invalid if a subscription is executed without an event, in a request that cannot stream."""
    if context.event is None:
        raise Invalid([GraphQLError(STREAM_REQUIRED)], "STREAM_REQUIRED")


async def subscribe(
    schema: GraphQLSchema, operation: Operation, given: dict[str, Any], limits: Limits, context: Any
) -> Events:
    """Open the event stream of a subscription. Raises Invalid, or an error of the access rule or of `events`."""
    assert schema.subscription_type is not None
    variables = coerce_variables(schema, operation, given, limits)
    collector = Collector(schema, operation.fragments, variables)
    selected = collector.collect(schema.subscription_type, [operation.definition.selection_set])
    ((key, nodes),) = selected.items()  # validation allows exactly one root field, without @skip or @include
    field = schema.subscription_type.fields[nodes[0].name.value]
    source = mapping_of(field)
    assert isinstance(source, Source)
    arguments = read_arguments(field, nodes[0], variables)
    request = Request(variables, context.scope, [])
    where = {name: argument for name, argument in arguments.items() if name in source.access.arguments}
    source.access.check(context.scope, **argument_values(where, request))
    assert source.events is not None
    return Events(key, await source.events(context, **argument_values(arguments, request)))
