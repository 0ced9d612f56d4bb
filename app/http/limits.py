"""Limits of a request: its size, its depth, its cost and its time."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from db.committing import Commits
from db.database import Database
from db.deadlines import Deadlines
from db.pool import BORROWER
from db.scope import Role, Scope
from observability.trace import record_document
from resolvers.context import Context
from resolvers.errors import CairnError
from resolvers.rate_limits.buckets import Rate
from resolvers.rate_limits.limiter import Account, Throttle
from resolvers.subscriptions.changes import ChangeEvent
from resolvers.subscriptions.feed import Feed
from selection import Answer, Engine
from selection.limits.cost import OPERATION

from ..settings import Settings
from .request import GraphQLRequest

T = TypeVar("T")
Task = asyncio.Task[Any]


class OutOfTime(CairnError):
    """A timeout. `writes` counts the transactions that were committed; whatever else was to be written was not."""

    code = "TIMEOUT"

    def __init__(self, seconds: float, writes: int) -> None:
        done = f"{writes} of its writes were done" if writes else "Nothing was written"
        super().__init__(f"The operation was stopped after {seconds:g} s. {done}. Ask for less at once.")
        self.writes = writes

    @property
    def extensions(self) -> dict[str, Any]:
        return {"code": self.code, "writes": self.writes}


class Deadline:
    """A timeout of so many seconds for each operation, by one timer for all that run."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.running: Deadlines[Task] = Deadlines(self.stop)
        self.stopped: set[Task] = set()

    async def within(self, work: Awaitable[T]) -> T:
        """Return what the work returns, or raise OutOfTime. SQL that is running is stopped, a COMMIT is waited for."""
        task = asyncio.current_task()
        assert task is not None
        self.running.add(task, self.seconds)
        with Commits() as commits:
            try:
                return await work
            except asyncio.CancelledError:
                if task in self.stopped and task.cancelling() == 1:  # by nobody else as well
                    raise OutOfTime(self.seconds, commits.done) from None
                raise
            finally:
                self.running.remove(task)
                if task in self.stopped:
                    self.stopped.remove(task)
                    task.uncancel()

    def stop(self, task: Task) -> None:
        self.stopped.add(task)
        task.cancel()


INTROSPECTS = {"everyone": frozenset(Role), "admin": frozenset({Role.ADMIN}), "nobody": frozenset[Role]()}


@dataclass(frozen=True)
class Bounds:
    """The limits within which operations are run."""

    throttle: Throttle
    cost: int
    deadline: Deadline
    moving: Deadline
    introspects: frozenset[Role]

    @classmethod
    def of(cls, settings: Settings, database: Database) -> Self:
        throttle = Throttle(
            database,
            credential=Rate(settings.credential_rate, settings.credential_burst),
            tenant=Rate(settings.tenant_rate, settings.tenant_burst),
            most_at_once=settings.max_concurrent,
        )
        introspects = INTROSPECTS[settings.introspection]
        deadline, moving = Deadline(settings.request_timeout), Deadline(settings.moving_timeout)
        return cls(throttle, settings.max_cost, deadline, moving, introspects)

    async def execute(
        self,
        engine: Engine,
        database: Database,
        scope: Scope,
        asked: GraphQLRequest,
        *,
        feed: Feed | None = None,
        event: ChangeEvent | None = None,
    ) -> Answer:
        """Execute an operation. Throttled and OutOfTime are raised; all other errors are in the answer.

        `event` is what a subscription is being shown.
        """
        BORROWER.set(scope.tenant_id)
        with self.throttle.account(scope) as account:
            context = self.context(database, scope, account)
            if feed is not None:
                context.feed, context.event = feed, event
            record_document(asked.query, context)
            return await self.deadline.within(self.paid(engine, asked, context, account))

    async def admit(self, scope: Scope, work: Callable[[Account], Awaitable[T]], *, is_moving: bool = False) -> T:
        """Run a request of a transport with its own operations within the same limits: it pays for its reads from the
        account, which pays for the request itself here. One that moves a whole wiki is given more time."""
        BORROWER.set(scope.tenant_id)
        with self.throttle.account(scope) as account:
            await account.take(OPERATION)
            return await (self.moving if is_moving else self.deadline).within(work(account))

    def context(self, database: Database, scope: Scope, account: Account | None = None) -> Context:
        may_introspect = scope.role in self.introspects
        return Context(database, scope, self.cost, account=account, may_introspect=may_introspect)

    async def paid(self, engine: Engine, asked: GraphQLRequest, context: Context, account: Account) -> Answer:
        """Execute and charge. An empty account raises Throttled before parsing; a refused operation costs too."""
        if not account.covers(OPERATION):
            await account.fetch(OPERATION)
        answer = await engine.execute(asked.query, asked.variables, asked.name, context)
        if not context.paid:
            account.owe(OPERATION)
        return answer
