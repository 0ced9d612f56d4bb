"""A job that lets search read a wiki again, page by page: what it is asked meanwhile is answered as before."""

from resolvers.jobs import queue
from resolvers.search.reindexing import FIRST, begin, finish, read_batch
from resolvers.transactions.transaction import writing

from ..leaf_pass import Run


class Reindexing(Run):
    """One attempt at one job. The wiki itself keeps how far it was read, so that any reindexing goes on from there."""

    after = FIRST
    is_begun = False

    async def step(self) -> bool:
        """A batch of pages; true when search has read them all."""
        if not self.is_begun:
            await begin(self.database, self.scope)
            self.is_begun = True
        page_ids = await read_batch(self.database, self.scope, self.after)
        if not page_ids:
            await finish(self.database, self.scope)
            return await self.close()
        self.after = page_ids[-1]
        self.metrics.add("batches")
        self.metrics.add("pages_reindexed", len(page_ids))
        async with writing(self.database, self.scope) as writer:
            await queue.advance(writer, self.job, self.metrics.stored)
        return False

    async def close(self) -> bool:
        async with writing(self.database, self.scope) as writer:
            await queue.finish(writer, self.job, self.metrics.stored)
        return True
