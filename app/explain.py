"""Explains a query of a client: what the engine makes of it, and the plans that Postgres has for its statements."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson
from graphql import GraphQLError

from db.database import Database
from db.scope import Scope
from observability.trace import REQUEST_TRACE, RequestTrace
from resolvers.context import Context, once_only
from resolvers.errors import CairnError
from schema.errors import format_error
from selection import Engine
from selection.execute.explain import ExplainedStatement, Explanation, explain

Options = Sequence[str]
"""Options of EXPLAIN, such as `FORMAT JSON` or `COSTS OFF`."""


class ExplainRequest(NamedTuple):
    """A document as a client sends it. `name` chooses one of several operations."""

    text: str
    variables: dict[str, Any]
    name: str | None = None


class Planned(NamedTuple):
    """A statement with what EXPLAIN says of it: lines of text, or a tree for programs."""

    statement: ExplainedStatement
    plan: list[Any]


class Explained(NamedTuple):
    """An operation with its plans. `sent` is how many statements it sent, where it was executed."""

    explanation: Explanation
    planned: list[Planned]
    sent: int | None = None


class NotExplained(CairnError):
    """An operation cannot be explained. `line` and `column` say where in its document the reason is."""

    def __init__(self, code: str, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.code, self.line, self.column = code, line, column

    @property
    def extensions(self) -> dict[str, Any]:
        return {"code": self.code, **({"line": self.line, "column": self.column} if self.line else {})}


def not_explained(errors: Sequence[GraphQLError], file: str) -> NotExplained:
    """Return the first error as clients are told it, with its place in the file."""
    told, more = format_error(errors[0]), f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    code, message = told["extensions"]["code"], f"{told['message']}{more}"
    for place in told.get("locations", ()):
        line, column = place["line"], place["column"]
        return NotExplained(code, f"{file}:{line}:{column}: {message}", line, column)
    return NotExplained(code, message)


async def estimate_operation(
    database: Database, scope: Scope, engine: Engine, asked: ExplainRequest, options: Options
) -> Explained:
    """Explain the operation without executing any of it."""
    explanation = await explain(engine, *asked, scope)
    async with database.explaining() as connection:
        planned = [
            Planned(one, read(await connection.rows(one.sql, one.arguments, options, one.is_custom)))
            for one in explanation.statements
        ]
    return Explained(explanation, planned)


async def analyze_operation(
    database: Database, scope: Scope, engine: Engine, asked: ExplainRequest, options: Options, budget: int
) -> Explained:
    """Execute the operation, and each of its compiled statements once more under EXPLAIN ANALYZE."""
    explanation = await explain(engine, *asked, scope)
    context = AnalyzingContext(database, scope, budget)
    context.options = ("ANALYZE", "BUFFERS", *options)
    REQUEST_TRACE.set(trace := RequestTrace("explain"))
    answer = orjson.loads((await engine.execute(*asked, context)).body)
    for error in answer.get("errors", ()):
        raise NotExplained(error["extensions"]["code"], error["message"])
    planned = [
        Planned(with_values(explanation, sql, arguments), read(rows)) for sql, arguments, rows in context.fetched
    ]
    return Explained(explanation, planned, len(planned) + len(trace.spans_of("sql")))


def with_values(explanation: Explanation, sql: str, arguments: Sequence[Any]) -> ExplainedStatement:
    """Return the statement with the values that it was sent with, also those that steps have found."""
    statement = explanation.statement(sql)
    assert statement is not None, "a statement was sent that the explanation does not have"
    pairs = zip(statement.parameters, arguments, strict=True)
    return statement._replace(parameters=tuple(one._replace(value=value) for one, value in pairs))


def read(rows: list[Any]) -> list[Any]:
    """Return the rows of EXPLAIN; a plan for programs comes as one JSON document."""
    return orjson.loads(rows[0]) if rows and isinstance(rows[0], bytes) else rows


class AnalyzingContext(Context):
    """A context that notes the plan of each statement, which runs in a read-only transaction and is rolled back."""

    options: Options

    def __init__(self, database: Database, scope: Scope, budget: int) -> None:
        super().__init__(database, scope, budget)
        self.fetched: list[tuple[str, Sequence[Any], list[Any]]] = []

    async def fetch(self, sql: str, arguments: Sequence[Any], anew: bool = False) -> bytes | None:
        with once_only():
            async with self.database.explaining() as connection:
                value = await connection.value(sql, arguments)
                rows = await connection.rows(sql, arguments, self.options, anew)
        self.fetched.append((sql, arguments, rows))
        return value
