"""Writing the texts and planning the summaries of rebuilt pages, outside of any transaction."""

import logging
from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar
from uuid import UUID

from content.names import normalise
from db.database import Database
from db.scope import Scope
from resolvers.errors import Unavailable
from resolvers.model.pages import Page
from resolvers.transactions.transaction import read_connection
from resolvers.transactions.writer import Writer

from ..authors import make_plan, write_text
from ..leaf_pass import BUSY, ROUNDS, Run, gather_texts
from ..metrics import Metrics
from ..planner import PageCard, SourceText
from ..read.evidence import NOTHING_FORGOTTEN, Forgotten, StoredKnowledge
from .pages import Drafts, rebuild_pages

T = TypeVar("T")
log = logging.getLogger(__name__)


async def redraft(
    run: Run, page_ids: Collection[UUID], drafts: Drafts, forgotten: Forgotten = NOTHING_FORGOTTEN
) -> None:
    """Add the texts and summaries that these pages need to the drafts. No connection is held while authors work."""
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
            summary = plan_summary(run, page, sources)
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


async def plan_summary(run: Run, page: Page, sources: Sequence[SourceText]) -> str | None:
    """Return the summary that the planner gives the page if it reads only these sources."""
    if not sources:
        return None
    knowledge = KnowledgeWithoutSummary(run.database, run.scope, page.id)
    plan = await make_plan(run.authors.planner, sources, knowledge)
    updates = (update.summary for update in plan.updates if update.page_id == page.id)
    name = page.type, normalise(page.title)
    new_pages = (new.summary for new in plan.new_pages if (new.type, normalise(new.title)) == name)
    return next((summary for summary in (*updates, *new_pages) if summary), None)


class KnowledgeWithoutSummary(StoredKnowledge):
    """The knowledge of one wiki without the summary of one page."""

    def __init__(self, database: Database, scope: Scope, page_id: UUID) -> None:
        super().__init__(database, scope)
        self.page_id = page_id

    async def pages(self, aliases: Collection[str]) -> Mapping[str, Sequence[PageCard]]:
        found = await super().pages(aliases)
        return {alias: [self.without_summary(card) for card in cards] for alias, cards in found.items()}

    def without_summary(self, card: PageCard) -> PageCard:
        return replace(card, summary=None) if card.id == self.page_id else card
