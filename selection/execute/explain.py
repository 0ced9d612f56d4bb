"""Explains a query without running it: its cost, its statements, and the source of each parameter.

`cairn explain` prints the explanation, and the snapshots in tests/schema/snapshots contain it.
"""

from typing import Any, NamedTuple

import orjson
from graphql import GraphQLError, OperationDefinitionNode, OperationType

from ..compile.collect import Collector
from ..compile.compiler import Mode
from ..compile.constant import ConstantPlan
from ..compile.parameters import Fixed, Request, StepParameter
from ..declare.contract import mapping_of
from ..declare.mapping import Source
from ..errors import NotCompilable
from ..limits import OPERATION
from .engine import Engine
from .operation import Document, Invalid
from .plan import QueryPlan
from .resolve import source_plan
from .sql_format import format_sql

FROM_STEP = "step."


class Parameter(NamedTuple):
    """A parameter of a statement.

    `source` is a variable (`$slug`), an attribute of the caller's scope (`scope.tenant_id`), a column of a step's rows
    (`step.page_id`), or the value itself if it is the same in every request.
    """

    source: str
    value: Any
    """The value for the explained request. It is None if a step has to find it."""
    is_constant: bool = False


class ExplainedStatement(NamedTuple):
    """A compiled statement. `field` is the root field that it answers, or None if it answers the whole operation."""

    field: str | None
    sql: str
    parameters: tuple[Parameter, ...]
    is_custom: bool
    """Whether Postgres plans the statement for the values of each request, because the best plan depends on them."""
    has_steps: bool
    """Whether steps find rows before the statement, as in a search. They may run statements that are not listed."""

    @property
    def planning(self) -> str:
        """Return `custom` if Postgres plans the statement for the values of each request, else `generic`."""
        return "custom" if self.is_custom else "generic"

    def comments(self, *, with_values: bool = False) -> list[str]:
        """Return lines that describe the statement and the source of each parameter."""
        lines = [f"field: {self.field}"] if self.field else []
        if self.has_steps:
            lines.append("steps: a part of what it shows is found before it is sent")
        if self.is_custom:
            lines.append("planning: anew each time, for the values of that time")
        for number, parameter in enumerate(self.parameters, 1):
            is_known = with_values and not parameter.is_constant and parameter.value is not None
            lines.append(f"  ${number}  {parameter.source}{f' = {as_json(parameter.value)}' if is_known else ''}")
        lines.insert(len(lines) - len(self.parameters), "parameters:" if self.parameters else "parameters: none")
        return lines

    @property
    def text(self) -> str:
        """Return the formatted SQL, with a semicolon at the end."""
        return f"{format_sql(self.sql)};"

    @property
    def arguments(self) -> list[Any] | None:
        """Return the values of the parameters, or None if a step has to find some of them."""
        if any(parameter.source.startswith(FROM_STEP) for parameter in self.parameters):
            return None
        return [parameter.value for parameter in self.parameters]


class Explanation(NamedTuple):
    """The cost and the statements of a query, without running it."""

    operation: str
    """The type and the name of the operation, like `query Page`."""
    cost: int
    """The cost in rows, as docs/reference/limits.md defines it."""
    statements: tuple[ExplainedStatement, ...]
    otherwise: ExplainedStatement | None = None
    """The statement that runs after the step, where the one in `statements` cannot find the rows of the step itself."""

    def statement(self, sql: str) -> ExplainedStatement | None:
        """Return the statement with this SQL text, or None."""
        known = (*self.statements, *filter(None, [self.otherwise]))
        return next((statement for statement in known if statement.sql == sql), None)


async def explain(engine: Engine, text: str, variables: dict[str, Any], name: str | None, scope: Any) -> Explanation:
    """Compile and explain a query. Raises Invalid, and every error that the engine raises before any SQL."""
    document = await engine.document(text, name)
    operation = document.operation
    definition, label = operation.definition, operation_label(operation.definition)
    if definition.operation is not OperationType.QUERY:
        kind = definition.operation.value
        message = f"Only a query can be explained, and this is a {kind}. Explain a query with the same fields."
        raise Invalid([GraphQLError(message)], "NOT_A_QUERY")
    try:
        values, plan = await engine.plan(operation, variables)
    except NotCompilable:
        return await field_by_field(engine, document, variables, scope)
    if isinstance(plan, ConstantPlan):
        return Explanation(label, OPERATION + plan.cost, ())
    request = Request(values, scope, [])
    cost = OPERATION + plan.checked_cost(request)
    statement = explain_statement(plan, request, None)
    if plan.whole is None:
        return Explanation(label, cost, (statement,))
    return Explanation(label, cost, (explain_statement(plan.whole, request, None),), statement)


