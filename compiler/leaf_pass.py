"""The leaf pass: a job reads what is new, batch by batch, until it has read all or has done enough.

Each batch is one transaction with the cursor behind it and what the job has done so far: a worker that dies at any
moment leaves whole batches, and who takes over goes on after the last of them.
"""

import asyncio
import time
from collections.abc import Awaitable, Iterable, Mapping
from contextlib import nullcontext, suppress
from datetime import datetime
from enum import Enum, auto
from functools import cached_property
from uuid import UUID

from content.claims.corrections import Verdict
from db.database import Database
from db.measuring import measure
from db.scope import Actor, ActorKind, Role, Scope
from db.sql import statements
from resolvers.errors import CairnError, Unavailable
from resolvers.jobs.queue import Job, advance, finish, follow_up
from resolvers.knowledge.lint_reports import ask_after_sources
from resolvers.proposals.gate import Held
from resolvers.search.index import index_together
from resolvers.sources.compile_requests import request_sweep
from resolvers.transactions.db_errors import translated_db_errors
from resolvers.transactions.transaction import read_connection, writing
from resolvers.transactions.writer import Writer

from .aggregate.aggregation_pass import aggregate
from .authors import Authors, Stop, make_plan, write_text
from .compiler import Compiler
from .metrics import Metrics
from .plan.validation import sources_that_fit
from .planner import Plan, SectionWriter
from .read.evidence import StoredKnowledge
from .read.source_texts import pause_collection, reading_ahead
from .read.stored import CITED_MAX, COMPILING, END, RUN, Batch, Cursor, find_batch, find_cursor, is_behind
from .write.merging import merge_compiled, propose_merges
from .write.page_changes import Composition, compose
from .write.store import apply, propose_pages, store_held_names
from .write.tasks import TaskKey

FORGETTING = statements("sources/forgetting")
ACTOR = Actor(ActorKind.COMPILER, "cairn")
ROUNDS = 5
CONCURRENCY = 8  # sections that are written at the same time
MEASURED_LEAST = 50  # pages of one batch: Postgres is told of so many
GROWN = (
    "aliases", "link_targets", "links", "mentions", "pages", "placements", "section_sources", "sections", "sightings",
)  # fmt: skip
BUSY = "The wiki changed again and again while it was compiled."


class Stale(Exception):
    """The wiki changed since its sections were written, so nothing was stored."""


async def run_leaf_pass(database: Database, job: Job, compiler: Compiler) -> Metrics:
    """Compile what is new. The job is over afterwards, with a follow-up where something is left. Raises Lost."""
    run = Run(database, job, compiler)
    while not await run.step():
        pass
    return run.metrics


class ToPropose(Exception):
    """The pages are to be proposed, so nothing was stored."""


class Outcome(Enum):
    """The outcome of a batch."""

    STORED = auto()
    TOO_MUCH = auto()
    MOVED = auto()
    """The cursor is elsewhere, or a source is forgotten: somebody was there meanwhile."""


