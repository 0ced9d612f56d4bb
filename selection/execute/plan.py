"""A compiled statement that is ready to run: its SQL, the getters of its parameters, its cost, and its steps."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import count
from operator import itemgetter
from typing import Any, Protocol

from sqlalchemy import ColumnElement, Dialect, Select, case, func, literal, select
from sqlalchemy.dialects.postgresql import asyncpg

from ..compile.compiler import QueryCompiler, StepUse, within_of
from ..compile.computed import Calls, Places
from ..compile.parameters import Fixed, Request, StepParameter
from ..compile.tenancy import unbound_tables
from ..declare.arguments import Argument

ANSWER_MAX = 10_000_000  # bytes; receiving a larger response would block the event loop
DIALECT: Dialect = asyncpg.dialect(paramstyle="numeric_dollar")  # type: ignore[no-untyped-call]


class Context(Protocol):
    """The context of a request: the caller's scope, the budget, and the access to Postgres."""

    scope: Any
    spent: int
    """The cost of the operation so far, in rows."""
    budget: int
    """The maximum cost of the operation, in rows."""
    may_introspect: bool
    event: Any
    """The event that a subscription executes the operation for, or None."""

    async def spend(self, cost: int) -> None:
        """Add a cost. Raises TooExpensive over the budget, and RequestRejected over a rate limit."""

    async def begin(self, cost: int) -> None:
        """Start to execute the operation with graphql-core: reset its cost to this base cost, which fields add to."""

    async def fetch(self, sql: str, arguments: Sequence[Any], anew: bool = False) -> bytes | None:
        """Return the only JSON value of a statement. If `anew`, Postgres plans it for these arguments."""


def limit_size(result: ColumnElement[Any]) -> Select[Any]:
    """Return a select of the value and its size in bytes. The value is null if the size exceeds ANSWER_MAX."""
    answer = select(result.label("answer")).offset(literal(0)).subquery("whole")  # OFFSET: it is computed only once
    size = func.pg_column_size(answer.c.answer)
    return select(case((size <= ANSWER_MAX, answer.c.answer)).label("answer"), size.label("size"))


class QueryPlan:
    """The statement for an operation, or one of its root fields, and one shape of the variables."""

    def __init__(
        self, compiler: QueryCompiler, result: ColumnElement[Any], places: Places, empty_answer: bytes | None = None
    ) -> None:
        """Compile the plan. `places` are the places of computed fields.

        `empty_answer` is the answer if no step finds a row, so that no statement has to run.
        """
        statement = limit_size(result)
        if tables := unbound_tables(statement):
            raise AssertionError(f"{tables} would be read for every tenant")
        compiled = statement.compile(dialect=DIALECT, compile_kwargs={"literal_binds": True})
        self.sql = str(compiled)
        getters = [compiler.binds.getter(name) for name in compiled.positiontup or ()]
        self.getters = tuple(getters)
        self.fixed = [get.value if isinstance(get, Fixed) else None for get in getters]
        self.varying = [(place, get) for place, get in enumerate(getters) if not isinstance(get, Fixed | StepParameter)]
        self.step_parameter_names = tuple(get.name for get in getters if isinstance(get, StepParameter))
        self.order_parameters = parameter_order(getters) if self.step_parameter_names else tuple
        self.steps = compiler.steps
        self.calls = Calls(compiler.calls, places) if compiler.calls else None
        self.checks = [(check, without_nulls(arguments)) for check, arguments in compiler.checks]
        self.anew = compiler.binds.needs_custom_plan
        self.cost = compiler.cost
        self.cost.fold()
        self.empty_answer = empty_answer
        self.whole: QueryPlan | None = None
        """The plan that finds the rows of the step in its statement, if there is such a plan. It is tried first."""

    async def run(self, context: Context, request: Request, parent: Any = None) -> bytes | None:
        """Run the steps and the statement, and return its JSON value. The cost is spent before any SQL."""
        await context.spend(self.checked_cost(request))
        if not self.steps:
            return await self.fetch(context, self.parameters(request), request)
        if self.whole is not None and (value := await self.whole.run_in_one_statement(context, request)) is not None:
            return value
        request = request._replace(found=await self.run_steps(context, request, parent))
        if self.empty_answer is not None and not any(request.found):
            return self.empty_answer
        return await self.fetch(context, self.parameters(request), request)

    async def fetch(self, context: Context, parameters: Sequence[Any], request: Request) -> bytes | None:
        """Run the statement and fill in computed fields."""
        value = await context.fetch(self.sql, parameters, self.anew)
        return value if value is None or self.calls is None else await self.calls.fill(value, request)

    def checked_cost(self, request: Request) -> int:
        """Run the checks of access rules and cursors, which raise errors, then return the cost in rows."""
        for check, arguments in self.checks:
            check(request.scope, **argument_values(arguments, request))
        return self.cost.item_cost(request)

    async def run_in_one_statement(self, context: Context, request: Request) -> bytes | None:
        """Run the statement with the parameters that the step has cached, and retry once if they are out of date.

        Return None if the step has to run.
        """
        step_use = self.steps[0]
        _, wanted, arguments = step_use
        for again in (False, True):
            known = await within_of(step_use).know(context, wanted, again, **argument_values(arguments, request))
            if known is None:
                return None
            parameters = self.order_parameters(
                (*self.parameters(request), *map(known.__getitem__, self.step_parameter_names))
            )
            value = await self.fetch(context, parameters, request)
            if value is not None:
                return value
        return None

    def parameters(self, request: Request) -> list[Any]:
        """Return the values of the statement's parameters. Those that a step gives are None."""
        parameters = self.fixed.copy()
        for place, get in self.varying:
            parameters[place] = get(request)
        return parameters

    async def run_steps(self, context: Context, request: Request, parent: Any) -> list[list[tuple[Any, ...]]]:
        """Return the rows of each step. Several steps run concurrently; a single one runs without a task of its own.

        If one fails, the others are cancelled, because the answer does not wait for them.
        """
        running = [run_step(step_use, context, request, parent) for step_use in self.steps]
        if len(running) == 1:
            return [await running[0]]
        tasks = [asyncio.create_task(step) for step in running]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def parameter_order(getters: Sequence[Any]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """Return a function that orders a statement's parameters.

    Its argument is the parameters of the request, followed by those of the step. Each of the latter replaces the None
    in its place. There is always at least one of the request, the tenant, so that itemgetter returns a tuple.
    """
    behind = count(len(getters))
    return itemgetter(*(next(behind) if isinstance(get, StepParameter) else place for place, get in enumerate(getters)))


async def run_step(step_use: StepUse, context: Context, request: Request, parent: Any) -> list[tuple[Any, ...]]:
    """Return the rows of a step."""
    step, wanted, arguments = step_use
    return await step.run(context, parent, wanted, **argument_values(arguments, request))


def without_nulls(arguments: dict[str, Argument]) -> dict[str, Argument]:
    """Return the arguments without those that are null in every request. Null is the default of a check's parameter."""
    return {
        name: argument
        for name, argument in arguments.items()
        if not (isinstance(argument.get, Fixed) and argument.get.value is None)
    }


def argument_values(arguments: dict[str, Argument], request: Request) -> dict[str, Any]:
    """Return the values of the arguments in a request."""
    return {name: argument.get(request) for name, argument in arguments.items()}
