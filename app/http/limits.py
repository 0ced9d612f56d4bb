"""The limits within which operations run: fair shares of the process, rate limits, cost and time."""

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


class OperationTimeout(CairnError):
    """An operation took too long. `writes` is the number of its committed transactions; nothing else was written."""

    code = "TIMEOUT"

    def __init__(self, seconds: float, writes: int) -> None:
        done = f"{writes} of its writes were done" if writes else "Nothing was written"
        super().__init__(f"The operation was stopped after {seconds:g} s. {done}. Ask for less at once.")
        self.writes = writes

    @property
    def extensions(self) -> dict[str, Any]:
        return {"code": self.code, "writes": self.writes}


class Deadline:
    """A timeout of `seconds` for each operation, with one timer for all running operations."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.running: Deadlines[Task] = Deadlines(self.stop)
        self.stopped: set[Task] = set()

    async def within(self, work: Awaitable[T]) -> T:
        """Await `work` and return its result. Raises OperationTimeout.

        The timeout cancels a running statement, but waits for a running COMMIT.
        """
        task = asyncio.current_task()
        assert task is not None
        self.running.add(task, self.seconds)
        commits = Commits()
        before = COUNTED.set(commits)
        try:
            return await work
        except asyncio.CancelledError:
            if task in self.stopped and task.cancelling() == 1:  # cancelled by the timeout alone
                raise OperationTimeout(self.seconds, commits.done) from None
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


MAX_QUEUED = 4096  # requests that wait for a slot in a process; a tenant may have half as many
REFUSAL_DELAY = 1.0
"""Seconds by which the refusal of a request is delayed while its tenant has waiting requests, to slow down retries."""
QUEUE_FULL = "Too many requests of this tenant wait."


class Admission:
    """Shares the slots of a process fairly between tenants, so that a tenant with many requests delays only itself.

    While the database does not answer, requests do not wait for a slot, and are refused when they need a connection.
    """

    def __init__(self, database: Database, throttle: Throttle, slots: int) -> None:
        self.database, self.throttle, self.queue = database, throttle, FairQueue(slots, MAX_QUEUED)

    async def run(
        self, scope: Scope, deadline: Deadline, work: Callable[[Account], Awaitable[T]], needs_slot: bool
    ) -> T:
        """Run a request within its rate limits and its timeout, once it has a slot if it needs one.

        Raises Throttled and OperationTimeout.
        """
        BORROWER.set(scope.tenant_id)
        try:
            with self.throttle.account(scope) as account:
                return await deadline.within(self.run_in_slot(account, work) if needs_slot else work(account))
        except Throttled as refused:
            if scope.tenant_id in self.queue.waiting:
                await asyncio.sleep(min(REFUSAL_DELAY, refused.retry_after))
            raise

    async def run_in_slot(self, account: Account, work: Callable[[Account], Awaitable[T]]) -> T:
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
"""Whether this task belongs to a request that has a slot already."""

INTROSPECTION_ROLES = {"everyone": frozenset(Role), "admin": frozenset({Role.ADMIN}), "nobody": frozenset[Role]()}


@dataclass(frozen=True)
class Bounds:
    """The limits of operations, and the methods that run an operation within them."""

    admission: Admission
    max_cost: int
    deadline: Deadline
    bulk_deadline: Deadline
    """The timeout of an import or export of a whole wiki."""
    introspection_roles: frozenset[Role]

    @classmethod
    def of(cls, settings: Settings, database: Database) -> Self:
        throttle = Throttle(
            database,
            credential=Rate(settings.credential_rate, settings.credential_burst),
            tenant=Rate(settings.tenant_rate, settings.tenant_burst),
            max_concurrent=settings.max_concurrent,
        )
        return cls(
            Admission(database, throttle, 2 * settings.pool_size),
            settings.max_cost,
            Deadline(settings.request_timeout),
            Deadline(settings.import_timeout),
            INTROSPECTION_ROLES[settings.introspection],
        )

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
        """Execute an operation. Throttled and OperationTimeout are raised; all other errors are in the answer.

        `event` is the change for which an operation of a subscription is executed.
        """

        def work(account: Account) -> Awaitable[Answer]:
            context = self.context(database, scope, account)
            if feed is not None:
                context.feed, context.event = feed, event
            record_document(request.query, context)
            return self.execute_and_charge(engine, request, context, account)

        return await self.admission.run(scope, self.deadline, work, needs_slot=True)

    async def admit(self, scope: Scope, work: Callable[[Account], Awaitable[T]], *, is_bulk: bool = False) -> T:
        """Run a request of REST, MCP or the reader within the same limits as a GraphQL operation.

        The account is charged for the request here; `work` charges it for its reads. A bulk request, which imports or
        exports a whole wiki, has a longer timeout and needs no slot: it waits only for connections and threads.
        """

        async def charge_and_run(account: Account) -> T:
            await account.take(OPERATION)
            return await work(account)

        deadline = self.bulk_deadline if is_bulk else self.deadline
        return await self.admission.run(scope, deadline, charge_and_run, needs_slot=not is_bulk)

    def context(self, database: Database, scope: Scope, account: Account | None = None) -> Context:
        may_introspect = scope.role in self.introspection_roles
        return Context(database, scope, self.max_cost, account=account, may_introspect=may_introspect)

    async def execute_and_charge(
        self, engine: Engine, request: GraphQLRequest, context: Context, account: Account
    ) -> Answer:
        """Execute an operation and charge the account for it.

        An empty account raises Throttled before the document is parsed. A refused operation is charged too.
        """
        if not account.covers(OPERATION):
            await account.fetch(OPERATION)
        if (route := ROUTE.get()) is not None and route.is_open and await is_mutation(engine, request):
            route.is_open = False
        answer = await engine.execute(request.query, request.variables, request.name, context)
        if not context.paid:
            account.charge(OPERATION)
        return answer
