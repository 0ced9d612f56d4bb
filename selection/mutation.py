"""Mutations, executed as the specification has it, but without graphql-core's executor: root fields one after another,
each a call of Python and then what its answer shows.

It is all decided before the first call whether an operation can be run like that. What has begun is not begun again.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import orjson
from graphql import (
    SKIP,
    ArgumentNode,
    ExecutionResult,
    FieldNode,
    FragmentDefinitionNode,
    GraphQLError,
    GraphQLField,
    GraphQLObjectType,
    GraphQLSchema,
    OperationDefinitionNode,
    VariableDefinitionNode,
    VariableNode,
    Visitor,
    get_nullable_type,
    is_object_type,
    visit,
)
from graphql.execution.values import VariableValues, get_argument_values

from .binds import Request
from .collect import Collector
from .completion import Member, Nodes, Run, Shown, read_plan
from .contract import mapping_of
from .errors import NotCompilable
from .introspection import fields
from .mapping import Source
from .plan import Context

Arguments = Callable[[VariableValues], dict[str, Any]]


class Write:
    """The resolver of a field of the mutation type: `call(context, arguments)` gives the object that is shown.

    The arguments are as graphql-core coerces them, by their GraphQL names.
    """

    def __init__(self, call: Callable[[Any, dict[str, Any]], Awaitable[Any]]) -> None:
        self.call = call

    def __call__(self, source: Any, info: Any, **arguments: Any) -> Awaitable[Any]:
        """By graphql-core."""
        return self.call(info.context, arguments)


class WriteField:
    """A root field that writes."""

    def __init__(self, member: Member, field: GraphQLField, write: Write, collector: Collector) -> None:
        type_ = get_nullable_type(field.type)
        if not is_object_type(type_):
            raise NotCompilable(member.label)
        self.member, self.call = member, write.call
        self.arguments = arguments_of(field, member.nodes[0])
        self.shown = Shown(type_, collector, member.nodes)

    async def value(self, run: Run) -> dict[str, Any] | None:
        answer = await self.call(run.context, self.arguments(run.request.variables))
        return None if answer is None else await self.shown.complete(answer, (self.member.key,), run)


class ReadField:
    """A root field that is a compiled read, and whose step does what there is to do."""

    def __init__(self, member: Member, field: GraphQLField, source: Source, collector: Collector) -> None:
        self.member, self.plan = member, read_plan(field, source, collector, member.nodes)

    async def value(self, run: Run) -> orjson.Fragment | None:
        data = await self.plan.run(run.context, run.request)
        return None if data is None else orjson.Fragment(data)


class Mutation:
    """A plan for one operation and one shape of its variables."""

    def __init__(self, type_: GraphQLObjectType, definition: OperationDefinitionNode, collector: Collector) -> None:
        self.blank: dict[str, Any] = {}
        self.fields: list[WriteField | ReadField] = []
        for key, nodes in collector.collect(type_, [definition.selection_set]).items():
            self.blank[key] = None
            if nodes[0].name.value == "__typename":
                self.blank[key] = type_.name
            else:
                self.fields.append(root_field(type_, key, nodes, collector))

    async def run(self, context: Context, request: Request) -> ExecutionResult:
        """A field that may not be null ends the operation when it fails: those behind it are not begun."""
        data, run = self.blank.copy(), Run(context, request, [])
        try:
            for field in self.fields:
                data[field.member.key] = await settled(field, run)
        except GraphQLError as error:
            return ExecutionResult(None, [*run.errors, error])
        return ExecutionResult(data, run.errors or None)


async def settled(field: WriteField | ReadField, run: Run) -> Any:
    try:
        return field.member.present(await field.value(run))
    except Exception as error:
        return field.member.failed(error, (), run)


def root_field(type_: GraphQLObjectType, key: str, nodes: Nodes, collector: Collector) -> WriteField | ReadField:
    name = nodes[0].name.value
    field = type_.fields[name]
    member = Member(key, nodes, field.type, f"{type_.name}.{name}")
    if isinstance(source := mapping_of(field), Source):
        return ReadField(member, field, source, collector)
    if isinstance(write := field.resolve, Write):
        return WriteField(member, field, write, collector)
    raise NotCompilable(member.label)


def arguments_of(field: GraphQLField, node: FieldNode) -> Arguments:
    """How the field's arguments are had in each request.

    Where all are variables that were given they are there already. Anything else is graphql-core's to decide.
    """

    def at_length(variables: VariableValues) -> dict[str, Any]:
        return get_argument_values(field, node, variables)

    written = {one.name.value: one.value for one in node.arguments or ()}
    names = {name: value.name.value for name, value in written.items() if isinstance(value, VariableNode)}
    unwritten = (argument for name, argument in field.args.items() if name not in written)
    if len(names) < len(written) or any(argument.default is not None for argument in unwritten):
        return at_length

    def at_once(variables: VariableValues) -> dict[str, Any]:
        coerced = variables.coerced
        found = {name: coerced.get(variable) for name, variable in names.items()}
        return at_length(variables) if None in found.values() else found

    return at_once


def shaping_variables(
    schema: GraphQLSchema, definition: OperationDefinitionNode, fragments: dict[str, FragmentDefinitionNode]
) -> set[str]:
    """The variables that a plan of a mutation depends on: not those that are only handed to what is called."""
    type_ = schema.mutation_type
    handed = {
        id(argument)
        for node in fields(definition.selection_set, fragments)
        if type_ and (field := type_.fields.get(node.name.value)) and isinstance(field.resolve, Write)
        for argument in node.arguments or ()
    }
    found = Shaping(handed)
    for node in (definition, *fragments.values()):
        visit(node, found)
    return found.names


class Shaping(Visitor):
    """Gathers the names of variables, but of those in some arguments."""

    def __init__(self, handed: set[int]) -> None:
        super().__init__()
        self.handed, self.names = handed, set[str]()

    def enter_variable_definition(self, node: VariableDefinitionNode, *_: Any) -> Any:
        return SKIP

    def enter_argument(self, node: ArgumentNode, *_: Any) -> Any:
        return SKIP if id(node) in self.handed else None

    def enter_variable(self, node: VariableNode, *_: Any) -> None:
        self.names.add(node.name.value)
