"""Writing the texts and planning the summaries of rebuilt pages, outside of any transaction."""

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
from ..read.evidence import NOTHING_FORGOTTEN, Forgotten, StoredKnowledge
from .pages import Drafts, rebuild_pages

T = TypeVar("T")
log = logging.getLogger(__name__)


async def redraft(
    run: Run, page_ids: Collection[UUID], drafts: Drafts, forgotten: Forgotten = NOTHING_FORGOTTEN
) -> None:
    """Add the texts and summaries that these pages need to the drafts. No connection is held while authors work."""
    knowledge = StoredKnowledge(run.database, run.scope)
    for _ in range(ROUNDS):
        async with read_connection(run.database) as connection:
            result = await rebuild_pages(Writer(connection, run.scope), page_ids, drafts, Metrics(), forgotten)
        if not result.missing and not result.unsummarised:
            return
        writing_now = (
            result_or(run, forgotten, write_text(run.authors.writer, task), "") for task in result.missing.values()
        )
        drafts.texts.update(zip(result.missing, await gather_texts(writing_now), strict=True))
        for key, (page, sources) in result.unsummarised.items():
            summary = plan_summary(run.authors.planner, knowledge, page, sources)
            drafts.summaries[key] = await result_or(run, forgotten, summary, None)
    raise Unavailable(BUSY)


async def result_or(run: Run, forgotten: Forgotten, work: Awaitable[T], default: T) -> T:
    """Return the result of a planner or a writer. If it fails in a late attempt to forget sources, return `default`.

    So sources are forgotten even if a planner or a writer does not work. Any other error is raised.
    """
    try:
        return await work
    except Exception as error:
        if not forgotten.ids or not run.job.is_late:
            raise
        log.warning("Forgetting goes on without its planner or writer: %s", type(error).__name__)
        return default


async def plan_summary(planner: Planner, knowledge: Knowledge, page: Page, sources: Sequence[SourceText]) -> str | None:
    """Return the summary that the planner gives the page if it reads only these sources."""
    if not sources:
        return None
    plan = await make_plan(planner, sources, KnowledgeWithoutSummary(knowledge, page.id))
    updates = (update.summary for update in plan.updates if update.page_id == page.id)
    name = page.type, normalise(page.title)
    new_pages = (new.summary for new in plan.new_pages if (new.type, normalise(new.title)) == name)
    return next((summary for summary in (*updates, *new_pages) if summary), None)


@dataclass(frozen=True, slots=True)
class KnowledgeWithoutSummary:
    """A `Knowledge` that hides the summary of one page."""

    knowledge: Knowledge
    page_id: UUID

    async def pages(self, aliases: Collection[str]) -> Mapping[str, Sequence[PageCard]]:
        found = await self.knowledge.pages(aliases)
        return {alias: [self.without_summary(card) for card in cards] for alias, cards in found.items()}

    def without_summary(self, card: PageCard) -> PageCard:
        return replace(card, summary=None) if card.id == self.page_id else card

    async def names(self, max_names: int) -> Collection[str] | None:
        return await self.knowledge.names(max_names)

    async def mentions(self, aliases: Collection[str]) -> Any:
        return await self.knowledge.mentions(aliases)

    async def sources(self, ids: Collection[UUID]) -> Any:
        return await self.knowledge.sources(ids)

    async def sources_with(self, names: Collection[str], max_sources: int) -> Any:
        return await self.knowledge.sources_with(names, max_sources)

    async def citations(self, page_ids: Collection[UUID]) -> Any:
        return await self.knowledge.citations(page_ids)
