"""The sweep job: mentions that enough sources name become pages, made from those sources, without a new source."""

import time
from collections import defaultdict
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
from resolvers.proposals.gate import PROPOSALS, HeldForReview
from resolvers.transactions.transaction import read_connection, writing
from resolvers.transactions.writer import Writer

from .authors import Stop, section_text
from .compiler import Compiler
from .extraction.standing import has_earned
from .leaf_pass import BUSY, ROUNDS, Run, Stale, ToPropose
from .metrics import Metrics
from .planner import MentionCard, NewPage, PageCard, PageUpdate, Plan, SectionProposal, SectionTask, SectionWriter
from .quoting import bullet, mark
from .read.source_texts import find_facts
from .read.stored import CITED_MAX, NOTHING_NEW, find_cards, find_forgetting, find_mentions
from .write.page_changes import Composition
from .write.store import apply, propose_pages
from .write.tasks import TaskKey

HELD_NAMES = statements("links/held_names")
NAMES_PER_BATCH = 10  # names of one transaction
DEFAULT_TYPE = "entity"  # the type of a page whose mention has no suggested type
SECTIONS = {"entity": ("overview", "notes"), "topic": ("summary", "highlights"), "decision": ("context",)}
EDIT_SUMMARY = "Promoted: its sources named it often enough"


def sections_for(page_type: str) -> tuple[str, ...]:
    """Return the slugs of the sections that a promoted page begins with.

    The last of them falls back on the quotes that were stored with the mention, so a promoted page is never empty.
    """
    return SECTIONS.get(page_type) or (TEMPLATES[page_type][0][0],)


class Sweep(Run):
    """One attempt at a sweep job, which promotes mentions."""

    def __init__(self, database: Database, job: Job, compiler: Compiler) -> None:
        super().__init__(database, job, compiler)
        self.after = ""
        """The last normalised name of the batches that are done."""
        self.done: set[str] = set()
        """The normalised names of all batches that are done."""

    async def step(self) -> bool:
        """Promote a few mentions; return true when none are left, or when the job has reached a limit."""
        async with read_connection(self.database) as connection:
            reader = Writer(connection, self.scope)
            self.forgetting = await find_forgetting(reader)
            earned = await reader.all(HELD_NAMES["find_earned"], after=self.after, size=NAMES_PER_BATCH)
            rows = await without_forgotten(reader, [row for row in earned if row["alias"] not in self.done])
            aliases = [row["alias"] for row in rows]
            held, cards = await find_mentions(reader, aliases), await find_cards(reader, aliases=aliases)
            rows = await without_proposed(reader, rows, held, cards)
        if not earned:
            return await self.end_with(is_done=True)
        if rows:
            if (stop := await self.authors.stop()) or self.compiler.caps.are_reached(self.metrics):
                return await self.end_with(stop, is_done=False)
            if not await self.promote(rows, held, cards):
                return False
        self.done.update(aliases)
        self.after = earned[-1]["alias"]
        return False

    async def promote(self, rows: Sequence[Row], held: Mapping[str, MentionCard], cards: Sequence[PageCard]) -> bool:
        """Promote these mentions. Return false if a source was forgotten meanwhile, so that they must be read again.

        Raises Unavailable if the wiki keeps changing.
        """
        began, texts = time.monotonic(), dict[TaskKey, str]()
        plan = promotion_plan(rows, held, cards)
        writer = QuotingWriter(self.authors.writer, rows)
        for _ in range(ROUNDS):
            await self.write(plan, texts, writer=writer)
            try:
                return await self.store_or_propose(plan, texts, began)
            except Stale:
                continue
        raise Unavailable(BUSY)

    async def store_or_propose(self, plan: Plan, texts: Mapping[TaskKey, str], began: float) -> bool:
        """Store pages, citations and promoted mentions in one transaction, or propose the pages; return true.

        Return false if a source was forgotten meanwhile. Raises Stale and JobLost.
        """
        composition = Composition({})
        try:
            async with writing(self.database, self.scope) as writer:
                if not await find_forgetting(writer) <= self.forgetting:
                    return False
                composition = await self.compose(writer, plan, texts)
                if composition.missing:
                    raise Stale
                self.raise_if_proposed(composition)
                linked = self.compiler.links_by_evidence
                done = await apply(
                    writer, NOTHING_NEW, composition, links_by_evidence=linked, edit_summary=EDIT_SUMMARY
                )
                await self.aggregate(writer, composition, done)
                done.add("seconds", round(time.monotonic() - began, 3))
                total = self.metrics + done
                await advance(writer, self.job, total.stored)
        except (HeldForReview, ToPropose):
            total = self.metrics + Metrics()
            total.add("pages_proposed", await propose_pages(self.database, self.scope, composition))
            total.add("batches")
            async with writing(self.database, self.scope) as writer:
                await advance(writer, self.job, total.stored)
        self.metrics = total
        return True

    async def end_with(self, stop: Stop | None = None, *, is_done: bool) -> bool:
        """Finish the job, with a follow-up job unless `is_done`; return true.

        Return false if the job `is_done`, but a mention has earned a page behind its back. Then it begins anew.
        """
        async with writing(self.database, self.scope) as writer:
            if is_done and await self.has_more(writer):
                self.after = ""
                return False
            if not is_done:
                await follow_up(writer, self.job, after=self.record_stop(stop) if stop else None)
            await finish(writer, self.job, self.metrics.stored)
        return True

    async def has_more(self, writer: Writer) -> bool:
        """Return whether a mention that no batch had has earned a page."""
        earned = await writer.all(HELD_NAMES["find_earned"], after="", size=len(self.done) + 1)
        return any(row["alias"] not in self.done for row in earned)


