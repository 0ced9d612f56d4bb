"""The leaf pass: a compile job reads new sources batch by batch, until it has read all of them or reached a limit.

Each batch is one transaction, which also moves the cursor behind the batch and stores the job's metrics. If a worker
dies, no batch is half stored, and the worker that takes over the job continues after the last stored batch.
"""

import asyncio
import time
from collections.abc import Coroutine, Iterable, Mapping
from contextlib import nullcontext, suppress
from datetime import datetime
from enum import Enum, auto
from functools import cached_property
from typing import Any
from uuid import UUID

from content.claims.corrections import Verdict
from db.database import Database
from db.scope import Actor, ActorKind, Role, Scope
from db.table_statistics import analyze_tables
from resolvers.errors import CairnError, Forbidden, Unavailable
from resolvers.jobs.queue import Job, advance, finish, follow_up
from resolvers.knowledge.lint_reports import request_lint_if_due
from resolvers.proposals.gate import HeldForReview
from resolvers.search.index import index_together
from resolvers.sources.compile_requests import request_sweep
from resolvers.transactions.db_errors import translated_db_errors
from resolvers.transactions.transaction import read_connection, writing
from resolvers.transactions.writer import Writer

from .aggregate.aggregation_pass import aggregate
from .authors import Authors, ModelRefused, Stop, make_plan, write_text
from .compiler import Compiler
from .metrics import Metrics
from .plan.validation import sources_that_fit
from .planner import Plan, SectionWriter
from .read.evidence import StoredKnowledge
from .read.source_texts import pause_collection, reading_ahead
from .read.stored import (
    CITED_MAX,
    COMPILING,
    END,
    RUN,
    Batch,
    Cursor,
    find_batch,
    find_cursor,
    find_forgetting,
    is_behind,
)
from .write.merging import merge_compiled, propose_merges
from .write.page_changes import Composition, compose
from .write.store import apply, propose_pages, store_held_names
from .write.tasks import TaskKey

ACTOR = Actor(ActorKind.COMPILER, "cairn")
ROUNDS = 5  # attempts to store a batch while the wiki changes
CONCURRENCY = 8  # sections that are written at the same time
MEASURED_MIN = 50  # new pages of one batch, from which on Postgres analyzes the tables in GROWN
GROWN = (
    "aliases", "link_targets", "links", "mentions", "pages", "placements", "section_sources", "sections", "sightings",
)  # fmt: skip
"""The tables to which a batch adds rows."""
BUSY = "The wiki changed again and again while it was compiled."


class Stale(Exception):
    """Raised if the wiki changed after the sections of the batch were written. Nothing was stored."""


class ToPropose(Exception):
    """Raised if the pages of a batch must be proposed instead of stored. Nothing was stored."""


class Outcome(Enum):
    """The outcome of a batch."""

    STORED = auto()
    TOO_MUCH = auto()
    """The batch would exceed the limits of the job, so nothing was stored."""
    MOVED = auto()
    """Another transaction moved the cursor or forgot a source, so nothing was stored."""


