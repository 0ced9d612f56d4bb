"""The texts of sources, read from Postgres once as long as they are the same.

A source never changes, but its text may be erased. So what is kept is used only where Postgres says, in the same
statement as it says that the source is there, that its text is still the one that was kept.
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

CHARACTERS_MAX = 2_000_000  # of all texts that are kept in this process

Facts = Mapping[UUID, Row]
"""By id: kind, ref, version, captured_at of sources, and a digest of what they say."""


class CachedText(NamedTuple):
    digest: int
    source: SourceText


class SourceTexts:
    """A cache of the last source texts that were needed, of all wikis: an id belongs to one of them."""

    def __init__(self, characters_max: int = CHARACTERS_MAX) -> None:
        self.characters_max, self.characters = characters_max, 0
        self.kept: OrderedDict[UUID, CachedText] = OrderedDict()

    async def of(self, reader: Writer, facts: Facts) -> dict[UUID, SourceText]:
        """Return the sources that these facts are about."""
        found = {id: source for id, fact in facts.items() if (source := self.recall(id, fact["digest"]))}
        for id, row in (await find_sources(reader, facts.keys() - found.keys())).items():
            found[id] = source_of(row)
            self.keep(found[id], row["digest"])
        return found

    def recall(self, id: UUID, digest: int) -> SourceText | None:
        kept = self.kept.get(id)
        if kept is None or kept.digest != digest:
            return None
        self.kept.move_to_end(id)
        return kept.source

    def keep(self, source: SourceText, digest: int) -> None:
        self.drop(source.id)
        self.kept[source.id] = CachedText(digest, source)
        self.characters += len(source.content)
        while self.characters > self.characters_max:
            self.drop(next(iter(self.kept)))

    def drop(self, id: UUID) -> None:
        if kept := self.kept.pop(id, None):
            self.characters -= len(kept.source.content)


TEXTS = SourceTexts()


async def find_facts(reader: Writer, ids: Collection[UUID]) -> dict[UUID, Row]:
    rows = await reader.all(COMPILING["find_facts"], ids=list(ids)) if ids else []
    return {row["id"]: row for row in rows}


Read = Callable[[Sequence[SourceText]], Awaitable[None]]


@asynccontextmanager
async def reading_ahead(
    database: Database, scope: Scope, planner: Planner, start: Cursor, size: int
) -> AsyncIterator[None]:
    """Read the next sources while the block runs.

    Nothing depends on it: what was not read by then is read for the plan.
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
    async with read_connection(database) as connection:
        batch = await find_batch(Writer(connection, scope), start, size)
    await read(batch.sources)


@contextmanager
def pause_collection() -> Iterator[None]:
    """Disable garbage collection in the block, unless somebody has already."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
