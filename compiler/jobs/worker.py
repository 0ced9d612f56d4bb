"""A worker claims jobs one at a time, runs each and stores its result. Any number of workers may run in parallel."""

import asyncio
import logging
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from uuid import UUID

from db.database import Database
from observability.trace import record_error
from resolvers.embeddings import vectors
from resolvers.errors import CairnError, Unavailable
from resolvers.jobs import queue
from resolvers.jobs.queue import Job, JobLost, beat, claim, fail, release
from resolvers.knowledge.lint import lint
from resolvers.knowledge.lint_reports import SCHEDULE, write_report
from resolvers.search.passages import finish_passages, read_sources
from resolvers.search.reindexing import FIRST, begin, finish, is_requested, read_batch
from resolvers.transactions.db_errors import REFUSED, refusal
from resolvers.transactions.transaction import read_connection, writing
from resolvers.transactions.writer import Writer

from ..authors import ModelRefused
from ..compiler import Compiler
from ..forget.job import Forgetting
from ..leaf_pass import Run
from ..rebuild.job import Rebuilding
from ..sweep import Sweep
from .periodic import EMBEDDING_INTERVAL, RETENTION_INTERVAL, DailySweep, EmbeddingCheck, ProposalExpiry, RetentionCheck

log = logging.getLogger(__name__)

EMBEDDED_MAX = 2_000  # texts of one job
HEARTBEAT_INTERVAL = 30.0  # seconds between two heartbeats of a job
IDLE = 2.0  # seconds to wait if there was no job
FOREIGN_MAX = 500  # characters of an error message from a library, which may quote a source
RETRY_PAUSE = 5.0  # seconds to wait if Postgres did not answer


class Reindexing(Run):
    """One attempt at a job that indexes all pages and sources of a wiki for search again.

    The progress is stored with the wiki, so that another attempt or job continues from there.
    """

    page: UUID | None = FIRST
    """The last page that is indexed; None after all pages."""
    source = FIRST
    """The last source that is indexed."""
    is_begun = False

    async def step(self) -> bool:
        """Index a batch of pages, or, after all pages, a batch of sources; return true when all are indexed."""
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
        """Finish the job and return true, or return false if another reindexing was requested meanwhile.

        Then it begins anew.
        """
        async with writing(self.database, self.scope) as writer:
            if await is_requested(writer, self.scope):
                self.page, self.source, self.is_begun = FIRST, FIRST, False
                return False
            await queue.finish(writer, self.job, self.metrics.stored)
        return True


class Embedding(Run):
    """One attempt at a job that embeds the pages, and then the passages, that have no vector yet.

    It ends after EMBEDDED_MAX texts, so that compile jobs of the wiki do not wait long. The next EmbeddingCheck queues
    a job for the rest.
    """

    progress: vectors.Progress | None = None

    async def step(self) -> bool:
        """Embed a batch of pages or passages; return true when the job is over.

        Raises ModelRefused without an embedder.
        """
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
            if is_done or self.metrics.counts["texts_embedded"] >= EMBEDDED_MAX:
                await queue.finish(writer, self.job, self.metrics.stored)
                return True
            await queue.advance(writer, self.job, self.metrics.stored)
        return False


class Linting(Run):
    """One attempt at a job that lints a wiki. It stores a report and changes no page."""

    async def step(self) -> bool:
        """Run every check, then store the report and finish the job in one transaction; return true."""
        reports = await lint(self.database, self.scope, limit=1)
        self.metrics.add("findings", sum(report.total for report in reports))
        async with writing(self.database, self.scope) as writer:
            await write_report(writer, reports, str(self.job.options.get("trigger", SCHEDULE)))
            await queue.finish(writer, self.job, self.metrics.stored)
        return True


RUNNERS: Mapping[str, type[Run]] = {
    "embed": Embedding, "forget": Forgetting, "lint": Linting, "rebuild": Rebuilding, "reindex": Reindexing,
    "sweep": Sweep,
}  # fmt: skip


def runner_for(database: Database, job: Job, compiler: Compiler) -> Run:
    """Return an attempt at the job, of the class for its trigger."""
    return RUNNERS.get(job.trigger, Run)(database, job, compiler)


def worker_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


Observe = Callable[[str, UUID], AbstractContextManager[object]]
"""Opens a trace around an attempt at the job with this trigger and id. The trace of a failed or lost attempt has an
error."""