class Run:
    """One attempt at a compile job. The attempts at other kinds of jobs are subclasses."""

    def __init__(self, database: Database, job: Job, compiler: Compiler) -> None:
        self.database, self.job, self.compiler = database, job, compiler
        self.scope = Scope(job.tenant_id, job.owner_id, Role.SERVICE, ACTOR, (job.owner_id,))
        self.metrics = Metrics(job.metrics)
        self.judged: dict[tuple[str, str], Verdict] = {}
        """The judge's verdicts in this batch, by older and newer sentence."""
        self.forgetting: frozenset[UUID] = frozenset()
        """The sources that were to be forgotten when the batch was read. Its plan may quote sources forgotten since."""
        self.next_size = compiler.caps.batch
        """The size of the next batch."""
        self.is_shortened = False
        """Whether the next batch was shortened because a larger one exceeded the limits of the job."""

    @cached_property
    def until(self) -> Cursor:
        """Return the last source that this job reads. Later sources are left to other jobs."""
        if until := self.job.options.get("until"):
            at, id = until
            return Cursor(datetime.fromisoformat(at), UUID(id))
        return END

    @cached_property
    def authors(self) -> Authors:
        """Return the planner and writer of this job. Raises ModelRefused for a model that is not offered here."""
        if self.compiler.author_factory is None:
            return Authors(self.compiler.planner, self.compiler.writer)
        return self.compiler.author_factory.authors(self.database, self.scope, self.job, lambda: self.metrics)

    @property
    def is_writer_free(self) -> bool:
        """Return whether writing a section costs nothing, so that the job need not limit the number of sections."""
        return getattr(self.authors.writer, "is_free", False)

    @property
    def are_authors_free(self) -> bool:
        """Return whether writer and planner both cost nothing. They then call no service and wait only for Postgres."""
        return self.is_writer_free and getattr(self.authors.planner, "is_free", False)

    @property
    def batch_max(self) -> int:
        """Return how many sources are planned in one batch at most."""
        caps = self.compiler.caps
        usual = caps.batch if self.are_authors_free else min(caps.batch, caps.paid_batch)
        return min(self.authors.batch or usual, usual)

    @property
    def sources_max(self) -> int:
        """Return how many of the sources that a section cited before its writer reads, besides the new ones."""
        return getattr(self.authors.writer, "sources_max", CITED_MAX)

    def is_hopeless(self, error: BaseException) -> bool:
        """Return whether another attempt would fail with the same error."""
        return isinstance(error, ModelRefused | Forbidden)

    async def compose(self, reader: Writer, plan: Plan, texts: Mapping[TaskKey, str]) -> Composition:
        """Combine the plan and the written texts with the current state of the wiki."""
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
            self.forgetting = await find_forgetting(reader)
            size = min(self.next_size, self.batch_max, room)
            batch = await find_batch(reader, await find_cursor(reader), size, self.until)
        if not batch.sources:
            return await self.end(unless_behind=True)
        batch = batch.of_same_kind()
        with pause_collection() if self.are_authors_free else nullcontext():
            outcome = await self.compile(batch)
        if outcome is Outcome.STORED:
            self.compiler.report_progress(self.metrics)
        if not self.is_fresh and (outcome is Outcome.TOO_MUCH or self.is_shortened):
            return await self.end()
        self.is_shortened = outcome is Outcome.TOO_MUCH
        if not self.is_shortened:
            self.next_size = self.compiler.caps.batch
        return False

    @property
    def is_fresh(self) -> bool:
        """Return whether the job has neither created a page nor written a section yet.

        A batch that exceeds the limits of a fresh job would exceed those of any job, so it is shortened.
        """
        return not (self.metrics.counts["pages_created"] or self.metrics.counts["sections_written"])

    async def compile(self, batch: Batch) -> Outcome:
        """Plan, write and store a batch. A batch that exceeds the limits of the job is not stored; a single source in a
        fresh job always is."""
        began = time.monotonic()
        plan = await make_plan(self.authors.planner, batch.sources, StoredKnowledge(self.database, self.scope))
        if plan.read is not None:
            batch = batch.first(plan.read)
        if (fits := self.count_fitting(plan, batch)) < len(batch.sources):
            self.next_size = fits
            return Outcome.TOO_MUCH
        await propose_merges(self.database, self.scope, plan.merges, all_of_them=False)
        texts: dict[TaskKey, str] = {}
        self.judged.clear()
        for _ in range(ROUNDS):
            await self.write(plan, texts)
            await self.judge(plan, texts)
            try:
                async with reading_ahead(self.database, self.scope, self.authors.planner, batch.end, self.batch_max):
                    return await self.store(batch, plan, texts, began)
            except Stale:
                continue
        raise Unavailable(BUSY)

    def count_fitting(self, plan: Plan, batch: Batch) -> int:
        """Return how many sources of the batch fit into the limits of the job.

        All fit if the writer is free. A fresh job has room for one source at least, so that every job makes progress.
        """
        if self.is_writer_free or (self.is_fresh and len(batch.sources) == 1):
            return len(batch.sources)
        fits = sources_that_fit(plan, batch.sources, self.compiler.caps.room(self.metrics))
        return max(1, fits) if self.is_fresh else fits

    async def write(self, plan: Plan, texts: dict[TaskKey, str], *, writer: SectionWriter | None = None) -> None:
        """Write every section that the plan needs and that `texts` lacks. No connection is held while writers work."""
        writer = writer or self.authors.writer
        async with read_connection(self.database) as connection:
            composition = await self.compose(Writer(connection, self.scope), plan, texts)
        writing_now = (write_text(writer, task) for task in composition.missing.values())
        texts.update(zip(composition.missing, await gather_texts(writing_now), strict=True))

    async def judge(self, plan: Plan, texts: Mapping[TaskKey, str]) -> None:
        """Ask the judge, if there is one, about each pair of sentences of which the newer may override the older.

        No connection is held while it answers. A verdict can lead to further pairs, so this repeats until none is left.
        """
        judge = self.authors.judge
        while judge is not None:
            async with read_connection(self.database) as connection:
                composition = await self.compose(Writer(connection, self.scope), plan, texts)
            if composition.missing or not composition.unjudged:
                break
            for disputed in composition.unjudged:
                self.judged[disputed.older, disputed.newer] = await judge.judge(disputed)

    async def store(self, batch: Batch, plan: Plan, texts: dict[TaskKey, str], began: float) -> Outcome:
        """Store pages, citations, cursor and metrics of the batch in one transaction.

        If the write policy of the wiki demands a review of a page, if a page cites notes of an agent's run, or if the
        job only proposes changes, all pages of the batch are proposed instead. Raises Stale and JobLost.
        """
        composition = Composition({})
        try:
            async with writing(self.database, self.scope) as writer:
                if await find_cursor(writer) != batch.start:
                    return Outcome.MOVED
                if not await find_forgetting(writer) <= self.forgetting:
                    return Outcome.MOVED
                composition = await self.compose(writer, plan, texts)
                if composition.missing or composition.unjudged:
                    raise Stale
                self.raise_if_proposed(composition)
                async with index_together(writer):
                    done = await apply(writer, batch, composition, links_by_evidence=self.compiler.links_by_evidence)
                    await self.aggregate(writer, composition, done)
                await self.merge(writer, plan, composition, done)
                if not self.compiler.links_by_evidence:
                    done.add("deterministic_linking_flag_suppressed")
                total = await self.finish_batch(writer, batch, done, began)
        except (HeldForReview, ToPropose):
            return await self.propose(batch, plan, composition, began)
        self.metrics = total
        if (new := int(done.counts["pages_created"])) >= MEASURED_MIN:
            with suppress(CairnError), translated_db_errors():
                await analyze_tables(self.database, GROWN, self.scope.owner_id, new)
        return Outcome.STORED

    @property
    def is_proposing(self) -> bool:
        """Return whether the job proposes all pages instead of storing them."""
        return bool(self.job.options.get("propose"))

    def raise_if_proposed(self, composition: Composition) -> None:
        """Raise ToPropose if the job only proposes changes, or if a page cites notes of an agent's run."""
        cited = {id for change in composition.changes for ids in change.cited.values() for id in ids}
        if composition.changes and (self.is_proposing or any(composition.sources[id]["kind"] == RUN for id in cited)):
            raise ToPropose

    async def finish_batch(self, writer: Writer, batch: Batch, done: Metrics, began: float) -> Metrics:
        """Move the cursor behind the batch, and store and return the metrics of the job with those of the batch."""
        await move_cursor(writer, batch.end)
        done.add("seconds", round(time.monotonic() - began, 3))
        total = self.metrics + done
        await advance(writer, self.job, total.stored)
        return total

    async def merge(self, writer: Writer, plan: Plan, composition: Composition, done: Metrics) -> None:
        """Merge the pages that the plan says are about the same thing, after the batch has written its sections."""
        written = {(change.after.id, slug) for change in composition.changes for slug in change.cited}
        await merge_compiled(writer, plan.merges, written, done)

    async def propose(self, batch: Batch, plan: Plan, composition: Composition, began: float) -> Outcome:
        """Propose the pages of the batch, and store its mentions. A proposal that waits already is not repeated."""
        done = Metrics()
        done.add("pages_proposed", await propose_pages(self.database, self.scope, composition))
        done.add("pages_proposed", await propose_merges(self.database, self.scope, plan.merges, all_of_them=True))
        async with writing(self.database, self.scope) as writer:
            if await find_cursor(writer) != batch.start:
                return Outcome.MOVED
            await store_held_names(writer, composition, done)
            done.add("batches")
            done.add("sources_read", len(batch.sources))
            total = await self.finish_batch(writer, batch, done, began)
        self.metrics = total
        return Outcome.STORED

    async def aggregate(self, writer: Writer, composition: Composition, done: Metrics) -> None:
        """Run the aggregation pass in the transaction of the batch. An error fails the attempt and is recorded in the
        metrics of the job."""
        try:
            await aggregate(writer, composition.changes, done)
        except Exception as error:
            self.metrics.aggregation_error = error.message if isinstance(error, CairnError) else type(error).__name__
            raise
        self.metrics.aggregation_error = None

    async def end(self, *, unless_behind: bool = False, stop: Stop | None = None) -> bool:
        """Finish the job and return true. With `unless_behind`, return false instead if there are unread sources.

        The job is finished while holding the wiki's write lock, so that no source is added unnoticed after the last
        look at the cursor. If sources are left, a follow-up job is queued; after a `stop` it starts at the time that
        the stop names, or else at the wiki's next compile interval. If all are read, a sweep job is queued at once for
        the names that have earned a page by now.
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
                    await request_lint_if_due(writer)
            await finish(writer, self.job, self.metrics.stored)
        return True

    def record_stop(self, stop: Stop) -> datetime:
        """Record the reason in the metrics, and return when the follow-up job may start."""
        self.metrics.stopped = stop.reason
        return stop.until or self.job.next_bucket_begins


async def gather_texts(writing_now: Iterable[Coroutine[Any, Any, str]]) -> list[str]:
    """Return the texts in order, at most CONCURRENCY of them written at the same time.

    If one fails, the others are cancelled, because their texts would be written again by the next attempt.
    """
    semaphore = asyncio.Semaphore(CONCURRENCY)
    sections = list(writing_now)

    async def write_one(section: Coroutine[Any, Any, str]) -> str:
        async with semaphore:
            text = await section
            await asyncio.sleep(0)  # a rule-based writer never awaits, so other tasks get their turn here
            return text

    tasks = [asyncio.create_task(write_one(section)) for section in sections]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for section in sections:
            section.close()


async def move_cursor(writer: Writer, cursor: Cursor) -> None:
    await writer.run(COMPILING["move_cursor"], source_at=cursor.at, source_id=cursor.id)
