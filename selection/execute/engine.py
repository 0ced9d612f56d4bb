"""Executes operations: as bytes where the whole of one compiles, through graphql-core otherwise or when that fails."""

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
from ..compile.constant import Constant, is_constant
from ..compile.parameters import Request
from ..declare.contract import lists_what_a_step_finds
from ..declare.json_format import json_object
from ..errors import Final, MoreErrors, NotCompilable, RequestRejected
from ..limits import Limits
from .operation import Document, Invalid, Operation, coerce_variables, is_large, too_long
from .plan import Context, QueryPlan
from .plan_cache import DocumentCache
from .resolve import PassingOn
from .subscription import check_has_event

log = logging.getLogger(__name__)

COMPILED = b'{"data":%b,"extensions":{"cost":{"requested":%d,"limit":%d}}}'
Formatter = Callable[[GraphQLError], dict[str, Any]]


class Answer(NamedTuple):
    """The response body. `executed` is false when the request was refused before execution: it has no data then.

    `unavailable` is true when all of it failed for want of the database, and the same request may succeed soon.
    """

    body: bytes
    executed: bool = True
    unavailable: bool = False


class Engine:
    """The engine that caches documents and their plans, and executes operations."""

    def __init__(
        self,
        schema: GraphQLSchema,
        *,
        limits: Limits | None = None,
        documents: int = 512,
        formatter: Formatter = lambda error: dict(error.formatted),
    ) -> None:
        """Set up; `formatter` shows an error to the client: it is where internal ones are masked."""
        self.schema, self.limits, self.formatter = schema, limits or Limits(), formatter
        self.documents: DocumentCache[Document | Invalid] = DocumentCache(documents, lambda key, _: key[0], "parse")
        self.plans = CacheStats()  # of all operations

    async def execute(self, text: str, variables: dict[str, Any] | None, name: str | None, context: Context) -> Answer:
        try:
            document = self.documents.get((text, name))
            if not isinstance(document, Document):
                document = await self.document(text, name)
            record_operation(document.operation.definition)
            if document.operation.is_subscription:
                check_has_event(context)
            if document.introspected and not context.may_introspect:
                raise not_introspected()
            if document.operation.is_mutation:
                return await self.as_values(document, variables or {}, name, context)
            try:
                return Answer(await self.as_bytes(document.operation, variables or {}, context))
            except NotCompilable:
                pass
            except RequestRejected:
                raise
            except Final as error:
                return self.answer(ExecutionResult(None, [error]), context)
            except (Invalid, GraphQLError):
                pass
            except Exception as error:
                # What it says may hold a client's values. graphql-core meets it again and reports it in its place.
                log.warning("A compiled operation failed (%s) and is run again as values.", type(error).__name__)
            return await self.as_values(document, variables or {}, name, context)
        except Invalid as invalid:
            return self.answer(ExecutionResult(None, invalid.errors))

    async def document(self, text: str, name: str | None) -> Document:
        """Return the parsed document. Invalid ones are remembered too: they cost the most."""
        if len(text) > self.limits.characters:
            raise too_long(self.limits)
        key = text, name
        found = self.documents.get(key) or await self.documents.get_or_create_in_thread(
            key, lambda: self.read(text, name)
        )
        if isinstance(found, Invalid):
            raise Invalid(found.errors, found.code)  # raised itself it would keep the frames of each request it met
        return found

    def read(self, text: str, name: str | None) -> Document | Invalid:
        try:
            return Document(self.schema, text, name, self.limits, self.plans)
        except Invalid as invalid:
            return invalid

    async def as_bytes(self, operation: Operation, given: dict[str, Any], context: Context) -> bytes:
        """Return the whole answer, with the data as Postgres wrote it. Raises NotCompilable."""
        variables, plan = await self.plan(operation, given)
        data = await plan.run(context, Request(variables, context.scope, []))
        return COMPILED % (data or b"null", context.spent, context.budget)

    async def plan(self, operation: Operation, given: dict[str, Any]) -> tuple[VariableValues, QueryPlan | Constant]:
        """Return the variables as the operation declares them, and the plan for their shape. Raises NotCompilable."""
        variables = await self.coerce(operation, given)
        shape = operation.shape(variables)
        plans = operation.plans
        plan: QueryPlan | Constant | NotCompilable = plans.get(shape) or await plans.get_or_create_in_thread(
            shape, lambda: self.whole_plan(operation, variables)
        )
        if isinstance(plan, NotCompilable):
            raise NotCompilable(*plan.args)
        return variables, plan

    async def coerce(self, operation: Operation, given: dict[str, Any]) -> VariableValues:
        """Coerce the variables; many or long ones in a thread."""
        if is_large(given, self.limits):
            return await compile_in_thread(lambda: coerce_variables(self.schema, operation, given, self.limits))
        return coerce_variables(self.schema, operation, given, self.limits)

    async def as_values(self, document: Document, given: dict[str, Any], name: str | None, context: Context) -> Answer:
        """Execute with graphql-core: mutations, whose payloads note it themselves, and reads that do not compile."""
        if not document.operation.is_mutation:
            record_values()
        build = partial(
            PassingOn.build, self.schema, document.ast, PassingOn, context, given, name,
            max_coercion_errors=self.limits.errors, hide_suggestions=not self.limits.suggestions,
        )  # fmt: skip
        executor = await compile_in_thread(build) if is_large(given, self.limits) else build()
        if not isinstance(executor, Executor):
            raise Invalid(executor, "BAD_USER_INPUT")
        try:
            await context.begin(document.weight)
        except Final as error:
            return self.answer(ExecutionResult(None, [error]), context)
        run = partial(execute_root_selection_set, executor)
        result = await compile_in_thread(run) if document.only_introspects else run()
        return self.answer(await result if isawaitable(result) else result, context)

    def whole_plan(self, operation: Operation, variables: VariableValues) -> QueryPlan | Constant | NotCompilable:
        """Return the plan of the whole operation, or why there is none."""
        try:
            if is_constant(operation.definition, operation.fragments):
                return Constant(self.schema, operation.definition, operation.fragments)
            return compile_operation(self.schema, operation, variables)
        except NotCompilable as reason:
            return reason.with_traceback(None)

    def answer(self, result: ExecutionResult, context: Context | None = None) -> Answer:
        """Return the response; without a context it was not executed: there are neither data nor cost."""
        shown: dict[str, Any] = {} if context is None else {"data": result.data}
        unavailable = False
        if result.errors:
            shown["errors"] = self.errors(result.errors)
            nothing = not any(value is not None for value in (result.data or {}).values())
            unavailable = nothing and all(is_unavailable(error) for error in shown["errors"])
        if context is not None:
            shown["extensions"] = {"cost": {"requested": context.spent, "limit": context.budget}}
        return Answer(orjson.dumps(shown), context is not None, unavailable)

    def errors(self, errors: list[GraphQLError]) -> list[dict[str, Any]]:
        """Return the first errors, and how many there are besides."""
        most = self.limits.answer_errors
        shown = [self.formatter(error) for error in errors[:most]]
        if len(errors) > most:
            shown.append(self.formatter(MoreErrors(len(errors) - most)))
        for error in shown:
            record_error(error.get("extensions", {}).get("code", "UNKNOWN"))
        return shown


