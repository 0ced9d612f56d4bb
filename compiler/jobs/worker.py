"""A worker: takes jobs as long as there are any, keeps them alive, and says how they ended. Any number may run."""

import asyncio
import logging
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import UTC, date, datetime
from datetime import time as clock
from uuid import UUID

from db.database import Database
from observability.trace import record_error
from resolvers.archives import retention
from resolvers.embeddings import vectors
from resolvers.embeddings.embedder import Embedder
from resolvers.errors import CairnError, Forbidden, Unavailable
from resolvers.jobs import queue
from resolvers.jobs.queue import ATTEMPTS_MAX, Job, Lost, beat, claim, fail, release
from resolvers.knowledge.lint import lint
from resolvers.knowledge.lint_reports import SCHEDULE, lint_all, write_report
from resolvers.pages.link_places import place_links
from resolvers.proposals.decisions import expire_proposals
from resolvers.search.passages import finish_passages, read_sources
from resolvers.search.reindexing import FIRST, begin, finish, read_batch
from resolvers.sources.blob_files import sweep_files
from resolvers.sources.compile_requests import sweep_all
from resolvers.tenants.tenants import list_tenants
from resolvers.transactions.audit import OPERATORS_LOG
from resolvers.transactions.db_errors import REFUSED, refusal
from resolvers.transactions.transaction import read_connection, writing
from resolvers.transactions.writer import Writer
from resolvers.webhooks.webhooks import prune_deliveries

from ..authors import ModelRefused
from ..compiler import Compiler
from ..forget.job import Forgetting
from ..leaf_pass import Run
from ..promote import Promotion
from ..rebuild.job import Rebuilding


class Reindexing(Run):
    """One attempt at a job that reindexes.

    The wiki itself stores how far it was read, so that any reindexing goes on from there.
    """

    page: UUID | None = FIRST
    source = FIRST
    is_begun = False

    async def step(self) -> bool:
        """Reindex a batch of pages, or after the last one of sources; return true when search has read them all."""
        if not self.is_begun:
            await begin(self.database, self.scope)
            self.is_begun = True
        if self.page is not None:
            page_ids = await read_batch(self.database, self.scope, self.page)
            self.page = page_ids[-1] if page_ids else None
            self.metrics.add("pages_reindexed", len(page_ids))
            if not page_ids:
                await finish(self.database, self.scope)
        else:
            source_ids = await read_sources(self.database, self.scope, self.source)
            if not source_ids:
                await finish_passages(self.database, self.scope)
                return await self.close()
            self.source = source_ids[-1]
            self.metrics.add("sources_reindexed", len(source_ids))
        self.metrics.add("batches")
        async with writing(self.database, self.scope) as writer:
            await queue.advance(writer, self.job, self.metrics.stored)
        return False

    async def close(self) -> bool:
        async with writing(self.database, self.scope) as writer:
            await queue.finish(writer, self.job, self.metrics.stored)
        return True


class Embedding(Run):
    """One attempt at a job that embeds what has no vector: pages, then passages, a batch at a time.

    It ends after so many, so that a compile of the wiki need not wait for all: the next look asks for the rest.
    """

    progress: vectors.Progress | None = None

    async def step(self) -> bool:
        embedder = self.compiler.embedder
        if embedder is None:
            raise ModelRefused("This worker has no embedding server. Set CAIRN_EMBEDDING_URL for every worker.")
        size = embedder.batch
        async with read_connection(self.database) as connection:
            reader = Writer(connection, self.scope)
            if self.progress is None:
                self.progress = await vectors.begin(reader)
            at = self.progress
            pages = [] if at.page is None else await vectors.find_pages(reader, embedder, at.page, size)
            at.page = pages[-1]["id"] if pages else None
            passages = [] if pages else await vectors.find_passages(reader, embedder, at, size)
        texts = [*map(vectors.page_text, pages), *map(vectors.passage_text, passages)]
        found = await embedder.embed(texts)
        is_done = not texts
        async with writing(self.database, self.scope) as writer:
            await vectors.write_pages(writer, embedder, pages, found[: len(pages)])
            await vectors.write_passages(writer, embedder, passages, found[len(pages) :])
            if passages:
                at.source, at.position = passages[-1]["source_id"], passages[-1]["position"]
            self.metrics.add("texts_embedded", len(texts))
            self.metrics.add("batches")
            if is_done:
                await vectors.finish(writer, embedder, at)
            if is_done or self.metrics.counts["texts_embedded"] >= EMBEDDED_MOST:
                await queue.finish(writer, self.job, self.metrics.stored)
                return True
            await queue.advance(writer, self.job, self.metrics.stored)
        return False


