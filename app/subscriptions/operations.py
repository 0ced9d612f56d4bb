"""One operation as a stream of answers: one of a query or a mutation, one for each event of a subscription."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

import orjson
import structlog
from graphql import GraphQLError, OperationType

from db.database import Database
from db.scope import Scope
from resolvers.context import Context
from resolvers.errors import CairnError, Forbidden
from resolvers.subscriptions.changes import Change
from resolvers.subscriptions.feed import Feed
from selection import Engine
from selection.execute.engine import Answer
from selection.execute.operation import Invalid, Operation
from selection.execute.subscription import Events, subscribed

from ..http import request
from ..http.limits import Bounds

log = structlog.get_logger()
SHORT = 1000  # bytes: an answer that says nothing is no longer
WITHDRAWN = "You may no longer read this wiki, so there is no more of this."


class Stopping(Exception):
    """The service ends what would have gone on: that is not the end of it for whoever follows."""


class Operations:
    """The same engine, limits and rules as for a POST."""

    def __init__(self, engine: Engine, database: Database, feed: Feed, bounds: Bounds, *, readers: int) -> None:
        """`readers` is how many events are read at once: subscribers must leave connections to those who ask."""
        self.engine, self.database, self.feed, self.bounds = engine, database, feed, bounds
        self.reading = asyncio.Semaphore(readers)

    async def answers(self, asked: request.Operation, scope: Scope) -> AsyncGenerator[Answer, None]:
        """Raises Stopping alone: what goes wrong is an answer. One not `executed` is the only one, or the last."""
        try:
            operation = await self.operation(asked)
            if operation is None:
                yield await self.execute(asked, scope)
                return
            events = await subscribed(
                self.engine.schema, operation, asked.variables or {}, self.engine.limits, self.context(scope)
            )
            async with aclosing(self.shown(asked, events, scope)) as shown:
                async for answer in shown:
                    yield answer
        except Invalid as invalid:
            yield self.refusal(*invalid.errors)
        except GraphQLError as error:
            yield self.refusal(error)
        except CairnError as error:
            yield self.refusal(GraphQLError(error.message, original_error=error))
        except Stopping:
            raise
        except Exception as error:
            yield self.refusal(GraphQLError(str(error), original_error=error))  # masked and logged by the formatter

    async def check_may_be_got(self, asked: request.Operation) -> None:
        """A GET changes nothing."""
        with suppress(Invalid):
            document = await self.engine.document(asked.query, asked.name)
            if document.operation.definition.operation is OperationType.MUTATION:
                raise request.Refused(405, "GET changes nothing; send a mutation as a POST.", "METHOD_NOT_ALLOWED")

    async def operation(self, asked: request.Operation) -> Operation | None:
        """The subscription that is asked for; None for anything else, which the engine answers in one."""
        try:
            operation = (await self.engine.document(asked.query, asked.name)).operation
        except Invalid:
            return None
        return operation if operation.is_subscription else None

    async def shown(self, asked: request.Operation, events: Events, scope: Scope) -> AsyncGenerator[Answer, None]:
        async with aclosing(events.happening) as happening:
            async for event in happening:
                async with self.reading:
                    answer = await self.execute(asked, scope, event)
                if is_nothing(answer, events.key):
                    raise Forbidden(WITHDRAWN)
                yield answer
        if self.feed.closed:
            raise Stopping

    async def execute(self, asked: request.Operation, scope: Scope, event: Change | None = None) -> Answer:
        """The whole operation, or a subscription for one event; each has a budget of its own."""
        return await self.bounds.execute(self.engine, self.database, scope, asked, feed=self.feed, event=event)

    def context(self, scope: Scope) -> Context:
        context = self.bounds.context(self.database, scope)
        context.feed = self.feed
        return context

    def refusal(self, *errors: GraphQLError) -> Answer:
        return Answer(orjson.dumps({"errors": [self.engine.formatter(error) for error in errors]}), executed=False)


def is_nothing(answer: Answer, key: str) -> bool:
    """Whether the event is none that the caller may see."""
    if len(answer.body) > SHORT:
        return False
    said = orjson.loads(answer.body)
    return said.get("data") == {key: None} and "errors" not in said
