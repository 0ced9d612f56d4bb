"""The search rows of many writes, written once: for a transaction that saves the same pages again and again."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ..writer import Writer
from .index import write_search


@asynccontextmanager
async def found_together(writer: Writer) -> AsyncIterator[None]:
    """What can be found of the pages that are saved in here is written at the end, as it is then.

    No page may be deleted meanwhile.
    """
    gathered = writer.gathered = {}
    yield
    writer.gathered = None
    if gathered:
        await write_search(writer, *gathered.values())