class Linting(Run):
    """One attempt at a job that lints a wiki: it keeps a report, and changes no page."""

    async def step(self) -> bool:
        """Run every check, and store the report with the end of the job."""
        reports = await lint(self.database, self.scope, most=1)
        self.metrics.add("findings", sum(one.total for one in reports))
        async with writing(self.database, self.scope) as writer:
            await write_report(writer, reports, str(self.job.options.get("trigger", SCHEDULE)))
            await queue.finish(writer, self.job, self.metrics.stored)
        return True


RUNNERS: Mapping[str, type[Run]] = {
    "embed": Embedding, "forget": Forgetting, "lint": Linting, "rebuild": Rebuilding, "reindex": Reindexing,
    "sweep": Promotion,
}  # fmt: skip


def runner_for(database: Database, job: Job, compiler: Compiler) -> Run:
    """Return one attempt at the job."""
    return RUNNERS.get(job.trigger, Run)(database, job, compiler)


def now() -> datetime:
    return datetime.now(UTC)


class DailySweep:
    """A record of the last day that this process has looked at: others may have been first."""

    def __init__(self, at: clock | None, now: Callable[[], datetime] = now) -> None:
        self.at, self.now = at, now
        self.last: date | None = None

    async def look(self, database: Database) -> None:
        """Sweep, and lint what is due, if the hour has come and nobody of this process has on this day."""
        moment = self.now()
        if self.at is None or self.last == moment.date() or moment.time() < self.at:
            return
        if await sweep_all(database, moment.date()) and await lint_all(database):
            self.last = moment.date()


class EmbeddingCheck:
    """Looks now and then for wikis in which something has no vector yet, where there is an embedding server."""

    def __init__(self, embedder: Embedder | None, every: float) -> None:
        self.embedder, self.every, self.next = embedder, every, 0.0

    async def look(self, database: Database) -> None:
        if self.embedder is None or time.monotonic() < self.next:
            return
        self.next = time.monotonic() + self.every
        await vectors.ask_where_lacking(database, self.embedder)


class RetentionCheck:
    """Takes away now and then what tenants and the operator keep no longer; those that say nothing keep jobs and both
    logs for so many days, and the rest for ever."""

    def __init__(self, keep_days: int, every: float) -> None:
        self.kept, self.every, self.next = dict.fromkeys(("activity", "audit", "jobs"), keep_days), every, 0.0

    async def look(self, database: Database) -> None:
        if time.monotonic() < self.next:
            return
        self.next = time.monotonic() + self.every
        moment = await retention.find_moment(database)
        for tenant in await list_tenants(database):
            kept = self.kept | await retention.find_retention(database, tenant.id)
            await retention.prune(database, tenant.id, kept, moment)
            await retention.prune_authorizations(database, tenant.id)
            await prune_deliveries(database, tenant.id, moment)
            await sweep_files(database, tenant.id)
            await place_links(database, tenant.id)
        await retention.prune(database, OPERATORS_LOG, {"audit": self.kept["audit"]}, moment)


class ProposalExpiry:
    """Looks now and then for proposals whose time is over."""

    def __init__(self) -> None:
        self.next = 0.0

    async def look(self, database: Database) -> None:
        if time.monotonic() >= self.next:
            self.next = time.monotonic() + EXPIRED_EVERY
            await expire_proposals(database)


log = logging.getLogger(__name__)

PRUNED_EVERY = 3600.0  # seconds
EXPIRED_EVERY = 60.0  # seconds between two looks for proposals whose time is over
EMBEDDED_MOST = 2_000  # texts of one job
LOOKED_EVERY = 5.0  # seconds between two looks for what has no vector
BEAT = 30.0  # seconds between two signs of life
IDLE = 2.0  # seconds before the next look, when there was nothing to do
FOREIGN_MAX = 500  # characters of a message that is not ours: it may quote a source
TROUBLE = 5.0  # seconds before the next look, when Postgres did not answer


def worker_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


Observe = Callable[[str, UUID], AbstractContextManager[object]]
"""Watches one attempt at a job of this trigger and id. The trace of it tells by an error that it failed or was lost."""