async def without_forgotten(reader: Writer, rows: Sequence[Row]) -> list[Row]:
    """Return these mentions without the quotes of forgotten sources, which are removed by a job that waits."""
    known = await find_facts(reader, {UUID(context["sourceId"]) for row in rows for context in row["contexts"]})
    return [
        dict(row) | {"contexts": [context for context in row["contexts"] if UUID(context["sourceId"]) in known]}
        for row in rows
    ]


async def without_proposed(
    reader: Writer, rows: Sequence[Row], held: Mapping[str, MentionCard], cards: Sequence[PageCard]
) -> list[Row]:
    """Return these mentions without those whose pages are proposed, or were declined, with all of their sources."""
    titles = {row["alias"]: page.title if (page := page_of(row, cards)) else row["name"] for row in rows}
    proposed: dict[str, list[set[str]]] = defaultdict(list)
    for found in await reader.all(PROPOSALS["find_compiled"], titles=list(titles.values())) if titles else ():
        proposed[found["title"]].append({source_id for _, source_id in found["citations"]})
    return [
        row
        for row in rows
        if not any(
            cited.issuperset(map(str, held[row["alias"]].source_ids[-CITED_MAX:]))
            for cited in proposed[titles[row["alias"]]]
        )
    ]


def promotion_plan(rows: Sequence[Row], held: Mapping[str, MentionCard], cards: Sequence[PageCard]) -> Plan:
    """Plan a page for each mention. If an active page has this name already, plan an update of that page instead."""
    new, updates = [], []
    for row in rows:
        mention = held[row["alias"]]
        if mention.status != "open" or not has_earned(mention):
            continue
        wanted = row["suggested_type"] or DEFAULT_TYPE
        page = page_of(row, cards)
        cited = mention.source_ids[-CITED_MAX:]
        if page:
            last = SectionProposal(sections_for(page.type)[-1], cited)
            updates.append(PageUpdate(page.id, (last,), aliases=(row["name"],)))
            continue
        sections = tuple(SectionProposal(slug, cited) for slug in sections_for(wanted))
        new.append(NewPage(wanted, row["name"], sections, summary_of(row), promotes=(row["alias"],)))
    return Plan(tuple(new), tuple(updates))


def page_of(row: Row, cards: Sequence[PageCard]) -> PageCard | None:
    """Return the active page with the name of a mention, preferably of the type that is suggested for it."""
    wanted = row["suggested_type"] or DEFAULT_TYPE
    named = [card for card in cards if row["alias"] in card.aliases and not card.is_archived]
    return min(named, key=lambda card: card.type != wanted, default=None)


def summary_of(row: Row) -> str | None:
    """Return the first sentence that was quoted with the mention."""
    quotes = [context["quote"] for context in row["contexts"]]
    return first_sentence(quotes[0])[: SUMMARY.maximum] if quotes else None


@dataclass(frozen=True, slots=True)
class QuotingWriter:
    """A `SectionWriter` for promoted pages: if `writer` returns nothing for the last section, it writes the quotes that
    are stored with the mention."""

    writer: SectionWriter
    rows: Sequence[Row]
    """The mentions that are promoted."""

    async def write(self, task: SectionTask) -> str:
        text = await section_text(self.writer, task)
        if text.strip() or task.slug != sections_for(task.page_type)[-1]:
            return text
        return self.quoted(task)

    def quoted(self, task: SectionTask) -> str:
        """Return a line with the stored quotes of each source, newest first, or else a line that says only that the
        source names the page."""
        names = {normalise(task.page_title), *task.page_aliases}
        quotes: dict[UUID, dict[str, None]] = {}
        for row in self.rows:
            for context in row["contexts"] if row["alias"] in names else ():
                quotes.setdefault(UUID(context["sourceId"]), {})[context["quote"]] = None
        newest = task.sources[::-1]
        lines = [bullet(source, tuple(quotes[source.id])) for source in newest if source.id in quotes]
        return "\n".join(lines or [f"- {source.captured_at.date()}: named {mark(source)}" for source in newest])
