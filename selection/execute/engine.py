"""Executes operations.

A query whose whole selection compiles is one statement, and the JSON of Postgres is the response ("as bytes").
Mutations, queries that do not compile, and queries whose statement fails are executed by graphql-core ("as values"),
where each root field runs a statement of its own.
"""

import logging
from collections.abc import Callable
from functools import partial
from inspect import isawaitable
from typing import Any, NamedTuple

import orjson
from graphql import ExecutionResult, Executor, GraphQLError, GraphQLSchema, OperationType, execute_root_selection_set
from graphql.execution.values import VariableValues
from sqlalchemy import ColumnElement, case

from lib.lru import CacheStats
from lib.threads import compile_in_thread
from observability.trace import record_error, record_operation, record_values

from ..compile.collect import Collector
from ..compile.compiler import Mode, QueryCompiler, is_within, within_of
from ..compile.computed import places_in
from ..compile.constant import ConstantPlan, is_constant
from ..compile.parameters import Request
from ..declare.contract import is_list_from_step
from ..declare.json_format import json_object
from ..errors import MoreErrors, NotCompilable, OperationError, RequestRejected
from ..limits import Limits
from .operation import Document, Invalid, Operation, coerce_variables, is_large, too_long
from .plan import Context, QueryPlan
from .plan_cache import DocumentCache
from .resolve import FragmentExecutor
from .subscription import check_has_event

log = logging.getLogger(__name__)

COMPILED = b'{"data":%b,"extensions":{"cost":{"requested":%d,"limit":%d}}}'
Formatter = Callable[[GraphQLError], dict[str, Any]]


class Answer(NamedTuple):
    """The response to an operation."""

    body: bytes
    executed: bool = True
    """False if the request was refused before execution, so that the body has no data."""
    unavailable: bool = False
    """True if every field failed because the database cannot be used. The same request may succeed soon."""


class Engine:
    """Executes operations, and caches documents and their plans."""

    def __init__(
        self,
        schema: GraphQLSchema,
        *,
        limits: Limits | None = None,
        documents: int = 512,
        formatter: Formatter = lambda error: dict(error.formatted),
    ) -> None:
        """Set up. `formatter` returns an error as clients see it, and masks internal errors."""
        self.schema, self.limits, self.formatter = schema, limits or Limits(), formatter
        self.documents: DocumentCache[Document | Invalid] = DocumentCache(documents, lambda key, _: key[0], "parse")
        self.plans = CacheStats()
        """Statistics of the plan caches of all operations."""

    async def execute(self, text: str, variables: dict[str, Any] | None, name: str | None, context: Context) -> Answer:
        """Execute an operation of a document. `name` is the operation's name, if the document has several.

        Raises RequestRejected. All other errors are part of the response.
        """
        try:
            document = self.documents.get((text, name))
            if not isinstance(document, Document):
                document = await self.document(text, name)
            record_operation(document.operation.definition)
            if document.operation.is_subscription:
                check_has_event(context)
            if document.introspection_cost and not context.may_introspect:
                raise introspection_forbidden()
            if document.operation.is_mutation:
                return await self.as_values(document, variables or {}, name, context)
            try:
                return Answer(await self.as_bytes(document.operation, variables or {}, context))
            except NotCompilable:
                pass
            except RequestRejected:
                raise
            except OperationError as error:
                return self.answer(ExecutionResult(None, [error]), context)
            except (Invalid, GraphQLError):
                pass
            except Exception as error:
                # The message is not logged, because it may contain a client's values. The execution with graphql-core
                # fails in the same way and reports the error at its field.
                log.warning("A compiled operation failed (%s) and is run again as values.", type(error).__name__)
            return await self.as_values(document, variables or {}, name, context)
        except Invalid as invalid:
            return self.answer(ExecutionResult(None, invalid.errors))

    async def document(self, text: str, name: str | None) -> Document:
        """Return the parsed document, or raise Invalid. Invalid documents are cached too, as validation is slow."""
        if len(text) > self.limits.characters:
            raise too_long(self.limits)
        key = text, name
        cached = self.documents.get(key) or await self.documents.get_or_create_in_thread(
            key, lambda: self.parse(text, name)
        )
        if isinstance(cached, Invalid):
            raise Invalid(cached.errors, cached.code)  # a copy: the cached error would keep each request's frames alive
        return cached

    def parse(self, text: str, name: str | None) -> Document | Invalid:
        """Return the parsed document, or the reason why it is invalid, for the cache."""
        try:
            return Document(self.schema, text, name, self.limits, self.plans)
        except Invalid as invalid:
            return invalid

    async def as_bytes(self, operation: Operation, given: dict[str, Any], context: Context) -> bytes:
        """Return the response, with the data as Postgres returned it. Raises NotCompilable."""
        variables, plan = await self.plan(operation, given)
        data = await plan.run(context, Request(variables, context.scope, []))
        return COMPILED % (data or b"null", context.spent, context.budget)

    async def plan(
        self, operation: Operation, given: dict[str, Any]
    ) -> tuple[VariableValues, QueryPlan | ConstantPlan]:
        """Return the coerced variables, and the plan for their shape. Raises NotCompilable."""
        variables = await self.coerce(operation, given)
        shape = operation.shape(variables)
        plan: QueryPlan | ConstantPlan | NotCompilable = operation.plans.get(
            shape
        ) or await operation.plans.get_or_create_in_thread(shape, lambda: self.compile_plan(operation, variables))
        if isinstance(plan, NotCompilable):
            raise NotCompilable(*plan.args)
        return variables, plan

    async def coerce(self, operation: Operation, given: dict[str, Any]) -> VariableValues:
        """Coerce the variables, in a thread if they are large."""
        if is_large(given, self.limits):
            return await compile_in_thread(lambda: coerce_variables(self.schema, operation, given, self.limits))
        return coerce_variables(self.schema, operation, given, self.limits)

    async def as_values(self, document: Document, given: dict[str, Any], name: str | None, context: Context) -> Answer:
        """Execute with graphql-core a mutation, or a query that does not compile or whose statement failed."""
        if not document.operation.is_mutation:
            record_values()  # a mutation records it for each payload that does not compile
        build = partial(
            FragmentExecutor.build, self.schema, document.ast, FragmentExecutor, context, given, name,
            max_coercion_errors=self.limits.errors, hide_suggestions=not self.limits.suggestions,
        )  # fmt: skip
        executor = await compile_in_thread(build) if is_large(given, self.limits) else build()
        if not isinstance(executor, Executor):
            raise Invalid(executor, "BAD_USER_INPUT")
        try:
            await context.begin(document.base_cost)
        except OperationError as error:
            return self.answer(ExecutionResult(None, [error]), context)
        run = partial(execute_root_selection_set, executor)
        result = await compile_in_thread(run) if document.only_introspects else run()
        return self.answer(await result if isawaitable(result) else result, context)

    def compile_plan(self, operation: Operation, variables: VariableValues) -> QueryPlan | ConstantPlan | NotCompilable:
        """Return the plan of the whole operation, or the reason why it has none."""
        try:
            if is_constant(operation.definition, operation.fragments):
                return ConstantPlan(self.schema, operation.definition, operation.fragments)
            return compile_operation(self.schema, operation, variables)
        except NotCompilable as reason:
            return reason.with_traceback(None)

    def answer(self, result: ExecutionResult, context: Context | None = None) -> Answer:
        """Return the response. Without a context the operation was not executed: it has neither data nor cost."""
        body: dict[str, Any] = {} if context is None else {"data": result.data}
        unavailable = False
        if result.errors:
            body["errors"] = self.errors(result.errors)
            no_data = not any(value is not None for value in (result.data or {}).values())
            unavailable = no_data and all(is_unavailable(error) for error in body["errors"])
        if context is not None:
            body["extensions"] = {"cost": {"requested": context.spent, "limit": context.budget}}
        return Answer(orjson.dumps(body), context is not None, unavailable)

    def errors(self, errors: list[GraphQLError]) -> list[dict[str, Any]]:
        """Format and record the errors. Those over the limit are replaced by one that says how many they are."""
        limit = self.limits.answer_errors
        formatted = [self.formatter(error) for error in errors[:limit]]
        if len(errors) > limit:
            formatted.append(self.formatter(MoreErrors(len(errors) - limit)))
        for error in formatted:
            record_error(error.get("extensions", {}).get("code", "UNKNOWN"))
        return formatted


