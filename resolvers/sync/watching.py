"""A folder and a wiki that are kept in step: a sync follows whenever either of them changed."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable

from watchfiles import Change, awatch

from ..errors import CairnError, Unavailable
from ..transactions.db_errors import translate_error
from .folder import TEMPORARY

log = logging.getLogger(__name__)
PAUSES = (0.5, 1.0, 2.0, 5.0, 10.0)
"""Seconds before the next attempt where the database does not answer; the last one for all that follow."""
TOGETHER = 400
"""Milliseconds in which changes of files are taken together."""


async def keep_in_step(
    root: str, changes: Iterable[AsyncIterator[object]], sync: Callable[[], Awaitable[None]]
) -> None:
    """Sync now, and then whenever a file changed or the wiki said so, until cancelled.

    A database that is lost is waited for: what happened meanwhile is found by the next sync.
    """
    due = asyncio.Event()
    due.set()
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(each(watch_files(root), due.set))
            for said in changes:
                tasks.create_task(each(said, due.set))
            await keep_syncing(due, sync)
    except ExceptionGroup as group:
        raise group.exceptions[0] from None


async def keep_syncing(due: asyncio.Event, sync: Callable[[], Awaitable[None]]) -> None:
    """Sync whenever it is due."""
    failures = 0
    while True:
        await due.wait()
        due.clear()
        try:
            await sync()
            failures = 0
        except Exception as error:
            known = error if isinstance(error, CairnError) else translate_error(error)
            if not isinstance(known, Unavailable):
                raise
            log.warning("The sync waits for the database: %s", known.message)
            await asyncio.sleep(PAUSES[min(failures, len(PAUSES) - 1)])
            failures += 1
            due.set()


async def each(events: AsyncIterator[object], tell: Callable[[], None]) -> None:
    async for _ in events:
        tell()


async def watch_files(root: str) -> AsyncIterator[object]:
    """Yield whenever files of a folder changed, but for hidden and temporary ones."""
    top = await asyncio.to_thread(os.path.realpath, root)

    def is_followed(change: Change, path: str) -> bool:
        parts = os.path.relpath(path, top).split(os.sep)
        return not any(part.startswith((".", TEMPORARY)) for part in parts)

    async for changes in awatch(top, watch_filter=is_followed, debounce=TOGETHER, recursive=True):
        yield changes
