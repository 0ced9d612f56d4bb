"""A cache of source texts, and reading ahead while a batch is stored.

A source never changes, but its text can be erased. So a cached text is used only if its digest is the one that Postgres
has returned with the source in the present transaction.
"""

import asyncio
import gc
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import NamedTuple
from uuid import UUID

from db.connection import Row
from db.database import Database
from db.scope import Scope
from resolvers.transactions.transaction import read_connection
from resolvers.transactions.writer import Writer

from ..planner import Planner, SourceText
from .stored import COMPILING, Cursor, find_batch, find_sources, source_of

CHARACTERS_MAX = 2_000_000  # of all texts that are cached in this process

Facts = Mapping[UUID, Row]
"""Rows of sources by id: kind, ref, version, captured_at, and a digest of the text."""


class CachedText(NamedTuple):
    digest: int
    source: SourceText


class SourceTexts:
    """A least-recently-used cache of source texts, shared by all wikis, because source ids are unique among them."""

    def __init__(self, characters_max: int = CHARACTERS_MAX) -> None:
        self.characters_max = characters_max
        self.characters = 0
        """The characters of all cached texts."""
        self.cached: OrderedDict[UUID, CachedText] = OrderedDict()

    async def of(self, reader: Writer, facts: Facts) -> dict[UUID, SourceText]:
        """Return the sources with these facts, from the cache or else from Postgres."""
        found = {id: source for id, fact in facts.items() if (source := self.get(id, fact["digest"]))}
        for id, row in (await find_sources(reader, facts.keys() - found.keys())).items():
            found[id] = source_of(row)
            self.put(found[id], row["digest"])
        return found

    def get(self, id: UUID, digest: int) -> SourceText | None:
        """Return the cached source if its text has this digest."""
        cached = self.cached.get(id)
        if cached is None or cached.digest != digest:
            return None
        self.cached.move_to_end(id)
        return cached.source

    def put(self, source: SourceText, digest: int) -> None:
        """Cache a source, and drop the least recently used ones that exceed the size of the cache."""
        self.drop(source.id)
        self.cached[source.id] = CachedText(digest, source)
        self.characters += len(source.content)
        while self.characters > self.characters_max:
            self.drop(next(iter(self.cached)))

    def drop(self, id: UUID) -> None:
        if cached := self.cached.pop(id, None):
            self.characters -= len(cached.source.content)


TEXTS = SourceTexts()


async def find_facts(reader: Writer, ids: Collection[UUID]) -> dict[UUID, Row]:
    rows = await reader.all(COMPILING["find_facts"], ids=list(ids)) if ids else []
    return {row["id"]: row for row in rows}


Read = Callable[[Sequence[SourceText]], Awaitable[None]]


@asynccontextmanager
async def reading_ahead(
    database: Database, scope: Scope, planner: Planner, start: Cursor, size: int
) -> AsyncIterator[None]:
    """Have the planner read the next sources in the background while the block runs, if it has `read_ahead`.

    This only saves time: sources that are not read when the block ends are read for their plan.
    """
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
    """Call `read` with the sources behind `start`."""
    async with read_connection(database) as connection:
        batch = await find_batch(Writer(connection, scope), start, size)
    await read(batch.sources)


@contextmanager
def pause_collection() -> Iterator[None]:
    """Disable garbage collection in the block, and enable it afterwards if it was enabled before."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
