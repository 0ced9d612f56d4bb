"""What a request may cost and take, as the operator has set it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Self, TypeVar

from db.database import Database
from db.pool import BORROWER
from db.scope import Role, Scope
from resolvers.context import Context
from resolvers.rate_limits.buckets import Rate
from resolvers.rate_limits.limiter import Account, Throttle
from resolvers.subscriptions.changes import Change
from resolvers.subscriptions.feed import Feed
from selection import Answer, Engine
from selection.cost import OPERATION
from selection.trail import note_document

from .deadline import Deadline
from .request import Operation
from .settings import Settings

T = TypeVar("T")
INTROSPECTS = {"everyone": frozenset(Role), "admin": frozenset({Role.ADMIN}), "nobody": frozenset[Role]()}


@dataclass(frozen=True)
class Bounds:
    """Runs operations inside them."""

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
        asked: Operation,
        *,
        feed: Feed | None = None,
        event: Change | None = None,
    ) -> Answer:
        """Throttled and OutOfTime are for the door to answer; whatever else is wrong is in the answer.

        `event` is what a subscription is being shown.
        """
        BORROWER.set(scope.tenant_id)
        with self.throttle.account(scope) as account:
            context = self.context(database, scope, account)
            if feed is not None:
                context.feed, context.event = feed, event
            note_document(asked.query, context)
            return await self.deadline.within(self.paid(engine, asked, context, account))

    async def admit(self, scope: Scope, work: Callable[[Account], Awaitable[T]], *, is_moving: bool = False) -> T:
        """A request of a door that has operations of its own, inside of the same bounds: what it reads it pays from
        the account, which pays for the request itself here. One that moves a whole wiki is given more time."""
        BORROWER.set(scope.tenant_id)
        with self.throttle.account(scope) as account:
            await account.take(OPERATION)
            return await (self.moving if is_moving else self.deadline).within(work(account))

    def context(self, database: Database, scope: Scope, account: Account | None = None) -> Context:
        may_introspect = scope.role in self.introspects
        return Context(database, scope, self.cost, account=account, may_introspect=may_introspect)

    async def paid(self, engine: Engine, asked: Operation, context: Context, account: Account) -> Answer:
        """Who has nothing left is not even read; what is refused costs something too."""
        if not account.covers(OPERATION):
            await account.fetch(OPERATION)
        answer = await engine.execute(asked.query, asked.variables, asked.name, context)
        if not context.paid:
            account.owe(OPERATION)
        return answer
