"""A statement that is ready to run: SQL text, where its parameters come from, what it may cost."""

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

ANSWER_MAX = 10_000_000  # bytes: larger ones would hold the event loop while they are received
DIALECT: Dialect = asyncpg.dialect(paramstyle="numeric_dollar")  # type: ignore[no-untyped-call]


class Context(Protocol):
    """The context of a request: its scope, its budget, and one way to Postgres."""

    scope: Any
    spent: int
    budget: int
    may_introspect: bool
    event: Any
    """What a subscription is being shown, or None."""

    async def spend(self, cost: int) -> None:
        """Raise what is Final when the operation has become too expensive, RequestRejected when it comes too soon."""

    async def begin(self, cost: int) -> None:
        """Start the operation anew, field by field: it costs so much besides what each of them spends."""

    async def fetch(self, sql: str, arguments: Sequence[Any], anew: bool = False) -> bytes | None:
        """Return the one JSON value of a statement, which may have to be planned `anew` for these arguments."""


def limit_size(result: ColumnElement[Any]) -> Select[Any]:
    """Return the value and its size in bytes; without the value where that is more than ANSWER_MAX."""
    answer = select(result.label("answer")).offset(literal(0)).subquery("whole")  # so that it is computed once
    size = func.pg_column_size(answer.c.answer)
    return select(case((size <= ANSWER_MAX, answer.c.answer)).label("answer"), size.label("size"))


class QueryPlan:
    """One statement for one operation and one shape of its variables."""

    def __init__(
        self, compiler: QueryCompiler, result: ColumnElement[Any], places: Places, empty_answer: bytes | None = None
    ) -> None:
        """Make a plan. `places` are those of fields that Python computes.

        `nothing` is the answer when no step found anything, known without asking Postgres.
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
        """The same, where the statement finds what the step would."""

    async def run(self, context: Context, request: Request, parent: Any = None) -> bytes | None:
        """Return the statement's one JSON value. Its cost is spent before any SQL."""
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
        value = await context.fetch(self.sql, parameters, self.anew)
        return value if value is None or self.calls is None else await self.calls.fill(value, request)

    def checked_cost(self, request: Request) -> int:
        """Return the cost, once the caller may ask for this at all."""
        for check, arguments in self.checks:
            check(request.scope, **argument_values(arguments, request))
        return self.cost.item_cost(request)

    async def run_in_one_statement(self, context: Context, request: Request) -> bytes | None:
        """Run without the step, with the parameters that it has cached and again if they are out of date.

        None means that the step has to run.
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
        found = self.fixed.copy()
        for place, get in self.varying:
            found[place] = get(request)
        return found

    async def run_steps(self, context: Context, request: Request, parent: Any) -> list[list[tuple[Any, ...]]]:
        """Return what each step finds: several run concurrently, and one without a task of its own."""
        running = [run_step(step_use, context, request, parent) for step_use in self.steps]
        return [await running[0]] if len(running) == 1 else await asyncio.gather(*running)


def parameter_order(getters: Sequence[Any]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """Return a function that puts the parameters of the step, which come last, in their places among the others.

    The tenant is always one of them.
    """
    behind = count(len(getters))
    return itemgetter(*(next(behind) if isinstance(get, StepParameter) else place for place, get in enumerate(getters)))


async def run_step(step_use: StepUse, context: Context, request: Request, parent: Any) -> list[tuple[Any, ...]]:
    step, wanted, arguments = step_use
    return await step.run(context, parent, wanted, **argument_values(arguments, request))


def without_nulls(arguments: dict[str, Argument]) -> dict[str, Argument]:
    """Return the arguments without those that are null in every request: a check has that as its default."""
    return {name: one for name, one in arguments.items() if not (isinstance(one.get, Fixed) and one.get.value is None)}


def argument_values(arguments: dict[str, Argument], request: Request) -> dict[str, Any]:
    return {name: argument.get(request) for name, argument in arguments.items()}
