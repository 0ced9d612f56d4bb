"""The job that rebuilds one page, or all pages of a wiki, from the sources that they cite."""

import time
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from resolvers.errors import Unavailable
from resolvers.jobs.queue import advance, finish, follow_up
from resolvers.pages.update import save
from resolvers.transactions.transaction import read_connection, writing
from resolvers.transactions.writer import Writer, record

from ..aggregate.aggregation_pass import update_lists
from ..authors import Stop
from ..leaf_pass import BUSY, ROUNDS, Run, Stale
from ..metrics import Metrics
from ..read.evidence import NOTHING_FORGOTTEN
from ..read.stored import COMPILING, find_rollups
from .pages import Drafts, RebuiltPage, rebuild_pages
from .replan import redraft

PAGES_PER_BATCH = 10  # pages of one transaction
FIRST = UUID(int=0)


class Rebuilding(Run):
    """One attempt at a job that rebuilds pages. It continues after the last page that was stored."""

    async def step(self) -> bool:
        """Rebuild a batch of pages; return true when none are left, or when the budget is used up."""
        page_ids = await self.next_pages()
        if not page_ids:
            return await self.close()
        if stop := await self.authors.stop():
            return await self.close(stop)
        await self.rebuild(page_ids)
        return await self.close() if "pageId" in self.job.options else False

    async def next_pages(self) -> list[UUID]:
        """Return the one page that the job names, or the next batch of pages of the wiki."""
        if page_id := self.job.options.get("pageId"):
            return [UUID(page_id)]
        async with read_connection(self.database) as connection:
            after = UUID(self.last_page) if self.last_page else FIRST
            reader = Writer(connection, self.scope)
            return [
                row["id"] for row in await reader.all(COMPILING["find_next_pages"], after=after, size=PAGES_PER_BATCH)
            ]

    @property
    def last_page(self) -> str | None:
        """Return the last page that was rebuilt, by this job or by the job whose follow-up it is."""
        return self.metrics.reached or self.job.options.get("after")

    async def rebuild(self, page_ids: Sequence[UUID]) -> None:
        """Rebuild these pages. Raises Unavailable if the wiki keeps changing."""
        began, drafts = time.monotonic(), Drafts()
        for _ in range(ROUNDS):
            await redraft(self, page_ids, drafts)
            try:
                return await self.store_pages(page_ids, drafts, began)
            except Stale:
                continue
        raise Unavailable(BUSY)

    async def store_pages(self, page_ids: Sequence[UUID], drafts: Drafts, began: float) -> None:
        """Store all of these pages in one transaction. Raises Stale and JobLost."""
        done = Metrics()
        async with writing(self.database, self.scope) as writer:
            result = await rebuild_pages(writer, page_ids, drafts, done, NOTHING_FORGOTTEN)
            if result.missing or result.unsummarised:
                raise Stale
            for rebuilt in result.pages:
                await store(writer, rebuilt, done)
            lists = await find_rollups(writer, page_ids)
            await update_lists(writer, [rebuilt.after for rebuilt in result.pages], done, lists)
            done.add("seconds", round(time.monotonic() - began, 3))
            done.add("batches")
            done.reached = str(page_ids[-1])
            total = self.metrics + done
            await advance(writer, self.job, total.stored)
        self.metrics = total

    async def close(self, stop: Stop | None = None) -> bool:
        """Finish the job, after a `stop` with a follow-up job for the rest; return true."""
        async with writing(self.database, self.scope) as writer:
            if stop:
                rest = {**self.job.options, "after": self.last_page} if self.last_page else self.job.options
                await follow_up(writer, replace(self.job, options=rest), after=self.record_stop(stop))
            await finish(writer, self.job, self.metrics.stored)
        return True


async def store(writer: Writer, rebuilt: RebuiltPage, done: Metrics) -> None:
    """Store the page, unless its content has not changed."""
    done.add("pages_rebuilt")
    if rebuilt.after.content == rebuilt.before.content:
        return
    after = replace(rebuilt.after, last_compiled_at=writer.now)
    text = f"Rebuilt from {rebuilt.sources} source{'s' * (rebuilt.sources != 1)}"
    saved = await save(writer, rebuilt.before, after, edit_summary=text)
    before = {section.slug: section for section in rebuilt.before.sections}
    done.add("sections_written", sum(before.get(section.slug) != section for section in after.sections))
    done.add("pages_updated")
    await record(writer, "page.compiled", saved.page_id, version=saved.version)