async def work(
    database: Database, compiler: Compiler, *, idle: float = IDLE, observe: Observe = lambda *_: nullcontext()
) -> None:
    """Work until cancelled. The job at work is then left to others, after the last batch that was stored."""
    name, sweep = worker_name(), DailySweep(compiler.sweep_at)
    embeddings, expiry = EmbeddingCheck(compiler.embedder, LOOKED_EVERY), ProposalExpiry()
    retention_check = RetentionCheck(compiler.keep_days, PRUNED_EVERY)
    while True:
        try:
            await sweep.look(database)
            await embeddings.look(database)
            await retention_check.look(database)
            await expiry.look(database)
            if not await work_once(database, compiler, name, observe):
                await asyncio.sleep(idle)
        except Exception as error:
            log.warning("No job could be taken: %s", str(error) or type(error).__name__)
            await asyncio.sleep(TROUBLE)


async def work_once(
    database: Database, compiler: Compiler, name: str, observe: Observe = lambda *_: nullcontext()
) -> bool:
    """Run one job, and return whether there was any."""
    job = await claim(database, name)
    if job is None:
        return False
    with observe(job.trigger, job.id):
        await run(database, job, compiler, is_patient=True)
    return True


async def run(database: Database, job: Job, compiler: Compiler, *, is_patient: bool = False) -> None:
    """Run a claimed job to its end: done, tried again later, or lost to another. One that is patient waits for
    Postgres to store how it ended."""
    attempt = runner_for(database, job, compiler)
    if job.attempt > ATTEMPTS_MAX and job.is_last_attempt:
        return await fail(database, job, "Every worker that had it fell silent.", job.metrics)
    try:
        await run_attempt(database, job, attempt, is_patient)
    except asyncio.CancelledError:
        with suppress(Exception):
            await asyncio.shield(release(database, job, attempt.metrics.stored))
        raise


async def run_attempt(database: Database, job: Job, attempt: Run, is_patient: bool) -> None:
    try:
        async with asyncio.TaskGroup() as group:
            beats = group.create_task(beating(database, job))
            while not await attempt.step():
                pass
            beats.cancel()
    except* Lost:
        record_error("JOB_LOST")
        log.warning("The job %s was lost: it was cancelled, or given to another worker.", job.id)
    except* Exception as errors:
        first = next(leaves(errors))
        record_error("JOB_FAILED")
        log.warning("The job %s failed: %s", job.id, reason(first), exc_info=first)
        with suppress(Lost):
            hopeless = isinstance(first, ModelRefused | Forbidden)
            await store_failure(database, job, reason(first), attempt, hopeless, is_patient)


async def store_failure(
    database: Database, job: Job, error: str, attempt: Run, is_hopeless: bool, is_patient: bool
) -> None:
    """Store that an attempt has failed; if it is patient, as soon as Postgres can. Raises Lost."""
    while True:
        try:
            return await fail(database, job, error, attempt.metrics.stored, is_hopeless=is_hopeless)
        except (Unavailable, *REFUSED) as trouble:
            if not is_patient:
                raise
            log.warning(
                "The result of the job %s is not stored yet: %s", job.id, str(trouble) or type(trouble).__name__
            )
        await asyncio.sleep(TROUBLE)


async def beating(database: Database, job: Job) -> None:
    """Keep the job alive; end with Lost, and with it the work on the job.

    While Postgres does not answer it is for the work to notice.
    """
    while True:
        await asyncio.sleep(BEAT)
        try:
            await beat(database, job)
        except Lost:
            raise
        except Exception as error:
            log.warning("The heartbeat of the job %s was not stored: %s", job.id, str(error) or type(error).__name__)


def leaves(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors of a group, one by one."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from leaves(inner)
    else:
        yield error


def reason(error: BaseException) -> str:
    """Return the error for the job's row, which admins read: what was being done, then the message."""
    return ": ".join([*getattr(error, "__notes__", ()), error_message(error)])


def error_message(error: BaseException) -> str:
    """Return the message of an error of ours, or the kind and the beginning of the message of any other."""
    if isinstance(error, REFUSED):
        error = refusal(error) or error
    if isinstance(error, CairnError):
        return error.message
    words = " ".join(str(error).encode("utf-8", "replace").decode().replace("\0", "").split())
    return f"{type(error).__name__}: {words[:FOREIGN_MAX].rstrip('.')}." if words else f"{type(error).__name__}."
