"""Limits of a request: its size, its depth, its cost and its time."""

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from db.committing import COUNTED, Commits
from db.database import Database
from db.replicas.routing import ROUTE
from db.scope import Role, Scope
from lib.deadlines import Deadlines
from lib.fair_queue import BORROWER, FairQueue, QueueFull, slot
from observability.trace import record_document
from resolvers.context import Context
from resolvers.errors import CairnError
from resolvers.rate_limits import Account, Rate, Throttle, Throttled
from resolvers.subscriptions.changes import ChangeEvent
from resolvers.subscriptions.feed import Feed
from selection import Answer, Engine
from selection.limits import OPERATION

from ..settings import Settings
from .idempotency import is_mutation
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
        commits = Commits()
        before = COUNTED.set(commits)
        try:
            return await work
        except asyncio.CancelledError:
            if task in self.stopped and task.cancelling() == 1:  # by nobody else as well
                raise OutOfTime(self.seconds, commits.done) from None
            raise
        finally:
            COUNTED.reset(before)
            self.running.remove(task)
            if task in self.stopped:
                self.stopped.remove(task)
                task.uncancel()

    def stop(self, task: Task) -> None:
        self.stopped.add(task)
        task.cancel()


QUEUE = 4096  # requests that wait for a slot in one process, and half as many of one tenant
PACE = 1.0  # seconds that a refusal takes a tenant that has many requests here: who asks again at once waits here
QUEUE_FULL = "Too many requests of this tenant wait."


class Admission:
    """Fair shares of a process for tenants: who has a thousand requests here waits for them, and nobody else does.

    While the database does not answer nobody waits: the request is refused where it asks for a connection.
    """

    def __init__(self, database: Database, throttle: Throttle, at_once: int) -> None:
        self.database, self.throttle, self.queue = database, throttle, FairQueue(at_once, QUEUE)

    async def run(self, scope: Scope, deadline: Deadline, work: Callable[[Account], Awaitable[T]], fairly: bool) -> T:
        """Run a request within its limits, once it has a slot. Raises Throttled and OutOfTime."""
        BORROWER.set(scope.tenant_id)
        try:
            with self.throttle.account(scope) as account:
                return await deadline.within(self.in_slot(account, work) if fairly else work(account))
        except Throttled as refused:
            if scope.tenant_id in self.queue.waiting:
                await asyncio.sleep(min(PACE, refused.retry_after))
            raise

    async def in_slot(self, account: Account, work: Callable[[Account], Awaitable[T]]) -> T:
        if HAS_SLOT.get() or self.database.is_cut:
            return await work(account)
        try:
            async with slot(self.queue):
                HAS_SLOT.set(True)
                try:
                    return await work(account)
                finally:
                    HAS_SLOT.set(False)
        except QueueFull:
            raise Throttled(QUEUE_FULL, 1) from None


HAS_SLOT: ContextVar[bool] = ContextVar("has_slot", default=False)
"""Whether this is a part of a request that has its slot."""

INTROSPECTS = {"everyone": frozenset(Role), "admin": frozenset({Role.ADMIN}), "nobody": frozenset[Role]()}


@dataclass(frozen=True)
class Bounds:
    """The limits within which operations are run."""

    admission: Admission
    cost: int
    deadline: Deadline
    bulk: Deadline
    introspects: frozenset[Role]

    @classmethod
    def of(cls, settings: Settings, database: Database) -> Self:
        throttle = Throttle(
            database,
            credential=Rate(settings.credential_rate, settings.credential_burst),
            tenant=Rate(settings.tenant_rate, settings.tenant_burst),
            max_concurrent=settings.max_concurrent,
        )
        introspects = INTROSPECTS[settings.introspection]
        deadline, bulk = Deadline(settings.request_timeout), Deadline(settings.import_timeout)
        admission = Admission(database, throttle, 2 * settings.pool_size)
        return cls(admission, settings.max_cost, deadline, bulk, introspects)

    async def execute(
        self,
        engine: Engine,
        database: Database,
        scope: Scope,
        request: GraphQLRequest,
        *,
        feed: Feed | None = None,
        event: ChangeEvent | None = None,
    ) -> Answer:
        """Execute an operation. Throttled and OutOfTime are raised; all other errors are in the answer.

        `event` is what a subscription is being shown.
        """

        def work(account: Account) -> Awaitable[Answer]:
            context = self.context(database, scope, account)
            if feed is not None:
                context.feed, context.event = feed, event
            record_document(request.query, context)
            return self.paid(engine, request, context, account)

        return await self.admission.run(scope, self.deadline, work, fairly=True)

    async def admit(self, scope: Scope, work: Callable[[Account], Awaitable[T]], *, is_bulk: bool = False) -> T:
        """Run a request of a transport with its own operations within the same limits: it pays for its reads from the
        account, which pays for the request itself here. One that moves a whole wiki is given more time, and waits for
        connections and threads only, not for a slot."""

        async def paid(account: Account) -> T:
            await account.take(OPERATION)
            return await work(account)

        deadline = self.bulk if is_bulk else self.deadline
        return await self.admission.run(scope, deadline, paid, fairly=not is_bulk)

    def context(self, database: Database, scope: Scope, account: Account | None = None) -> Context:
        may_introspect = scope.role in self.introspects
        return Context(database, scope, self.cost, account=account, may_introspect=may_introspect)

    async def paid(self, engine: Engine, request: GraphQLRequest, context: Context, account: Account) -> Answer:
        """Execute and charge. An empty account raises Throttled before parsing; a refused operation costs too."""
        if not account.covers(OPERATION):
            await account.fetch(OPERATION)
        if (route := ROUTE.get()) is not None and route.is_open and await is_mutation(engine, request):
            route.is_open = False
        answer = await engine.execute(request.query, request.variables, request.name, context)
        if not context.paid:
            account.owe(OPERATION)
        return answer
