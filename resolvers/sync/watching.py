"""Continuous sync: a sync is run whenever the folder or the wiki has changed."""

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
"""Seconds before each retry when the database does not respond; the last value applies to all further retries."""
TOGETHER = 400
"""Milliseconds within which changes of files are handled by one sync."""


async def keep_in_step(
    root: str, changes: Iterable[AsyncIterator[object]], sync: Callable[[], Awaitable[None]]
) -> None:
    """Run a sync now, and then after each change of a file or of the wiki, until cancelled.

    While the database does not respond, the sync is retried; it finds all changes since the last one.
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
    """Run a sync whenever the event is set. A sync that fails with Unavailable is retried after a pause."""
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
    """Yield whenever files of a folder have changed, except hidden and temporary files."""
    top = await asyncio.to_thread(os.path.realpath, root)

    def is_followed(change: Change, path: str) -> bool:
        parts = os.path.relpath(path, top).split(os.sep)
        return not any(part.startswith((".", TEMPORARY)) for part in parts)

    async for changes in awatch(top, watch_filter=is_followed, debounce=TOGETHER, recursive=True):
        yield changes
