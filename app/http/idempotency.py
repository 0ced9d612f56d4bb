"""Answers requests that carry an Idempotency-Key once, and their repetitions alike."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import structlog
from graphql import OperationType

from db.database import Database
from db.scope import Scope as Wiki
from resolvers.idempotency import Attempt, forget_answers, once
from selection import Engine
from selection.execute.engine import Answer
from selection.execute.operation import Invalid

from .request import GraphQLRequest
from .responses import Headers

log = structlog.get_logger()
SWEPT_EVERY = 3600.0  # seconds
REPLAYED: Headers = ((b"idempotency-replayed", b"true"),)

Run = Callable[[GraphQLRequest, Wiki, Database], Awaitable[Answer]]


async def answer_once(
    engine: Engine,
    database: Database,
    wiki: Wiki,
    key: str,
    request: GraphQLRequest,
    run: Run,
    contract: str | None = None,
) -> tuple[Answer, Headers]:
    """Return the answer to a mutation, the same for each repetition. For a query the key means nothing.

    By another contract it is another request: its answer has other spellings.
    """
    if not await is_mutation(engine, request):
        return await run(request, wiki, database), ()
    parts = [request.query, request.variables or {}, request.name]
    attempt = Attempt(wiki, key, parts if contract is None else [*parts, contract])
    answer, replayed = await once(database, attempt, lambda within: run(request, wiki, within))
    return answer, REPLAYED if replayed else ()


async def is_mutation(engine: Engine, request: GraphQLRequest) -> bool:
    try:
        document = await engine.document(request.query, request.name)
    except Invalid:
        return False
    return document.operation.definition.operation is OperationType.MUTATION


@asynccontextmanager
async def swept(database: Database) -> AsyncIterator[None]:
    """Delete old answers in the background, once at the beginning and then every hour."""
    sweeping = asyncio.create_task(sweep(database))
    try:
        yield
    finally:
        sweeping.cancel()
        with suppress(asyncio.CancelledError):
            await sweeping


async def sweep(database: Database) -> None:
    while True:
        try:
            await forget_answers(database)
        except Exception as error:
            log.warning("old answers to idempotency keys were not deleted", reason=type(error).__name__)
        await asyncio.sleep(SWEPT_EVERY)
