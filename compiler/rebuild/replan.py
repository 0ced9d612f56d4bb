"""Plans and texts for pages that are made again, asked for outside of any transaction."""

import logging
from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from uuid import UUID

from content.names import normalise
from resolvers.errors import Unavailable
from resolvers.model.pages import Page
from resolvers.transactions.transaction import read_connection
from resolvers.transactions.writer import Writer

from ..authors import make_plan, write_text
from ..leaf_pass import BUSY, ROUNDS, Run, gather_texts
from ..metrics import Metrics
from ..planner import Knowledge, PageCard, Planner, SourceText
from ..read.evidence import NOTHING_GONE, Gone, StoredKnowledge
from .pages import Drafts, rebuild_pages

T = TypeVar("T")
log = logging.getLogger(__name__)


async def redraft(run: Run, page_ids: Collection[UUID], drafts: Drafts, gone: Gone = NOTHING_GONE) -> None:
    """Write and sum up what these pages need: no connection is held meanwhile."""
    knowledge = StoredKnowledge(run.database, run.scope)
    for _ in range(ROUNDS):
        async with read_connection(run.database) as connection:
            remaking = await rebuild_pages(Writer(connection, run.scope), page_ids, drafts, Metrics(), gone)
        if not remaking.missing and not remaking.unsummed:
            return
        writing_now = (
            answer_or(run, gone, write_text(run.authors.writer, task), "") for task in remaking.missing.values()
        )
        drafts.texts.update(zip(remaking.missing, await gather_texts(writing_now), strict=True))
        for key, (page, sources) in remaking.unsummed.items():
            summing_up = summary_of(run.authors.planner, knowledge, page, sources)
            drafts.summaries[key] = await answer_or(run, gone, summing_up, None)
    raise Unavailable(BUSY)


async def answer_or(run: Run, gone: Gone, asked: Awaitable[T], otherwise: T) -> T:
    """Return the answer of a planner or a writer, or `otherwise` if the last attempt to forget fails.

    What is to be forgotten does not stay because a model is out of order.
    """
    try:
        return await asked
    except Exception as error:
        if not gone.ids or not run.job.is_last_attempt:
            raise
        log.warning("Forgetting goes on without its planner or writer: %s", type(error).__name__)
        return otherwise


async def summary_of(planner: Planner, knowledge: Knowledge, page: Page, sources: Sequence[SourceText]) -> str | None:
    """Return the summary that the planner would give the page, knowing these sources alone."""
    if not sources:
        return None
    plan = await make_plan(planner, sources, Unsummed(knowledge, page.id))
    updates = (update.summary for update in plan.updates if update.page_id == page.id)
    own = page.type, normalise(page.title)
    made = (new.summary for new in plan.new_pages if (new.type, normalise(new.title)) == own)
    return next((summary for summary in (*updates, *made) if summary), None)


@dataclass(frozen=True, slots=True)
class Unsummed:
    """A wiki in which one page has no summary yet."""

    knowledge: Knowledge
    page_id: UUID

    async def pages(self, aliases: Collection[str]) -> Mapping[str, Sequence[PageCard]]:
        found = await self.knowledge.pages(aliases)
        return {alias: [self.without_summary(card) for card in cards] for alias, cards in found.items()}

    def without_summary(self, card: PageCard) -> PageCard:
        return replace(card, summary=None) if card.id == self.page_id else card

    async def names(self, most: int) -> Collection[str] | None:
        return await self.knowledge.names(most)

    async def mentions(self, aliases: Collection[str]) -> Any:
        return await self.knowledge.mentions(aliases)

    async def sources(self, ids: Collection[UUID]) -> Any:
        return await self.knowledge.sources(ids)

    async def citations(self, page_ids: Collection[UUID]) -> Any:
        return await self.knowledge.citations(page_ids)
