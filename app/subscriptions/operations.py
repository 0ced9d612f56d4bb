"""Operations of streams: a query or mutation has a single answer, and a subscription has one for each event."""

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
from resolvers.subscriptions.feed import Feed, Subscriber, may_still_follow
from resolvers.transactions.db_errors import translated_db_errors
from selection import Engine
from selection.execute.engine import Answer
from selection.execute.operation import Invalid, Operation
from selection.execute.subscription import Events, subscribe

from ..http.idempotency import answer_once
from ..http.limits import Bounds
from ..http.positions import with_position
from ..http.request import GraphQLRequest, Refused

log = structlog.get_logger()
EMPTY_ANSWER_MAX = 1000  # bytes; an answer without data is never longer
EVENT_RETRY = 1.0  # seconds until an event is read again after the database was unavailable
WITHDRAWN = "You may no longer read this, so there is no more of it."


class Stopping(Exception):
    """The service stops and ends the stream. The client should subscribe again, at another process."""


class Operations:
    """Executes the operations of streams with the same engine, limits and permissions as a POST."""

    def __init__(self, engine: Engine, database: Database, feed: Feed, bounds: Bounds, *, readers: int) -> None:
        """Read at most `readers` events at the same time, so that connections remain for other requests."""
        self.engine, self.database, self.feed, self.bounds = engine, database, feed, bounds
        self.reading = asyncio.Semaphore(readers)

    async def answers(
        self, request: GraphQLRequest, scope: Scope, key: str | None = None
    ) -> AsyncGenerator[Answer, None]:
        """Yield the answers of an operation. An answer that was not `executed` is the last.

        A mutation with an idempotency key is executed once. Raises only Stopping: all other errors are yielded as
        answers.
        """
        try:
            operation = await self.operation(request)
            if operation is None:
                yield await self.execute(request, scope, key=key)
                return
            events = await subscribe(
                self.engine.schema, operation, request.variables or {}, self.engine.limits, self.context(scope)
            )
            async with aclosing(self.stream_results(request, events, scope)) as answers:
                async for answer in answers:
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

    async def check_get(self, request: GraphQLRequest) -> None:
        """Raise Refused if the operation of a GET is a mutation."""
        with suppress(Invalid):
            document = await self.engine.document(request.query, request.name)
            if document.operation.definition.operation is OperationType.MUTATION:
                raise Refused(405, "GET changes nothing; send a mutation as a POST.", "METHOD_NOT_ALLOWED")

    async def operation(self, request: GraphQLRequest) -> Operation | None:
        """Return the operation if it is a valid subscription, else None: the engine gives the only answer then."""
        try:
            operation = (await self.engine.document(request.query, request.name)).operation
        except Invalid:
            return None
        return operation if operation.is_subscription else None

    async def stream_results(
        self, request: GraphQLRequest, events: Events, scope: Scope
    ) -> AsyncGenerator[Answer, None]:
        """Yield the answer for each event, without those that the caller may not read, such as of hidden pages."""
        async with aclosing(events.happening) as happening:
            assert isinstance(happening, Subscriber)
            async for event in happening:
                answer = await self.read_event(request, scope, event)
                if not is_empty(answer, events.key):
                    yield answer
                elif not await may_still_follow(self.database, scope, happening):
                    raise Forbidden(WITHDRAWN)
        if self.feed.closed:
            raise Stopping

    async def read_event(self, request: GraphQLRequest, scope: Scope, event: ChangeEvent) -> Answer:
        """Execute a subscription for an event, again and again while the database cannot be used: no event is lost."""
        while True:
            async with self.reading:
                answer = await self.execute(request, scope, event)
            if not answer.unavailable:
                return answer
            if self.feed.closed:
                raise Stopping
            await asyncio.sleep(EVENT_RETRY)

    async def execute(
        self, request: GraphQLRequest, scope: Scope, event: ChangeEvent | None = None, key: str | None = None
    ) -> Answer:
        """Execute a query or mutation, or a subscription for an event. Each execution has a cost budget of its own."""

        async def run(request: GraphQLRequest, scope: Scope, database: Database) -> Answer:
            return await self.bounds.execute(self.engine, database, scope, request, feed=self.feed, event=event)

        route = Route(is_open=False)  # the change of an event may not have reached replicas yet
        route.commits = int(event is not None)
        before = ROUTE.set(route)
        try:
            if key is None:
                answer = await run(request, scope, self.database)
            else:
                answer, _ = await answer_once(self.engine, self.database, scope, key, request, run)
            return await with_position(self.database, answer)
        finally:
            ROUTE.reset(before)

    def context(self, scope: Scope) -> Context:
        context = self.bounds.context(self.database, scope)
        context.feed = self.feed
        return context

    def refusal(self, *errors: GraphQLError) -> Answer:
        return Answer(orjson.dumps({"errors": [self.engine.formatter(error) for error in errors]}), executed=False)


def is_empty(answer: Answer, key: str) -> bool:
    """Return whether the answer for an event has neither data nor errors: the caller may not read its subject."""
    if len(answer.body) > EMPTY_ANSWER_MAX:
        return False
    body = orjson.loads(answer.body)
    return body.get("data") == {key: None} and "errors" not in body


RETRY_AFTER = 5.0  # seconds until a credential is checked again after the database was unavailable


class Credential:
    """The Authorization of a connection, and the owner whose wiki it selects."""

    def __init__(self, credentials: Credentials, authorization: str | None, owner: str | None) -> None:
        self.credentials, self.authorization, self.owner = credentials, authorization, owner
        self.known: Scope | None = None

    async def scope(self) -> Scope:
        """Return the scope of the credential.

        It is cached, except in the wiki of another owner, for which the caller's access may be revoked.
        """
        if self.known is None or self.owner is not None:
            with translated_db_errors():
                self.known = await self.credentials.scope(self.authorization, self.owner)
        return self.known

    async def wait_until_invalid(self) -> None:
        """Wait, and raise Unauthenticated when the credential expires, or within a minute of its revocation."""
        while True:
            try:
                with translated_db_errors():
                    until = await self.credentials.valid_until(self.authorization)
            except Unavailable:
                until = time.time() + RETRY_AFTER
            await asyncio.sleep(max(until - time.time(), 0))
