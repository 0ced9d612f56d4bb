"""The next sources, read while Postgres stores the last ones: a worker would only wait meanwhile."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from db.database import Database
from db.scope import Scope
from resolvers.transactions.transaction import looking
from resolvers.transactions.writer import Writer

from .planner import Planner, SourceText
from .stored import Cursor, find_batch

Read = Callable[[Sequence[SourceText]], Awaitable[None]]


@asynccontextmanager
async def reading_ahead(
    database: Database, scope: Scope, planner: Planner, start: Cursor, size: int
) -> AsyncIterator[None]:
    """As long as the block takes. Nothing depends on it: what was not read by then is read for the plan."""
    read = getattr(planner, "read_ahead", None)
    if read is None:
        yield
        return
    task = asyncio.create_task(read_next(database, scope, read, start, size))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def read_next(database: Database, scope: Scope, read: Read, start: Cursor, size: int) -> None:
    async with looking(database) as connection:
        batch = await find_batch(Writer(connection, scope), start, size)
    await read(batch.sources)
