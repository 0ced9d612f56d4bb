"""Renames that were not finished where they were asked for: a hub has more texts than a caller waits for."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import structlog

from db.database import Database
from resolvers.pages.renaming import rewrite_rest

log = structlog.get_logger()
LOOKED_EVERY = 15.0  # seconds


@asynccontextmanager
async def renamings_finished(database: Database) -> AsyncIterator[None]:
    """Meanwhile what is left of renames is done, whoever began them."""
    looking = asyncio.create_task(look(database))
    try:
        yield
    finally:
        looking.cancel()
        with suppress(asyncio.CancelledError):
            await looking


async def look(database: Database) -> None:
    while True:
        await asyncio.sleep(LOOKED_EVERY)
        try:
            if rewritten := await rewrite_rest(database):
                log.info("links were renamed", texts=rewritten)
        except Exception as error:
            log.warning("renames were not finished", reason=type(error).__name__)