def with_extension(answer: Answer, name: str, value: str) -> Answer:
    """Return an answer that says something besides its cost, with which the body of an executed operation ends."""
    if not answer.body.endswith(b"}}}"):
        return answer
    return answer._replace(body=b"%b,%b:%b}}" % (answer.body[:-2], orjson.dumps(name), orjson.dumps(value)))


def is_unavailable(error: dict[str, Any]) -> bool:
    """Return whether an error, as clients see it, is that the database cannot be used now."""
    return bool(error.get("extensions", {}).get("code") == "UNAVAILABLE")


def not_introspected() -> Invalid:
    message = "Introspection is not open to this credential. `__typename` always is."
    return Invalid([GraphQLError(message)], "FORBIDDEN")


def compile_operation(schema: GraphQLSchema, operation: Operation, variables: VariableValues) -> QueryPlan:
    root = schema.get_root_type(operation.definition.operation)
    if operation.definition.operation is OperationType.MUTATION or root is None:
        raise NotCompilable(operation.definition.operation.value)
    collector = Collector(schema, operation.fragments, variables)
    fields = collector.collect(root, [operation.definition.selection_set])

    def pairs(compiler: QueryCompiler) -> ColumnElement[Any]:
        found: dict[str, ColumnElement[Any]] = {}
        for key, nodes in fields.items():
            found |= compiler.root(root, key, nodes)
        return json_object(found)

    found = [root.fields.get(nodes[0].name.value) for nodes in fields.values()]
    nothing = orjson.dumps({key: [] for key in fields}) if all(map(lists_what_a_step_finds, found)) else None
    places = places_in(collector, root, fields)
    compiler = QueryCompiler(collector, Mode.BYTES)
    plan = QueryPlan(compiler, pairs(compiler), places, nothing)
    if is_within(compiler.steps):
        compiler = QueryCompiler(collector, Mode.BYTES, within=True)
        shown = pairs(compiler)
        plan.whole = QueryPlan(compiler, case((within_of(compiler.steps[0]).holds, shown)), places)
    return plan
