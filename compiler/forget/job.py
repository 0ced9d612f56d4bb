"""A job that takes forgotten sources out of everything that was written from them.

Its steps look for what is left to do, do a part of it, each in one transaction, and begin again: so a worker may die
anywhere. What the sources said is kept until the last step, and by nobody else.
"""

import time
from collections.abc import Sequence
from uuid import UUID

from db.database import Database
from db.sql import statements
from lib.threads import read_in_thread
from resolvers.errors import Unavailable
from resolvers.jobs.queue import Job, advance, finish
from resolvers.transactions.transaction import read_connection, writing
from resolvers.transactions.writer import Writer

from ..authors import Authors
from ..compiler import Compiler
from ..extraction.reading_cache import KEPT
from ..leaf_pass import BUSY, ROUNDS, Run, Stale
from ..metrics import Metrics
from ..rebuild.pages import Drafts, rebuild_pages
from ..rebuild.replan import redraft
from .held_names import clusters_of, find_seen, find_shared, recount_names
from .history import erase_history, last_quoting
from .pages import find_citing
from .rewriting import rewrite_pages
from .traces import erase_traces
from .wanted import ForgetRequest

FORGETTING = statements("sources/forgetting")
PAGES_PER_BATCH, HISTORIES_PER_BATCH = 10, 20
FIRST = UUID(int=0)


class Forgetting(Run):
    """One attempt at a job that forgets sources."""

    wanted: ForgetRequest | None = None
    scanned = FIRST

    def __init__(self, database: Database, job: Job, compiler: Compiler) -> None:
        super().__init__(database, job, compiler)
        self.scope = self.scope.upkeep()

    async def step(self) -> bool:
        """Do a part of what is left; return true when nothing is.

        No budget and no model is waited for: rules go on then.
        """
        if self.job.is_last_attempt or await self.authors.stop():
            self.authors = Authors(self.compiler.planner, self.compiler.writer)
        if self.wanted is None and not await self.begin():
            return await self.close()
        assert self.wanted is not None
        async with read_connection(self.database) as connection:
            reader = Writer(connection, self.scope)
            citing = await find_citing(reader, self.wanted, PAGES_PER_BATCH)
            seen = [] if citing else await find_seen(reader, self.wanted)
        if citing:
            await self.rewrite(citing, self.wanted)
        elif seen:
            await self.recount(self.wanted)
        elif not await self.scan(self.wanted):
            await self.finish_off(self.wanted)
        return False

    async def begin(self) -> bool:
        async with read_connection(self.database) as connection:
            rows = await Writer(connection, self.scope).all(FORGETTING["find_forgettings"])
        if rows:
            self.wanted = await read_in_thread(sum(len(row["said"]) for row in rows), ForgetRequest.of, rows)
            self.scanned = FIRST
        return bool(rows)

    async def close(self) -> bool:
        async with writing(self.database, self.scope) as writer:
            if await writer.value(FORGETTING["is_forgetting"]):
                return False
            await finish(writer, self.job, self.metrics.stored)
        return True

    async def store_metrics(self, writer: Writer, done: Metrics) -> None:
        """Store the metrics at the end of each transaction. Raises Lost."""
        total = self.metrics + done
        await advance(writer, self.job, total.stored)
        self.metrics = total

    async def rewrite(self, page_ids: Sequence[UUID], wanted: ForgetRequest) -> None:
        """Rewrite pages that rest on forgotten sources."""
        began, drafts = time.monotonic(), Drafts()
        for _ in range(ROUNDS):
            await redraft(self, page_ids, drafts, wanted.gone)
            try:
                return await self.keep(page_ids, drafts, wanted, began)
            except Stale:
                continue
        raise Unavailable(BUSY)

    async def keep(self, page_ids: Sequence[UUID], drafts: Drafts, wanted: ForgetRequest, began: float) -> None:
        """Store all of these pages or none. Raises Stale and Lost."""
        done = Metrics()
        async with writing(self.database, self.scope) as writer:
            remaking = await rebuild_pages(writer, page_ids, drafts, done, wanted.gone)
            if remaking.missing or remaking.unsummed:
                raise Stale
            await rewrite_pages(writer, page_ids, remaking.pages, wanted, done)
            done.add("seconds", round(time.monotonic() - began, 3))
            await self.store_metrics(writer, done)

    async def recount(self, wanted: ForgetRequest) -> None:
        """Count again the names that were seen in forgotten sources."""
        async with read_connection(self.database) as connection:
            aliases, sources = await find_shared(Writer(connection, self.scope), wanted)
        clusters = await clusters_of(self, aliases, sources, wanted.gone)
        done = Metrics()
        async with writing(self.database, self.scope) as writer:
            await recount_names(writer, wanted, clusters, done)
            await self.store_metrics(writer, done)

    async def scan(self, wanted: ForgetRequest) -> bool:
        """Erase the states of a few pages that quote forgotten sources; return false at the end.

        These pages rest on the sources no more, or never did.
        """
        async with read_connection(self.database) as connection:
            reader = Writer(connection, self.scope)
            given = {"after": self.scanned, "since": wanted.since, "size": HISTORIES_PER_BATCH}
            page_ids = [row["page_id"] for row in await reader.all(FORGETTING["find_revised"], **given)]
            quoting = [page_id for page_id in page_ids if await last_quoting(reader, page_id, wanted)]
        done = Metrics()
        for page_id in quoting:
            async with writing(self.database, self.scope) as writer:
                await erase_history(writer, page_id, wanted, done)
        if done.counts.get("states_erased") or done.repeating:
            async with writing(self.database, self.scope) as writer:
                await self.store_metrics(writer, done)
        if page_ids:
            self.scanned = page_ids[-1]
        return bool(page_ids)

    async def finish_off(self, wanted: ForgetRequest) -> None:
        """Erase the rest of what tells of them; after it nothing knows any more what the sources said."""
        done = Metrics()
        async with writing(self.database, self.scope) as writer:
            if await find_citing(writer, wanted, 1):
                return
            await erase_traces(writer, wanted, done)
            await writer.run(FORGETTING["drop_forgettings"], source_ids=wanted.source_ids)
            done.add("sources_forgotten", len(wanted.rows))
            await self.store_metrics(writer, done)
        for source_id in wanted.gone.ids:
            KEPT.forget(source_id)
        self.wanted = None
