"""Explains a client's query: the statements that the engine compiles it to, and their plans in Postgres."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson
from graphql import GraphQLError

from db.database import Database
from db.scope import Scope
from observability.trace import REQUEST_TRACE, RequestTrace
from resolvers.context import Context, final_errors
from resolvers.errors import CairnError
from schema.errors import format_error
from selection import Engine
from selection.execute.explain import ExplainedStatement, Explanation, explain

Options = Sequence[str]
"""Options of EXPLAIN, such as `FORMAT JSON` or `COSTS OFF`."""


class ExplainRequest(NamedTuple):
    """A GraphQL document with variables. `name` selects the operation if the document has several."""

    text: str
    variables: dict[str, Any]
    name: str | None = None


class Planned(NamedTuple):
    """A statement with its plan: the lines of a text, or a tree if the options ask for JSON."""

    statement: ExplainedStatement
    plan: list[Any]


class Explained(NamedTuple):
    """An operation with its plans. `sent` is the number of statements that it sent, or None if it was not executed."""

    explanation: Explanation
    planned: list[Planned]
    sent: int | None = None


class NotExplained(CairnError):
    """An operation cannot be explained. `line` and `column` locate the error in its document, if known."""

    def __init__(self, code: str, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.code, self.line, self.column = code, line, column

    @property
    def extensions(self) -> dict[str, Any]:
        return {"code": self.code, **({"line": self.line, "column": self.column} if self.line else {})}


def not_explained(errors: Sequence[GraphQLError], file: str) -> NotExplained:
    """Return an exception for the first error, with its location in the file and the number of further errors."""
    first = format_error(errors[0])
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    code, message = first["extensions"]["code"], f"{first['message']}{more}"
    for location in first.get("locations", ()):
        line, column = location["line"], location["column"]
        return NotExplained(code, f"{file}:{line}:{column}: {message}", line, column)
    return NotExplained(code, message)


async def estimate_operation(
    database: Database, scope: Scope, engine: Engine, request: ExplainRequest, options: Options
) -> Explained:
    """Explain the operation without executing it."""
    explanation = await explain(engine, *request, scope)
    async with database.explaining() as connection:
        planned = [
            Planned(
                statement,
                plan_of(await connection.rows(statement.sql, statement.arguments, options, statement.is_custom)),
            )
            for statement in explanation.statements
        ]
    return Explained(explanation, planned)


async def analyze_operation(
    database: Database, scope: Scope, engine: Engine, request: ExplainRequest, options: Options, budget: int
) -> Explained:
    """Execute the operation, and run each of its compiled statements once more with EXPLAIN ANALYZE."""
    explanation = await explain(engine, *request, scope)
    context = AnalyzingContext(database, scope, budget)
    context.options = ("ANALYZE", "BUFFERS", *options)
    REQUEST_TRACE.set(trace := RequestTrace("explain"))
    answer = orjson.loads((await engine.execute(*request, context)).body)
    for error in answer.get("errors", ()):
        raise NotExplained(error["extensions"]["code"], error["message"])
    planned = [
        Planned(with_values(explanation, sql, arguments), plan_of(rows)) for sql, arguments, rows in context.fetched
    ]
    return Explained(explanation, planned, len(planned) + len(trace.spans_of("sql")))


def with_values(explanation: Explanation, sql: str, arguments: Sequence[Any]) -> ExplainedStatement:
    """Return the statement with the parameter values that were sent, including those that earlier steps found."""
    statement = explanation.statement(sql)
    assert statement is not None, "a statement was sent that the explanation does not have"
    pairs = zip(statement.parameters, arguments, strict=True)
    return statement._replace(parameters=tuple(parameter._replace(value=value) for parameter, value in pairs))


def plan_of(rows: list[Any]) -> list[Any]:
    """Return the plan from the rows of EXPLAIN, which are lines of text or a single JSON document."""
    return orjson.loads(rows[0]) if rows and isinstance(rows[0], bytes) else rows


class AnalyzingContext(Context):
    """A context that also fetches the plan of each statement, in a read-only transaction that is rolled back."""

    options: Options

    def __init__(self, database: Database, scope: Scope, budget: int) -> None:
        super().__init__(database, scope, budget)
        self.fetched: list[tuple[str, Sequence[Any], list[Any]]] = []

    async def fetch(self, sql: str, arguments: Sequence[Any], anew: bool = False) -> bytes | None:
        with final_errors():
            async with self.database.explaining() as connection:
                value = await connection.value(sql, arguments)
                rows = await connection.rows(sql, arguments, self.options, anew)
        self.fetched.append((sql, arguments, rows))
        return value