async def work(
    database: Database, compiler: Compiler, *, idle: float = IDLE, observe: Observe = lambda *_: nullcontext()
) -> None:
    """Run jobs and periodic tasks until cancelled. A job that is then running is released: another worker continues it
    after its last stored batch."""
    name = worker_name()
    daily_sweep = DailySweep(compiler.sweep_at)
    embedding_check = EmbeddingCheck(compiler.embedder, EMBEDDING_INTERVAL)
    retention_check = RetentionCheck(compiler.keep_days, RETENTION_INTERVAL)
    proposal_expiry = ProposalExpiry()
    while True:
        try:
            await daily_sweep.run_if_due(database)
            await embedding_check.run_if_due(database)
            await retention_check.run_if_due(database)
            await proposal_expiry.run_if_due(database)
            if not await work_once(database, compiler, name, observe):
                await asyncio.sleep(idle)
        except Exception as error:
            log.warning("No job could be taken: %s", str(error) or type(error).__name__)
            await asyncio.sleep(RETRY_PAUSE)


async def work_once(
    database: Database, compiler: Compiler, name: str, observe: Observe = lambda *_: nullcontext()
) -> bool:
    """Claim and run one job; return whether there was one."""
    job = await claim(database, name)
    if job is None:
        return False
    with observe(job.trigger, job.id):
        await run(database, job, compiler, is_patient=True)
    return True


async def run(database: Database, job: Job, compiler: Compiler, *, is_patient: bool = False) -> None:
    """Run one attempt at a claimed job: the job is then finished, queued for a retry, failed, or lost.

    With `is_patient`, a failure is stored as soon as Postgres answers, however long that takes. If cancelled, the job
    is released for another worker.
    """
    attempt = runner_for(database, job, compiler)
    if job.attempt > job.attempts_max:
        return await fail(database, job, "Every worker that had it fell silent.", job.metrics)
    try:
        await run_attempt(database, job, attempt, is_patient)
    except asyncio.CancelledError:
        with suppress(Exception):
            await asyncio.shield(release(database, job, attempt.metrics.stored))
        raise


async def run_attempt(database: Database, job: Job, attempt: Run, is_patient: bool) -> None:
    """Run all steps of an attempt while heartbeats are sent, and store its failure, if it fails."""
    try:
        async with asyncio.TaskGroup() as group:
            heartbeats = group.create_task(send_heartbeats(database, job))
            while not await attempt.step():
                pass
            heartbeats.cancel()
    except* JobLost:
        record_error("JOB_LOST")
        log.warning("The job %s was lost: it was cancelled, or given to another worker.", job.id)
    except* Exception as errors:
        first = next(flatten_errors(errors))
        record_error("JOB_FAILED")
        log.warning("The job %s failed: %s", job.id, describe_error(first), exc_info=first)
        with suppress(JobLost):
            await store_failure(database, job, describe_error(first), attempt, attempt.is_hopeless(first), is_patient)


async def store_failure(
    database: Database, job: Job, error: str, attempt: Run, is_hopeless: bool, is_patient: bool
) -> None:
    """Store that an attempt has failed. Raises JobLost.

    An `is_hopeless` failure is not retried. With `is_patient`, storing is retried until Postgres answers.
    """
    while True:
        try:
            return await fail(database, job, error, attempt.metrics.stored, is_hopeless=is_hopeless)
        except (Unavailable, *REFUSED) as trouble:
            if not is_patient:
                raise
            log.warning(
                "The result of the job %s is not stored yet: %s", job.id, str(trouble) or type(trouble).__name__
            )
        await asyncio.sleep(RETRY_PAUSE)


async def send_heartbeats(database: Database, job: Job) -> None:
    """Store a heartbeat of the job every HEARTBEAT_INTERVAL seconds.

    Raises JobLost, which ends the attempt as well. Other errors are only logged: the attempt notices itself if Postgres
    does not answer.
    """
    while True:
        await asyncio.sleep(HEARTBEAT_INTERVAL)
        try:
            await beat(database, job)
        except JobLost:
            raise
        except Exception as error:
            log.warning("The heartbeat of the job %s was not stored: %s", job.id, str(error) or type(error).__name__)


def flatten_errors(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors inside an exception group, however deeply nested, or the error itself."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from flatten_errors(inner)
    else:
        yield error


def describe_error(error: BaseException) -> str:
    """Return the notes and the message of an error, for the job's row, which admins read."""
    return ": ".join([*getattr(error, "__notes__", ()), error_message(error)])


def error_message(error: BaseException) -> str:
    """Return the message of a CairnError; of any other error its class and the beginning of its message."""
    if isinstance(error, REFUSED):
        error = refusal(error) or error
    if isinstance(error, CairnError):
        return error.message
    words = " ".join(str(error).encode("utf-8", "replace").decode().replace("\0", "").split())
    return f"{type(error).__name__}: {words[:FOREIGN_MAX].rstrip('.')}." if words else f"{type(error).__name__}."
