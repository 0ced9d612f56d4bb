"""Executes a mutation with an Idempotency-Key once, and answers its repetitions with the stored answer."""

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
DELETE_INTERVAL = 3600.0  # seconds
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
    """Return the answer to a mutation and the headers to add; a repetition gets the stored answer.

    A query ignores the key. The same mutation by another contract is another request, because the names in its answer
    differ.
    """
    if not await is_mutation(engine, request):
        return await run(request, wiki, database), ()
    parts = [request.query, request.variables or {}, request.name]
    attempt = Attempt(wiki, key, parts if contract is None else [*parts, contract])
    answer, replayed = await once(database, attempt, lambda within: run(request, wiki, within))
    return answer, REPLAYED if replayed else ()


async def is_mutation(engine: Engine, request: GraphQLRequest) -> bool:
    """Return whether the request executes a mutation. An invalid document is none."""
    try:
        document = await engine.document(request.query, request.name)
    except Invalid:
        return False
    return document.operation.definition.operation is OperationType.MUTATION


@asynccontextmanager
async def deleting_old_answers(database: Database) -> AsyncIterator[None]:
    """Delete old answers in the background during the block, once at the beginning and then every hour."""
    deleting = asyncio.create_task(delete_old_answers(database))
    try:
        yield
    finally:
        deleting.cancel()
        with suppress(asyncio.CancelledError):
            await deleting


async def delete_old_answers(database: Database) -> None:
    while True:
        try:
            await forget_answers(database)
        except Exception as error:
            log.warning("old answers to idempotency keys were not deleted", reason=type(error).__name__)
        await asyncio.sleep(DELETE_INTERVAL)
