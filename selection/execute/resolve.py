"""graphql-core over compiled values: a source runs one statement, everything below it is already there."""

from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import orjson
from graphql import (
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLSchema,
    GraphQLUnionType,
    OperationType,
    get_named_type,
    is_enum_type,
    is_introspection_type,
)
from graphql.execution import Executor
from graphql.execution.values import VariableValues

from observability.trace import record_values

from ..compile.collect import Collector
from ..compile.compiler import EXPIRED, TYPE, Mode, Nodes, QueryCompiler
from ..compile.computed import places_below
from ..compile.parameters import Request
from ..declare.contract import lists_what_a_step_finds, mapping_of, python_name
from ..declare.mapping import Computed, Known, Source
from ..errors import NotCompilable, Refused
from .operation import Operation
from .plan import QueryPlan
from .plan_cache import DocumentCache

Info = GraphQLResolveInfo[Any]
RESTORED = "The database was restored since this cursor was given out, and may lack what you know: start without it."


class Resolvers:
    """The resolvers that are put on every mapped field of a built schema."""

    def __init__(self, schema: GraphQLSchema, operations: int = 512) -> None:
        self.schema = schema
        self.operations: DocumentCache[Operation] = DocumentCache(operations, lambda _, operation: operation.text)
        for type_ in schema.type_map.values():
            if isinstance(type_, GraphQLObjectType) and not is_introspection_type(type_):
                self.install_type(type_)
            elif isinstance(type_, GraphQLInterfaceType | GraphQLUnionType):
                type_.resolve_type = type_of(type_.resolve_type)

    def install_type(self, type_: GraphQLObjectType) -> None:
        type_.is_type_of = None if type_.interfaces else type_.is_type_of
        for field in type_.fields.values():
            match mapping_of(field):
                case None:
                    continue
                case Source() as source:
                    field.resolve = self.source(field, source)
                case Known() as known:
                    field.resolve = know(known)
                case Computed() as computed:
                    field.resolve = compute(field, computed)
                case _ if is_enum_type(get_named_type(field.type)):
                    field.resolve = enum_by_response_key
                case _:
                    field.resolve = by_response_key

    def source(self, field: GraphQLField, source: Source) -> Callable[..., Any]:
        async def run(mode: Mode, parent: Any, info: Info) -> bytes | None:
            plan = await self.plan(field, source, info, mode)
            return await plan.run(info.context, Request(variables_of(info), info.context.scope, []), parent)

        async def resolve(parent: Any, info: Info, **arguments: Any) -> Any:
            if info.root_value is PassingOn and info.operation.operation is OperationType.MUTATION:
                with suppress(NotCompilable):
                    return as_fragment(await run(Mode.BYTES, parent, info))
                record_values()
            data = await run(Mode.VALUES, parent, info)
            found = None if data is None else orjson.loads(data)
            if isinstance(found, dict) and EXPIRED in found:
                raise Refused(RESTORED, "CURSOR_EXPIRED")
            return found

        return resolve

    async def plan(self, field: GraphQLField, source: Source, info: Info, mode: Mode) -> QueryPlan:
        operation, variables = self.operation(info), variables_of(info)
        keys = tuple(key for key in info.path.as_list() if isinstance(key, str))

        def make() -> QueryPlan | NotCompilable:
            collector = Collector(self.schema, info.fragments, variables)
            try:
                return source_plan(collector, field, list(info.field_nodes), source, mode)
            except NotCompilable as reason:
                return reason.with_traceback(None)

        plan = await operation.plans.get_or_create_in_thread((mode, keys, operation.shape(variables)), make)
        if isinstance(plan, NotCompilable):
            raise NotCompilable(*plan.args)
        found: QueryPlan = plan
        return found

    def operation(self, info: Info) -> Operation:
        """Return the operation by identity: the entry keeps the node alive, so that its id cannot be another's."""
        return self.operations.get_or_create(
            id(info.operation), lambda: Operation(self.schema, info.operation, info.fragments)
        )


def source_plan(collector: Collector, field: GraphQLField, nodes: Nodes, source: Source, mode: Mode) -> QueryPlan:
    """Return the statement of one source and everything below it. Raises NotCompilable."""
    compiler = QueryCompiler(collector, mode)
    nothing = b"[]" if lists_what_a_step_finds(field) else None
    places = places_below(collector, field, nodes)
    return QueryPlan(compiler, compiler.source(field, nodes, source), places, nothing)


def as_fragment(data: bytes | None) -> orjson.Fragment | None:
    """Return what the compiler has completed, to be passed on."""
    return None if data is None else orjson.Fragment(data)


class PassingOn(Executor[None]):
    """graphql-core's executor, but for values that are complete already: they go into the answer as they are.

    The fields of mutations answer with such, where it is the root value that says so.
    """

    def complete_value(self, return_type: Any, details: Any, info: Any, path: Any, result: Any, position: Any) -> Any:
        if isinstance(result, orjson.Fragment):
            return result
        return super().complete_value(return_type, details, info, path, result, position)


def know(known: Known) -> Callable[..., Any]:
    async def resolve(parent: Any, info: Info) -> SimpleNamespace:
        (row,) = await known.step.run(info.context, parent, frozenset())
        return SimpleNamespace(**dict(zip(known.step.columns, row, strict=True)))

    return resolve


def type_of(otherwise: Callable[..., Any] | None) -> Callable[..., Any]:
    """Return a resolver of types: compiled values say theirs; Python objects, such as payloads, have it by class."""

    def resolve(value: Any, info: Info, abstract: Any) -> Any:
        if isinstance(value, dict):
            return value[TYPE]
        return otherwise(value, info, abstract) if otherwise else None

    return resolve


def variables_of(info: Info) -> VariableValues:
    """Return the coerced values; Strawberry's executor gives a plain dict of them, graphql-core's gives this."""
    given: Any = info.variable_values
    return given if isinstance(given, VariableValues) else VariableValues({}, given)


def by_response_key(row: dict[str, Any], info: Info, **arguments: Any) -> Any:
    """Return a compiled value: the compiler named it by its response key and applied the arguments."""
    return row[str(info.path.key)]


def enum_by_response_key(row: dict[str, Any], info: Info, **arguments: Any) -> Any:
    """Return members' values, which graphql-core wants, for the names that the compiled values hold."""
    found = row[str(info.path.key)]
    members: Any = get_named_type(info.return_type)
    if isinstance(found, list):
        return [members.values[name].value for name in found]
    return found and members.values[found].value


def compute(field: GraphQLField, computed: Computed) -> Callable[..., Any]:
    names = {key: python_name(argument) for key, argument in field.args.items()}

    def resolve(row: dict[str, Any], info: Info, **arguments: Any) -> Any:
        needs = {name: row[computed.key(name)] for name in computed.needs}
        return computed.function(**needs, **{names[key]: value for key, value in arguments.items()})

    return resolve
