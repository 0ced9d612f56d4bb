"""A sweep's job: names that were seen often enough become pages made of their evidence, without a new source."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from content.limits import SUMMARY
from content.names import normalise
from content.sentences import first_sentence
from content.templates import TEMPLATES
from db.connection import Row
from db.database import Database
from db.sql import statements
from resolvers.errors import Unavailable
from resolvers.jobs.queue import Job, advance, finish, follow_up
from resolvers.proposals.gate import Held
from resolvers.transactions.transaction import read_connection, writing
from resolvers.transactions.writer import Writer

from .authors import Stop, section_text
from .compiler import Compiler
from .extraction.tallies import has_earned
from .leaf_pass import BUSY, ROUNDS, Run, Stale, ToPropose
from .metrics import Metrics
from .planner import MentionCard, NewPage, PageCard, PageUpdate, Plan, SectionProposal, SectionTask, SectionWriter
from .quoting import bullet, mark
from .read.stored import CITED_MAX, NOTHING_NEW, find_cards, find_mentions
from .write.page_changes import Composition
from .write.store import apply, propose_pages
from .write.tasks import TaskKey

HELD_NAMES = statements("links/held_names")
NAMES_PER_BATCH = 10  # names of one transaction
TYPE = "entity"  # of a name that nobody has a suggestion for
WRITTEN = {"entity": ("overview", "notes"), "topic": ("summary", "highlights"), "decision": ("context",)}
EDIT_SUMMARY = "Promoted: its sources named it often enough"


def sections_for(page_type: str) -> tuple[str, ...]:
    """Return the sections that a page of held evidence begins with.

    The last of them says at least what the sources were quoted with.
    """
    return WRITTEN.get(page_type) or (TEMPLATES[page_type][0][0],)


class Promotion(Run):
    """One attempt at a job that promotes names."""

    def __init__(self, database: Database, job: Job, compiler: Compiler) -> None:
        super().__init__(database, job, compiler)
        self.after = ""

    async def step(self) -> bool:
        """Promote a few names; return true when there are none left, or enough was done."""
        async with read_connection(self.database) as connection:
            reader = Writer(connection, self.scope)
            rows = await reader.all(HELD_NAMES["find_earned"], after=self.after, size=NAMES_PER_BATCH)
            aliases = [row["alias"] for row in rows]
            held, cards = await find_mentions(reader, aliases), await find_cards(reader, aliases=aliases)
        if not rows:
            return await self.end_with(is_done=True)
        if (stop := await self.authors.stop()) or self.compiler.caps.are_reached(self.metrics):
            return await self.end_with(stop, is_done=False)
        await self.promote(rows, held, cards)
        self.after = aliases[-1]
        return False

    async def promote(self, rows: Sequence[Row], held: Mapping[str, MentionCard], cards: Sequence[PageCard]) -> None:
        began, texts = time.monotonic(), dict[TaskKey, str]()
        plan = promotion_plan(rows, held, cards)
        writer = Quoting(self.authors.writer, rows)
        for _ in range(ROUNDS):
            await self.write(plan, texts, writer=writer)
            try:
                return await self.keep(plan, texts, began)
            except Stale:
                continue
        raise Unavailable(BUSY)

    async def keep(self, plan: Plan, texts: Mapping[TaskKey, str], began: float) -> None:
        """Store pages, evidence and promoted names, or propose the pages: all or nothing. Raises Stale and Lost."""
        composition = Composition({})
        try:
            async with writing(self.database, self.scope) as writer:
                composition = await self.compose(writer, plan, texts)
                if composition.missing:
                    raise Stale
                self.check_is_written(composition)
                linked = self.compiler.links_by_evidence
                done = await apply(
                    writer, NOTHING_NEW, composition, links_by_evidence=linked, edit_summary=EDIT_SUMMARY
                )
                await self.aggregate(writer, composition, done)
                done.add("seconds", round(time.monotonic() - began, 3))
                total = self.metrics + done
                await advance(writer, self.job, total.stored)
        except (Held, ToPropose):
            total = self.metrics + Metrics()
            total.add("pages_proposed", await propose_pages(self.database, self.scope, composition))
            async with writing(self.database, self.scope) as writer:
                await advance(writer, self.job, total.stored)
        self.metrics = total

    async def end_with(self, stop: Stop | None = None, *, is_done: bool) -> bool:
        async with writing(self.database, self.scope) as writer:
            if not is_done:
                await follow_up(writer, self.job, after=self.record_stop(stop) if stop else None)
            await finish(writer, self.job, self.metrics.stored)
        return True


def promotion_plan(rows: Sequence[Row], held: Mapping[str, MentionCard], cards: Sequence[PageCard]) -> Plan:
    """Plan a page for each name; where an active page answers to it already, that one gets what was held."""
    new, updates = [], []
    for row in rows:
        mention = held[row["alias"]]
        if mention.status != "open" or not has_earned(mention):
            continue
        wanted = row["suggested_type"] or TYPE
        page = page_of(row["alias"], wanted, cards)
        cited = mention.source_ids[-CITED_MAX:]
        if page:
            last = SectionProposal(sections_for(page.type)[-1], cited)
            updates.append(PageUpdate(page.id, (last,), aliases=(row["name"],)))
            continue
        sections = tuple(SectionProposal(slug, cited) for slug in sections_for(wanted))
        new.append(NewPage(wanted, row["name"], sections, summary_of(row), promotes=(row["alias"],)))
    return Plan(tuple(new), tuple(updates))


def page_of(alias: str, page_type: str, cards: Sequence[PageCard]) -> PageCard | None:
    """Return the active page of that name: of the type that is wanted, else of any."""
    named = [card for card in cards if alias in card.aliases and not card.is_archived]
    return min(named, key=lambda card: card.type != page_type, default=None)


def summary_of(row: Row) -> str | None:
    quotes = [context["quote"] for context in row["contexts"]]
    return first_sentence(quotes[0])[: SUMMARY.most] if quotes else None


@dataclass(frozen=True, slots=True)
class Quoting:
    """A section writer that falls back on the quotes: a name that earned a page gets one, whatever the other finds."""

    writer: SectionWriter
    rows: Sequence[Row]

    async def write(self, task: SectionTask) -> str:
        text = await section_text(self.writer, task)
        if text.strip() or task.slug != sections_for(task.page_type)[-1]:
            return text
        return self.quoted(task)

    def quoted(self, task: SectionTask) -> str:
        """Return a line for each source that was quoted, newest first; which sources name it, where none was."""
        names = {normalise(task.page_title), *task.page_aliases}
        quotes: dict[UUID, dict[str, None]] = {}
        for row in self.rows:
            for context in row["contexts"] if row["alias"] in names else ():
                quotes.setdefault(UUID(context["sourceId"]), {})[context["quote"]] = None
        newest = task.sources[::-1]
        lines = [bullet(source, tuple(quotes[source.id])) for source in newest if source.id in quotes]
        return "\n".join(lines or [f"- {source.captured_at.date()}: named {mark(source)}" for source in newest])
