"""Explains a read before it is sent: its cost, its statements, and where each of their parameters comes from.

`cairn explain` shows this, and the snapshots in tests/schema/snapshots hold it.
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

    `source` is a variable (`$slug`), an attribute of the caller's scope (`scope.tenant_id`), a column that a step finds
    (`step.page_id`), or the constant itself where every request sends the same.
    """

    source: str
    value: Any
    """It is None where only a step can tell it."""
    is_constant: bool = False


class ExplainedStatement(NamedTuple):
    """A compiled statement. `field` is the root field that sends it, or None where it answers the whole operation."""

    field: str | None
    sql: str
    parameters: tuple[Parameter, ...]
    is_custom: bool
    """It is planned for its values each time, because the best plan depends on them."""
    has_steps: bool
    """Steps find a part of what it shows, as those of a search do. They may send statements of their own."""

    @property
    def planning(self) -> str:
        """Return `custom` where Postgres plans it for its values, `generic` where once for all of them."""
        return "custom" if self.is_custom else "generic"

    def comments(self, *, with_values: bool = False) -> list[str]:
        """Return lines that say what it is and where its parameters come from."""
        lines = [f"field: {self.field}"] if self.field else []
        if self.has_steps:
            lines.append("steps: a part of what it shows is found before it is sent")
        if self.is_custom:
            lines.append("planning: anew each time, for the values of that time")
        for number, one in enumerate(self.parameters, 1):
            is_known = with_values and not one.is_constant and (one.value is not None)
            lines.append(f"  ${number}  {one.source}{f' = {as_json(one.value)}' if is_known else ''}")
        lines.insert(len(lines) - len(self.parameters), "parameters:" if self.parameters else "parameters: none")
        return lines

    @property
    def text(self) -> str:
        """Return the formatted SQL with a semicolon at its end."""
        return f"{format_sql(self.sql)};"

    @property
    def arguments(self) -> list[Any] | None:
        """Return the values of the parameters, or None where a step has to find some of them."""
        if any(one.source.startswith(FROM_STEP) for one in self.parameters):
            return None
        return [one.value for one in self.parameters]


class Explanation(NamedTuple):
    """The cost and the statements of a query, known before it runs."""

    operation: str
    """This is its type and its name, like `query Page`."""
    cost: int
    """It is counted in rows, as docs/limits.md says."""
    statements: tuple[ExplainedStatement, ...]
    otherwise: ExplainedStatement | None = None
    """This statement is sent where the only one of `statements` cannot do what its step does."""

    def statement(self, sql: str) -> ExplainedStatement | None:
        """Return the statement with this text, as it was sent."""
        known = (*self.statements, *filter(None, [self.otherwise]))
        return next((one for one in known if one.sql == sql), None)


async def explain(engine: Engine, text: str, variables: dict[str, Any], name: str | None, scope: Any) -> Explanation:
    """Compile a query as the engine does. Raises Invalid, and whatever the engine raises before any SQL."""
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
    """Compile an operation that graphql-core executes: each root field sends a statement of its own."""
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
    parameters = tuple(parameter(plan, get, request) for get in plan.getters)
    return ExplainedStatement(field, plan.sql, parameters, plan.anew, bool(plan.steps))


def as_json(value: Any) -> str:
    return orjson.dumps(value, default=str).decode()


# A parameter is named after what its getter reads of a request. The classes below note that.


def parameter(plan: QueryPlan, get: Any, request: Request) -> Parameter:
    if isinstance(get, Fixed):
        return Parameter(as_json(get.value), get.value, True)
    if isinstance(get, StepParameter):
        return Parameter(FROM_STEP + get.name, None)
    noted: list[str] = []
    variables = request.variables._replace(coerced=NotingDict(request.variables.coerced, "$", noted))
    found = [[NotingRow(list(one.step.columns), noted)] for one in plan.steps]
    value = get(Request(variables, NotingScope(request.scope, noted), found))
    if not noted:
        return Parameter(as_json(value), value, True)
    whole = [name for name in noted if not any(other.startswith(f"{name}.") for other in noted)]
    source = ", ".join(dict.fromkeys(whole))
    return Parameter(source, None if source.startswith(FROM_STEP) else value)


class NotingDict(dict[str, Any]):
    """The values of variables, or of the fields of an input object, that notes which are read."""

    def __init__(self, values: dict[str, Any], path: str, noted: list[str]) -> None:
        super().__init__(values)
        self.path, self.noted = path, noted

    def __getitem__(self, name: str) -> Any:
        value, path = super().__getitem__(name), f"{self.path}{name}"
        self.noted.append(path)
        return NotingDict(value, f"{path}.", self.noted) if isinstance(value, dict) else value

    def get(self, name: str, default: Any = None) -> Any:
        if name in self:
            return self[name]
        self.noted.append(f"{self.path}{name}")
        return default


class NotingScope:
    """The caller's scope, which notes the attributes that are read."""

    def __init__(self, scope: Any, noted: list[str]) -> None:
        self.scope, self.noted = scope, noted

    def __getattr__(self, name: str) -> Any:
        self.noted.append(f"scope.{name}")
        return getattr(self.scope, name)


class NotingRow:
    """A row that a step will find, which notes the columns that are read."""

    def __init__(self, columns: list[str], noted: list[str]) -> None:
        self.columns, self.noted = columns, noted

    def __getitem__(self, place: int) -> None:
        self.noted.append(f"{FROM_STEP}{self.columns[place]}")