def with_extension(answer: Answer, name: str, value: str) -> Answer:
    """Return the answer with one more entry in `extensions`. An answer without extensions is returned unchanged.

    The body of an executed operation ends with the cost in `extensions`, and the entry is put after it.
    """
    if not answer.body.endswith(b"}}}"):
        return answer
    return answer._replace(body=b"%b,%b:%b}}" % (answer.body[:-2], orjson.dumps(name), orjson.dumps(value)))


def is_unavailable(error: dict[str, Any]) -> bool:
    """Return whether a formatted error says that the database cannot be used at present."""
    return bool(error.get("extensions", {}).get("code") == "UNAVAILABLE")


def introspection_forbidden() -> Invalid:
    message = "Introspection is not open to this credential. `__typename` always is."
    return Invalid([GraphQLError(message)], "FORBIDDEN")


def compile_operation(schema: GraphQLSchema, operation: Operation, variables: VariableValues) -> QueryPlan:
    """Return the plan of a query or subscription as one statement. Raises NotCompilable.

    If the plan has one step whose rows the statement can find itself, the plan has a second statement that does.
    """
    root = schema.get_root_type(operation.definition.operation)
    if operation.definition.operation is OperationType.MUTATION or root is None:
        raise NotCompilable(operation.definition.operation.value)
    collector = Collector(schema, operation.fragments, variables)
    fields = collector.collect(root, [operation.definition.selection_set])

    def compile_data(compiler: QueryCompiler) -> ColumnElement[Any]:
        pairs: dict[str, ColumnElement[Any]] = {}
        for key, nodes in fields.items():
            pairs |= compiler.compile_root(root, key, nodes)
        return json_object(pairs)

    definitions = [root.fields.get(nodes[0].name.value) for nodes in fields.values()]
    empty_answer = orjson.dumps({key: [] for key in fields}) if all(map(is_list_from_step, definitions)) else None
    places = places_in(collector, root, fields)
    compiler = QueryCompiler(collector, Mode.BYTES)
    plan = QueryPlan(compiler, compile_data(compiler), places, empty_answer)
    if is_within(compiler.steps):
        compiler = QueryCompiler(collector, Mode.BYTES, within=True)
        data = compile_data(compiler)
        plan.whole = QueryPlan(compiler, case((within_of(compiler.steps[0]).holds, data)), places)
    return plan
