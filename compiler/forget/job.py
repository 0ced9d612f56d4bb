"""The job that removes everything that was written from forgotten sources.

Each step looks up what is left to do and does a part of it in one transaction, so another worker can continue after any
step. The texts of the forgotten sources are kept for this job alone, until its last step deletes them.
"""

import time
from collections.abc import Sequence
from uuid import UUID

from db.database import Database
from db.sql import statements
from lib.threads import offload
from resolvers.errors import Forbidden, Unavailable
from resolvers.jobs.queue import Job, advance, finish
from resolvers.transactions.transaction import read_connection, writing
from resolvers.transactions.writer import Writer

from ..authors import Authors
from ..compiler import Compiler
from ..extraction.reading_cache import CACHE
from ..leaf_pass import BUSY, ROUNDS, Run, Stale
from ..metrics import Metrics
from ..rebuild.pages import Drafts, rebuild_pages
from ..rebuild.replan import redraft
from .history import erase_history, find_last_quoting
from .mentions import find_shared, find_sighted, plan_clusters, recount_names
from .pages import find_citing
from .request import ForgetRequest, lower_bounds
from .rewriting import rewrite_pages
from .traces import erase_traces

FORGETTING = statements("sources/forgetting")
PAGES_PER_BATCH, HISTORIES_PER_BATCH = 10, 20
FIRST = UUID(int=0)


class Forgetting(Run):
    """One attempt at a job that forgets sources."""

    request: ForgetRequest | None = None
    """The sources that are being forgotten; None before they are read."""
    scanned = FIRST
    """The last page whose revisions were searched for quotes of the sources."""

    def __init__(self, database: Database, job: Job, compiler: Compiler) -> None:
        super().__init__(database, job, compiler)
        self.scope = self.scope.upkeep()

    async def step(self) -> bool:
        """Do a part of what is left; return true when the job is over.

        Forgetting does not wait for a budget or a model: the default planner and writer take over in late attempts and
        when the budget is used up.
        """
        if self.job.is_late or await self.authors.stop():
            self.authors = Authors(self.compiler.planner, self.compiler.writer)
        if self.request is None and not await self.begin():
            return await self.close()
        assert self.request is not None
        async with read_connection(self.database) as connection:
            reader = Writer(connection, self.scope)
            citing = await find_citing(reader, self.request, PAGES_PER_BATCH)
            sighted = [] if citing else await find_sighted(reader, self.request)
        if citing:
            await self.rewrite(citing, self.request)
        elif sighted:
            await self.recount(self.request)
        elif not await self.erase_revisions(self.request):
            await self.erase_rest(self.request)
        return False

    def is_hopeless(self, error: BaseException) -> bool:
        """Return whether another attempt would fail with the same error. A refused model is replaced in late ones."""
        return isinstance(error, Forbidden)

    async def begin(self) -> bool:
        """Read the sources that are to be forgotten; return whether there are any."""
        async with read_connection(self.database) as connection:
            rows = await Writer(connection, self.scope).all(FORGETTING["find_forgettings"])
        if not rows:
            return False
        request = await offload(sum(len(row["said"]) for row in rows), ForgetRequest.of, rows)
        async with read_connection(self.database) as connection:
            given = {"words": list(request.forgotten.words)}
            stop_words = await Writer(connection, self.scope).value(FORGETTING["find_stop_words"], **given)
        self.request = await offload(len(request.phrases), request.with_stop_words, stop_words)
        self.scanned = FIRST
        return True

    async def close(self) -> bool:
        """Finish the job unless another source is to be forgotten by now; return whether it is finished."""
        async with writing(self.database, self.scope) as writer:
            if await writer.value(FORGETTING["is_forgetting"]):
                return False
            await finish(writer, self.job, self.metrics.stored)
        return True

    async def store_metrics(self, writer: Writer, done: Metrics) -> None:
        """Add the metrics of a batch to those of the job and store them. Raises JobLost."""
        done.add("batches")
        total = self.metrics + done
        await advance(writer, self.job, total.stored)
        self.metrics = total

    async def rewrite(self, page_ids: Sequence[UUID], request: ForgetRequest) -> None:
        """Rewrite pages that cite forgotten sources."""
        began, drafts = time.monotonic(), Drafts()
        for _ in range(ROUNDS):
            await redraft(self, page_ids, drafts, request.forgotten)
            try:
                return await self.store_rewritten(page_ids, drafts, request, began)
            except Stale:
                continue
        raise Unavailable(BUSY)

    async def store_rewritten(
        self, page_ids: Sequence[UUID], drafts: Drafts, request: ForgetRequest, began: float
    ) -> None:
        """Store all of these pages in one transaction. Raises Stale and JobLost."""
        done = Metrics()
        async with writing(self.database, self.scope) as writer:
            result = await rebuild_pages(writer, page_ids, drafts, done, request.forgotten)
            if result.missing or result.unsummarised:
                raise Stale
            await rewrite_pages(writer, page_ids, result.pages, request, done)
            done.add("seconds", round(time.monotonic() - began, 3))
            await self.store_metrics(writer, done)

    async def recount(self, request: ForgetRequest) -> None:
        """Delete or count again a batch of mentions that were sighted in forgotten sources."""
        async with read_connection(self.database) as connection:
            aliases, sources = await find_shared(Writer(connection, self.scope), request)
        clusters = await plan_clusters(self, aliases, sources, request.forgotten)
        done = Metrics()
        async with writing(self.database, self.scope) as writer:
            await recount_names(writer, request, clusters, done)
            await self.store_metrics(writer, done)

    async def erase_revisions(self, request: ForgetRequest) -> bool:
        """Erase the revisions of a batch of pages that quote forgotten sources; return false after the last batch.

        These pages no longer cite the sources, or never did.
        """
        async with read_connection(self.database) as connection:
            reader = Writer(connection, self.scope)
            values = {"after": self.scanned, **lower_bounds(request.since), "size": HISTORIES_PER_BATCH}
            page_ids = [row["page_id"] for row in await reader.all(FORGETTING["find_revised"], **values)]
            quoting = [page_id for page_id in page_ids if await find_last_quoting(reader, page_id, request)]
        done = Metrics()
        for page_id in quoting:
            async with writing(self.database, self.scope) as writer:
                await erase_history(writer, page_id, request, done)
        if done.counts.get("states_erased") or done.repeating:
            async with writing(self.database, self.scope) as writer:
                await self.store_metrics(writer, done)
        if page_ids:
            self.scanned = page_ids[-1]
        return bool(page_ids)

    async def erase_rest(self, request: ForgetRequest) -> None:
        """Erase all other traces of the sources, and then the texts that were kept for this job."""
        done = Metrics()
        async with writing(self.database, self.scope) as writer:
            if await find_citing(writer, request, 1):
                return
            await erase_traces(writer, request, done)
            await writer.run(FORGETTING["drop_forgettings"], source_ids=request.source_ids)
            done.add("sources_forgotten", len(request.rows))
            await self.store_metrics(writer, done)
        for source_id in request.forgotten.ids:
            CACHE.forget(source_id)
        self.request = None
