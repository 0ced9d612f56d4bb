"""One operation as a stream of answers: one of a query or a mutation, one for each event of a subscription."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

import orjson
import structlog
from graphql import GraphQLError, OperationType

from db.database import Database
from db.replicas.routing import ROUTE, Route
from db.scope import Scope
from resolvers.auth.credentials import Credentials
from resolvers.context import Context
from resolvers.errors import CairnError, Forbidden, Unavailable
from resolvers.subscriptions.changes import ChangeEvent
from resolvers.subscriptions.feed import Feed
from resolvers.transactions.db_errors import translated_db_errors
from selection import Engine
from selection.execute.engine import Answer
from selection.execute.operation import Invalid, Operation
from selection.execute.subscription import Events, subscribe

from ..http.limits import Bounds
from ..http.positions import with_position
from ..http.request import GraphQLRequest, Refused

log = structlog.get_logger()
SHORT = 1000  # bytes: an answer that says nothing is no longer
WITHDRAWN = "You may no longer read this wiki, so there is no more of this."


class Stopping(Exception):
    """The service ends a stream that would have gone on: whoever follows it asks again elsewhere."""


class Operations:
    """The operations of streams, with the same engine, limits and rules as for a POST."""

    def __init__(self, engine: Engine, database: Database, feed: Feed, bounds: Bounds, *, readers: int) -> None:
        """Limit how many events are read at once to `readers`: subscribers must leave connections to requests."""
        self.engine, self.database, self.feed, self.bounds = engine, database, feed, bounds
        self.reading = asyncio.Semaphore(readers)

    async def answers(self, request: GraphQLRequest, scope: Scope) -> AsyncGenerator[Answer, None]:
        """Yield the answers. Only Stopping is raised, errors are answers. One not `executed` is the last or only
        one."""
        try:
            operation = await self.operation(request)
            if operation is None:
                yield await self.execute(request, scope)
                return
            events = await subscribe(
                self.engine.schema, operation, request.variables or {}, self.engine.limits, self.context(scope)
            )
            async with aclosing(self.stream_results(request, events, scope)) as shown:
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

    async def check_may_be_got(self, request: GraphQLRequest) -> None:
        """Refuse a mutation by GET, which changes nothing."""
        with suppress(Invalid):
            document = await self.engine.document(request.query, request.name)
            if document.operation.definition.operation is OperationType.MUTATION:
                raise Refused(405, "GET changes nothing; send a mutation as a POST.", "METHOD_NOT_ALLOWED")

    async def operation(self, request: GraphQLRequest) -> Operation | None:
        """Return the subscription that is asked for; None for anything else, which the engine answers in one."""
        try:
            operation = (await self.engine.document(request.query, request.name)).operation
        except Invalid:
            return None
        return operation if operation.is_subscription else None

    async def stream_results(
        self, request: GraphQLRequest, events: Events, scope: Scope
    ) -> AsyncGenerator[Answer, None]:
        async with aclosing(events.happening) as happening:
            async for event in happening:
                async with self.reading:
                    answer = await self.execute(request, scope, event)
                if is_nothing(answer, events.key):
                    raise Forbidden(WITHDRAWN)
                yield answer
        if self.feed.closed:
            raise Stopping

    async def execute(self, request: GraphQLRequest, scope: Scope, event: ChangeEvent | None = None) -> Answer:
        """Execute the whole operation, or a subscription for one event; each has a budget of its own."""
        route = Route(is_open=False)  # what an event shows is newer than what a replica has
        route.commits = int(event is not None)
        before = ROUTE.set(route)
        try:
            answer = await self.bounds.execute(self.engine, self.database, scope, request, feed=self.feed, event=event)
            return await with_position(self.database, answer)
        finally:
            ROUTE.reset(before)

    def context(self, scope: Scope) -> Context:
        context = self.bounds.context(self.database, scope)
        context.feed = self.feed
        return context

    def refusal(self, *errors: GraphQLError) -> Answer:
        return Answer(orjson.dumps({"errors": [self.engine.formatter(error) for error in errors]}), executed=False)


def is_nothing(answer: Answer, key: str) -> bool:
    """Return whether the event is none that the caller may see."""
    if len(answer.body) > SHORT:
        return False
    said = orjson.loads(answer.body)
    return said.get("data") == {key: None} and "errors" not in said


AGAIN = 5.0  # seconds, when the database could not be asked


class Credential:
    """The Authorization of one connection, and the wiki that it wants to work in."""

    def __init__(self, credentials: Credentials, authorization: str | None, owner: str | None) -> None:
        self.credentials, self.authorization, self.owner = credentials, authorization, owner
        self.known: Scope | None = None

    async def scope(self) -> Scope:
        """Return the scope, read anew for each operation in another's wiki: the right to it may be taken back."""
        if self.known is None or self.owner is not None:
            with translated_db_errors():
                self.known = await self.credentials.scope(self.authorization, self.owner)
        return self.known

    async def ends(self) -> None:
        """Raise Unauthenticated when it has expired or was taken back, within a minute of the latter."""
        while True:
            try:
                with translated_db_errors():
                    until = await self.credentials.good_until(self.authorization)
            except Unavailable:
                until = time.time() + AGAIN
            await asyncio.sleep(max(until - time.time(), 0))