class Run:
    """One attempt at a job that compiles."""

    def __init__(self, database: Database, job: Job, compiler: Compiler) -> None:
        self.database, self.job, self.compiler = database, job, compiler
        self.scope = Scope(job.tenant_id, job.owner_id, Role.SERVICE, ACTOR, (job.owner_id,))
        self.metrics = Metrics(job.metrics)
        self.judged: dict[tuple[str, str], Verdict] = {}
        self.size, self.is_cut = compiler.caps.batch, False
        """Of the next batch; and whether what comes behind it is known to be too much."""

    @cached_property
    def until(self) -> Cursor:
        """Return the last source that the job is to read: what lies behind it is left to others."""
        if until := self.job.options.get("until"):
            at, id = until
            return Cursor(datetime.fromisoformat(at), UUID(id))
        return END

    @cached_property
    def authors(self) -> Authors:
        """Return the authors. Raises Refused for some that nobody may ask for."""
        if self.compiler.hiring is None:
            return Authors(self.compiler.planner, self.compiler.writer)
        return self.compiler.hiring.authors(self.database, self.scope, self.job, lambda: self.metrics)

    @property
    def is_free(self) -> bool:
        """Return whether text costs nothing: then there is no reason to save any."""
        return getattr(self.authors.writer, "is_free", False)

    @property
    def are_free(self) -> bool:
        """Return whether a plan costs nothing, either: nobody is asked, and nothing is waited for but Postgres."""
        return self.is_free and getattr(self.authors.planner, "is_free", False)

    @property
    def batch(self) -> int:
        """Return how many sources are planned in one batch."""
        caps = self.compiler.caps
        usual = caps.batch if self.are_free else min(caps.batch, caps.paid_batch)
        return min(self.authors.batch or usual, usual)

    @property
    def sources_max(self) -> int:
        """Return how many sources of a section its writer reads, besides new ones."""
        return getattr(self.authors.writer, "sources_max", CITED_MAX)

    async def compose(self, reader: Writer, plan: Plan, texts: Mapping[TaskKey, str]) -> Composition:
        """Compose the plan with the wiki as it is now, for this writer."""
        reads_again = getattr(self.authors.writer, "reads_again", False)
        judged = None if self.authors.judge is None else self.judged
        return await compose(reader, plan, texts, self.sources_max, reads_again=reads_again, judged=judged)

    async def step(self) -> bool:
        """Compile one batch; return true when the job is over."""
        if stop := await self.authors.stop():
            return await self.end(stop=stop)
        room = self.compiler.caps.sources_for(self.job.trigger) - int(self.metrics.counts["sources_read"])
        if room <= 0 or self.compiler.caps.are_reached(self.metrics):
            return await self.end()
        async with read_connection(self.database) as connection:
            reader = Writer(connection, self.scope)
            batch = await find_batch(reader, await find_cursor(reader), min(self.size, self.batch, room), self.until)
        if not batch.sources:
            return await self.end(unless_behind=True)
        batch = batch.alike()
        with pause_collection() if self.are_free else nullcontext():
            outcome = await self.compile(batch)
        if outcome is Outcome.STORED:
            self.compiler.told(self.metrics)
        if not self.is_fresh and (outcome is Outcome.TOO_MUCH or self.is_cut):
            return await self.end()
        self.is_cut = outcome is Outcome.TOO_MUCH
        if not self.is_cut:
            self.size = self.compiler.caps.batch
        return False

    @property
    def is_fresh(self) -> bool:
        """Return whether nothing that is capped was done yet: a batch that is too much is so by itself."""
        return not (self.metrics.counts["pages_created"] or self.metrics.counts["sections_written"])

    async def compile(self, batch: Batch) -> Outcome:
        """Plan, write and store. What does not fit into the job is not stored; a single source always is."""
        began = time.monotonic()
        plan = await make_plan(self.authors.planner, batch.sources, StoredKnowledge(self.database, self.scope))
        if plan.read is not None:
            batch = batch.first(plan.read)
        if (fits := self.fitting(plan, batch)) < len(batch.sources):
            self.size = fits
            return Outcome.TOO_MUCH
        await propose_merges(self.database, self.scope, plan.merges, all_of_them=False)
        texts: dict[TaskKey, str] = {}
        self.judged.clear()
        for _ in range(ROUNDS):
            await self.write(plan, texts)
            await self.judge(plan, texts)
            try:
                async with reading_ahead(self.database, self.scope, self.authors.planner, batch.end, self.batch):
                    return await self.store(batch, plan, texts, began)
            except Stale:
                continue
        raise Unavailable(BUSY)

    def fitting(self, plan: Plan, batch: Batch) -> int:
        """Return how many of its sources the job may do: always one by itself, and all that are written for nothing."""
        if self.is_free or (self.is_fresh and len(batch.sources) == 1):
            return len(batch.sources)
        fits = sources_that_fit(plan, batch.sources, self.compiler.caps.room(self.metrics))
        return max(1, fits) if self.is_fresh else fits

    async def write(self, plan: Plan, texts: dict[TaskKey, str], *, writer: SectionWriter | None = None) -> None:
        """Write every section that the plan needs, as the wiki is now: no connection is held meanwhile."""
        writer = writer or self.authors.writer
        async with read_connection(self.database) as connection:
            composition = await self.compose(Writer(connection, self.scope), plan, texts)
        writing_now = (write_text(writer, task) for task in composition.missing.values())
        texts.update(zip(composition.missing, await gather_texts(writing_now), strict=True))

    async def judge(self, plan: Plan, texts: Mapping[TaskKey, str]) -> None:
        """Have a judge beside the rules judge what new sources may override: no connection is held meanwhile."""
        judge = self.authors.judge
        while judge is not None:
            async with read_connection(self.database) as connection:
                composition = await self.compose(Writer(connection, self.scope), plan, texts)
            if composition.missing or not composition.unjudged:
                break
            for one in composition.unjudged:
                self.judged[one.older, one.newer] = await judge.judge(one)

    async def store(self, batch: Batch, plan: Plan, texts: dict[TaskKey, str], began: float) -> Outcome:
        """Store pages, evidence, cursor and what was done, all of it or nothing. Raises Stale and Lost.

        Where the write policy of the wiki wants a page reviewed, or a page comes from a run, all pages of the batch are
        proposed instead.
        """
        composition = Composition({})
        try:
            async with writing(self.database, self.scope) as writer:
                if await find_cursor(writer) != batch.start:
                    return Outcome.MOVED
                if await writer.value(FORGETTING["count_forgotten"], ids=[source.id for source in batch.sources]):
                    return Outcome.MOVED
                composition = await self.compose(writer, plan, texts)
                if composition.missing or composition.unjudged:
                    raise Stale
                self.check_is_written(composition)
                async with index_together(writer):
                    done = await apply(writer, batch, composition, links_by_evidence=self.compiler.links_by_evidence)
                    await self.aggregate(writer, composition, done)
                await self.merge(writer, plan, composition, done)
                if not self.compiler.links_by_evidence:
                    done.add("deterministic_linking_flag_suppressed")
                total = await self.keep_batch(writer, batch, done, began)
        except (Held, ToPropose):
            return await self.propose(batch, plan, composition, began)
        self.metrics = total
        if (new := int(done.counts["pages_created"])) >= MEASURED_LEAST:
            with suppress(CairnError), translated_db_errors():
                await measure(self.database, GROWN, self.scope.owner_id, new)
        return Outcome.STORED

    @property
    def is_proposing(self) -> bool:
        """Return whether the job was asked to propose all that it compiles."""
        return bool(self.job.options.get("propose"))

    def check_is_written(self, composition: Composition) -> None:
        """Let pages be stored, unless they rest on notes of runs, or the job proposes all. Raises ToPropose."""
        cited = {id for change in composition.changes for ids in change.cited.values() for id in ids}
        if composition.changes and (self.is_proposing or any(composition.sources[id]["kind"] == RUN for id in cited)):
            raise ToPropose

    async def keep_batch(self, writer: Writer, batch: Batch, done: Metrics, began: float) -> Metrics:
        """Move the cursor behind a batch, and store what was done so far."""
        await move_cursor(writer, batch.end)
        done.add("seconds", round(time.monotonic() - began, 3))
        total = self.metrics + done
        await advance(writer, self.job, total.stored)
        return total

    async def merge(self, writer: Writer, plan: Plan, composition: Composition, done: Metrics) -> None:
        """Merge the pages that the plan says are one, with what was just written of both."""
        written = {(change.after.id, slug) for change in composition.changes for slug in change.cited}
        await merge_compiled(writer, plan.merges, written, done)

    async def propose(self, batch: Batch, plan: Plan, composition: Composition, began: float) -> Outcome:
        """Propose the pages of a batch, and keep the names that it holds. What is proposed twice waits once."""
        done = Metrics()
        done.add("pages_proposed", await propose_pages(self.database, self.scope, composition))
        done.add("pages_proposed", await propose_merges(self.database, self.scope, plan.merges, all_of_them=True))
        async with writing(self.database, self.scope) as writer:
            if await find_cursor(writer) != batch.start:
                return Outcome.MOVED
            await store_held_names(writer, composition, done)
            done.add("batches")
            done.add("sources_read", len(batch.sources))
            total = await self.keep_batch(writer, batch, done, began)
        self.metrics = total
        return Outcome.STORED

    async def aggregate(self, writer: Writer, composition: Composition, done: Metrics) -> None:
        """Run the aggregation pass, in the transaction of the batch. Its error fails the attempt, and is a metric."""
        try:
            await aggregate(writer, composition.changes, done)
        except Exception as error:
            self.metrics.aggregation_error = error.message if isinstance(error, CairnError) else type(error).__name__
            raise
        self.metrics.aggregation_error = None

    async def end(self, *, unless_behind: bool = False, stop: Stop | None = None) -> bool:
        """Close the job alone in the wiki, so that no source slips in between the last look and the end.

        After a `stop` the next one waits for its own five minutes, or until then. Once everything is read, names that
        have earned a page and got none are a sweep's: nobody has to wait for the night.
        """
        async with writing(self.database, self.scope) as writer:
            behind = await is_behind(writer, await find_cursor(writer), self.until)
            if behind and unless_behind:
                return False
            if behind:
                await follow_up(writer, self.job, after=self.record_stop(stop) if stop else None)
            else:
                await request_sweep(writer, {"propose": True} if self.is_proposing else None)
                if self.metrics.counts["sources_read"]:
                    await ask_after_sources(writer)
            await finish(writer, self.job, self.metrics.stored)
        return True

    def record_stop(self, stop: Stop) -> datetime:
        """Note the reason, and return from when on the rest may be done."""
        self.metrics.stopped = stop.reason
        return stop.until or self.job.next_bucket_begins


async def gather_texts(writing_now: Iterable[Awaitable[str]]) -> list[str]:
    """Return the texts in order, a few written at a time."""
    semaphore = asyncio.Semaphore(CONCURRENCY)

    async def one(work: Awaitable[str]) -> str:
        async with semaphore:
            text = await work
            await asyncio.sleep(0)  # a writer of rules waits for nothing, and others want the loop, too
            return text

    return await asyncio.gather(*map(one, writing_now))


async def move_cursor(writer: Writer, cursor: Cursor) -> None:
    await writer.run(COMPILING["move_cursor"], source_at=cursor.at, source_id=cursor.id)
