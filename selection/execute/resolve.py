"""The resolvers by which graphql-core executes mapped fields.

The resolver of a source runs one statement, which returns the values of all fields below it. The resolvers of those
fields look their values up.
"""

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
from ..declare.contract import is_list_from_step, mapping_of, python_name
from ..declare.mapping import Computed, RequestFacts, Source
from ..errors import FieldError, NotCompilable
from .operation import Operation
from .plan import QueryPlan
from .plan_cache import DocumentCache

Info = GraphQLResolveInfo[Any]
RESTORED = "The database was restored since this cursor was given out, and may lack what you know: start without it."


class Resolvers:
    """Installs a resolver on every mapped field of a built schema, and caches the plans of sources."""

    def __init__(self, schema: GraphQLSchema, operations: int = 512) -> None:
        self.schema = schema
        self.operations: DocumentCache[Operation] = DocumentCache(operations, lambda _, operation: operation.text)
        for type_ in schema.type_map.values():
            if isinstance(type_, GraphQLObjectType) and not is_introspection_type(type_):
                self.install_type(type_)
            elif isinstance(type_, GraphQLInterfaceType | GraphQLUnionType):
                type_.resolve_type = type_resolver(type_.resolve_type)

    def install_type(self, type_: GraphQLObjectType) -> None:
        """Set the resolver of each mapped field of a type."""
        type_.is_type_of = None if type_.interfaces else type_.is_type_of
        for field in type_.fields.values():
            match mapping_of(field):
                case None:
                    continue
                case Source() as source:
                    field.resolve = self.source(field, source)
                case RequestFacts() as known:
                    field.resolve = known_resolver(known)
                case Computed() as computed:
                    field.resolve = computed_resolver(field, computed)
                case _ if is_enum_type(get_named_type(field.type)):
                    field.resolve = enum_by_response_key
                case _:
                    field.resolve = by_response_key

    def source(self, field: GraphQLField, source: Source) -> Callable[..., Any]:
        """Return the resolver of a source.

        Below a mutation it returns the JSON of Postgres unchanged where the selection compiles (see FragmentExecutor).
        """

        async def run(mode: Mode, parent: Any, info: Info) -> bytes | None:
            plan = await self.plan(field, source, info, mode)
            return await plan.run(info.context, Request(variables_of(info), info.context.scope, []), parent)

        async def resolve(parent: Any, info: Info, **arguments: Any) -> Any:
            if info.root_value is FragmentExecutor and info.operation.operation is OperationType.MUTATION:
                with suppress(NotCompilable):
                    return as_fragment(await run(Mode.BYTES, parent, info))
                record_values()
            data = await run(Mode.VALUES, parent, info)
            values = None if data is None else orjson.loads(data)
            if isinstance(values, dict) and EXPIRED in values:
                raise FieldError(RESTORED, "CURSOR_EXPIRED")
            return values

        return resolve

    async def plan(self, field: GraphQLField, source: Source, info: Info, mode: Mode) -> QueryPlan:
        """Return the cached or compiled plan of a source for the shape of the variables. Raises NotCompilable."""
        operation, variables = self.operation(info), variables_of(info)
        keys = tuple(key for key in info.path.as_list() if isinstance(key, str))

        def compile_plan() -> QueryPlan | NotCompilable:
            collector = Collector(self.schema, info.fragments, variables)
            try:
                return source_plan(collector, field, list(info.field_nodes), source, mode)
            except NotCompilable as reason:
                return reason.with_traceback(None)

        plan = await operation.plans.get_or_create_in_thread((mode, keys, operation.shape(variables)), compile_plan)
        if isinstance(plan, NotCompilable):
            raise NotCompilable(*plan.args)
        compiled: QueryPlan = plan
        return compiled

    def operation(self, info: Info) -> Operation:
        """Return the Operation of the executed definition, cached by the definition's id.

        The cache entry keeps the definition alive, so that Python cannot reuse its id.
        """
        return self.operations.get_or_create(
            id(info.operation), lambda: Operation(self.schema, info.operation, info.fragments)
        )


def source_plan(collector: Collector, field: GraphQLField, nodes: Nodes, source: Source, mode: Mode) -> QueryPlan:
    """Return the plan of a source and all fields below it. Raises NotCompilable."""
    compiler = QueryCompiler(collector, mode)
    empty_answer = b"[]" if is_list_from_step(field) else None
    places = places_below(collector, field, nodes)
    return QueryPlan(compiler, compiler.compile_source(field, nodes, source), places, empty_answer)


def as_fragment(data: bytes | None) -> orjson.Fragment | None:
    """Return completed JSON in a form that orjson writes into the response unchanged."""
    return None if data is None else orjson.Fragment(data)


class FragmentExecutor(Executor[None]):
    """graphql-core's executor, except that it does not complete an orjson.Fragment, which is complete already.

    The engine sets this class as the root value too. The resolvers of sources below a mutation return a Fragment only
    then.
    """

    def complete_value(self, return_type: Any, details: Any, info: Any, path: Any, result: Any, position: Any) -> Any:
        if isinstance(result, orjson.Fragment):
            return result
        return super().complete_value(return_type, details, info, path, result, position)


def known_resolver(known: RequestFacts) -> Callable[..., Any]:
    """Return the resolver of a RequestFacts object."""

    async def resolve(parent: Any, info: Info) -> SimpleNamespace:
        (row,) = await known.step.run(info.context, parent, frozenset())
        return SimpleNamespace(**dict(zip(known.step.columns, row, strict=True)))

    return resolve


def type_resolver(otherwise: Callable[..., Any] | None) -> Callable[..., Any]:
    """Return a resolver of the concrete type of an abstract value.

    Compiled values contain the name of their type. For Python objects, such as payloads, `otherwise` decides by class.
    """

    def resolve(value: Any, info: Info, abstract: Any) -> Any:
        if isinstance(value, dict):
            return value[TYPE]
        return otherwise(value, info, abstract) if otherwise else None

    return resolve


def variables_of(info: Info) -> VariableValues:
    """Return the coerced variables. graphql-core's executor has VariableValues, Strawberry's a plain dict."""
    values: Any = info.variable_values
    return values if isinstance(values, VariableValues) else VariableValues({}, values)


def by_response_key(row: dict[str, Any], info: Info, **arguments: Any) -> Any:
    """Resolve a field to its compiled value, which has the field's response key. The arguments are applied already."""
    return row[str(info.path.key)]


def enum_by_response_key(row: dict[str, Any], info: Info, **arguments: Any) -> Any:
    """Resolve an enum field. Compiled values are names of enum values; graphql-core needs their Python values."""
    names = row[str(info.path.key)]
    enum: Any = get_named_type(info.return_type)
    if isinstance(names, list):
        return [enum.values[name].value for name in names]
    return names and enum.values[names].value


def computed_resolver(field: GraphQLField, computed: Computed) -> Callable[..., Any]:
    """Return the resolver of a computed field, which calls its function with the compiled inputs."""
    names = {key: python_name(argument) for key, argument in field.args.items()}

    def resolve(row: dict[str, Any], info: Info, **arguments: Any) -> Any:
        needs = {name: row[computed.key(name)] for name in computed.needs}
        return computed.function(**needs, **{names[key]: value for key, value in arguments.items()})

    return resolve