async def field_by_field(engine: Engine, document: Document, variables: dict[str, Any], scope: Any) -> Explanation:
    """Explain an operation that graphql-core executes: each root field runs a statement of its own."""
    operation = document.operation
    request = Request(await engine.coerce(operation, variables), scope, [])
    collector = Collector(engine.schema, operation.fragments, request.variables)
    root = engine.schema.query_type
    assert root is not None
    cost, statements = OPERATION + document.base_cost, []
    for key, nodes in collector.collect(root, [operation.definition.selection_set]).items():
        field = root.fields.get(nodes[0].name.value)
        source = mapping_of(field) if field else None
        if field is not None and isinstance(source, Source):
            plan = source_plan(collector, field, nodes, source, Mode.VALUES)
            cost += plan.checked_cost(request)
            statements.append(explain_statement(plan, request, key))
    return Explanation(operation_label(operation.definition), cost, tuple(statements))


def operation_label(definition: OperationDefinitionNode) -> str:
    return f"{definition.operation.value} {definition.name.value if definition.name else '(without a name)'}"


def explain_statement(plan: QueryPlan, request: Request, field: str | None) -> ExplainedStatement:
    parameters = tuple(explain_parameter(plan, get, request) for get in plan.getters)
    return ExplainedStatement(field, plan.sql, parameters, plan.anew, bool(plan.steps))


def as_json(value: Any) -> str:
    return orjson.dumps(value, default=str).decode()


def explain_parameter(plan: QueryPlan, get: Any, request: Request) -> Parameter:
    """Return the source and the value of a parameter.

    The getter is called with a request whose variables, scope and rows record what it reads. That is the source.
    """
    if isinstance(get, Fixed):
        return Parameter(as_json(get.value), get.value, True)
    if isinstance(get, StepParameter):
        return Parameter(FROM_STEP + get.name, None)
    paths: list[str] = []
    variables = request.variables._replace(coerced=RecordingDict(request.variables.coerced, "$", paths))
    found = [[RecordingRow(list(step_use.step.columns), paths)] for step_use in plan.steps]
    value = get(Request(variables, RecordingScope(request.scope, paths), found))
    if not paths:
        return Parameter(as_json(value), value, True)
    longest = [path for path in paths if not any(other.startswith(f"{path}.") for other in paths)]
    source = ", ".join(dict.fromkeys(longest))
    return Parameter(source, None if source.startswith(FROM_STEP) else value)


class RecordingDict(dict[str, Any]):
    """The variables, or the fields of an input object, which record the paths that are read."""

    def __init__(self, values: dict[str, Any], prefix: str, paths: list[str]) -> None:
        super().__init__(values)
        self.prefix = prefix
        self.paths = paths

    def __getitem__(self, name: str) -> Any:
        value, path = super().__getitem__(name), f"{self.prefix}{name}"
        self.paths.append(path)
        return RecordingDict(value, f"{path}.", self.paths) if isinstance(value, dict) else value

    def get(self, name: str, default: Any = None) -> Any:
        if name in self:
            return self[name]
        self.paths.append(f"{self.prefix}{name}")
        return default


class RecordingScope:
    """The caller's scope, which records the attributes that are read."""

    def __init__(self, scope: Any, paths: list[str]) -> None:
        self.scope = scope
        self.paths = paths

    def __getattr__(self, name: str) -> Any:
        self.paths.append(f"scope.{name}")
        return getattr(self.scope, name)


class RecordingRow:
    """A row of a step that has not run, which records the columns that are read."""

    def __init__(self, columns: list[str], paths: list[str]) -> None:
        self.columns = columns
        self.paths = paths

    def __getitem__(self, index: int) -> None:
        self.paths.append(f"{FROM_STEP}{self.columns[index]}")
