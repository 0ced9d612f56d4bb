"""Executes operations: as bytes where the whole of one compiles, through graphql-core otherwise or when that fails."""

import logging
from collections.abc import Callable
from inspect import isawaitable
from typing import Any, NamedTuple

import orjson
from graphql import ExecutionResult, GraphQLError, GraphQLSchema, OperationType, execute
from graphql.execution.values import VariableValues
from sqlalchemy import ColumnElement

from .binds import Request
from .collect import Collector
from .compiler import Compiler, Mode
from .constant import Constant, is_constant
from .contract import lists_what_a_step_finds
from .errors import Final, NotCompilable
from .limits import Limits
from .lru import LRU
from .operation import Document, Invalid, Operation, coerced, too_long
from .plan import Context, Plan
from .wire import json_object

log = logging.getLogger(__name__)

Formatter = Callable[[GraphQLError], dict[str, Any]]


class Answer(NamedTuple):
    """The response body. `executed` is false when the request was refused before execution: it has no data then."""

    body: bytes
    executed: bool = True


class Engine:
    """Documents, their plans and their execution."""

    def __init__(
        self,
        schema: GraphQLSchema,
        *,
        limits: Limits | None = None,
        documents: int = 512,
        formatter: Formatter = lambda error: dict(error.formatted),
    ) -> None:
        """`formatter` shows an error to the client: it is where internal ones are masked."""
        self.schema, self.limits, self.formatter = schema, limits or Limits(), formatter
        self.documents: LRU[Document | Invalid] = LRU(documents)

    async def execute(self, text: str, variables: dict[str, Any] | None, name: str | None, context: Context) -> Answer:
        try:
            document = await self.document(text, name)
            try:
                return Answer(await self.as_bytes(document.operation, variables or {}, context))
            except NotCompilable:
                pass
            except Final as error:
                return self.answer(ExecutionResult(None, [error]))
            except (Invalid, GraphQLError):
                pass
            except Exception as error:
                # What it says may hold a client's values. graphql-core meets it again and reports it in its place.
                log.warning("A compiled operation failed (%s) and is run again as values.", type(error).__name__)
            return await self.as_values(document, variables or {}, name, context)
        except Invalid as invalid:
            return self.answer(ExecutionResult(None, invalid.errors), executed=False)

    async def document(self, text: str, name: str | None) -> Document:
        """Invalid ones are remembered too: they cost the most."""
        if len(text) > self.limits.characters:
            raise too_long(self.limits)
        found = await self.documents.get_apart((text, name), lambda: self.read(text, name))
        if isinstance(found, Invalid):
            raise found
        return found

    def read(self, text: str, name: str | None) -> Document | Invalid:
        try:
            return Document(self.schema, text, name, self.limits)
        except Invalid as invalid:
            return invalid

    async def as_bytes(self, operation: Operation, given: dict[str, Any], context: Context) -> bytes:
        variables = coerced(self.schema, operation, given)
        plan: Plan | Constant | None = await operation.plans.get_apart(
            operation.shape(variables), lambda: self.whole_plan(operation, variables)
        )
        if plan is None:
            raise NotCompilable
        return b'{"data":%b}' % (await plan.run(context, Request(variables, context.scope, [])) or b"null")

    async def as_values(self, document: Document, given: dict[str, Any], name: str | None, context: Context) -> Answer:
        coerced(self.schema, document.operation, given)
        context.reset()
        result = execute(self.schema, document.ast, None, context, given, name)
        return self.answer(await result if isawaitable(result) else result)

    def whole_plan(self, operation: Operation, variables: VariableValues) -> Plan | Constant | None:
        try:
            if is_constant(operation.definition, operation.fragments):
                return Constant(self.schema, operation.definition, operation.fragments)
            return compile_operation(self.schema, operation, variables)
        except NotCompilable:
            return None

    def answer(self, result: ExecutionResult, executed: bool = True) -> Answer:
        shown: dict[str, Any] = {"data": result.data} if executed else {}
        if result.errors:
            shown["errors"] = [self.formatter(error) for error in result.errors]
        return Answer(orjson.dumps(shown), executed)


def compile_operation(schema: GraphQLSchema, operation: Operation, variables: VariableValues) -> Plan:
    if operation.definition.operation is not OperationType.QUERY or schema.query_type is None:
        raise NotCompilable(operation.definition.operation.value)
    collector = Collector(schema, operation.fragments, variables)
    compiler = Compiler(collector, Mode.BYTES)
    fields = collector.collect(schema.query_type, [operation.definition.selection_set])
    pairs: dict[str, ColumnElement[Any]] = {}
    for key, nodes in fields.items():
        pairs |= compiler.root(schema.query_type, key, nodes)
    found = [schema.query_type.fields.get(nodes[0].name.value) for nodes in fields.values()]
    nothing = orjson.dumps({key: [] for key in fields}) if all(map(lists_what_a_step_finds, found)) else None
    return Plan(compiler, json_object(pairs), nothing)
