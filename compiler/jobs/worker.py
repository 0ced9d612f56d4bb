"""A worker claims jobs one at a time, runs each and stores its result. Any number of workers may run in parallel."""

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
from resolvers.errors import CairnError, Unavailable
from resolvers.jobs import queue
from resolvers.jobs.queue import Job, JobLost, beat, claim, fail, release
from resolvers.knowledge.lint import lint
from resolvers.knowledge.lint_reports import SCHEDULE, lint_all, write_report
from resolvers.pages.link_places import place_links
from resolvers.proposals.decisions import expire_proposals
from resolvers.search.passages import finish_passages, read_sources
from resolvers.search.reindexing import FIRST, begin, finish, is_requested, read_batch
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
    "sweep": Promotion,
}  # fmt: skip


def runner_for(database: Database, job: Job, compiler: Compiler) -> Run:
    """Return an attempt at the job, of the class for its trigger."""
    return RUNNERS.get(job.trigger, Run)(database, job, compiler)


def now() -> datetime:
    return datetime.now(UTC)


class DailySweep:
    """Queues the sweep jobs and the due lint jobs of all wikis, once a day from the time `at` (UTC) on.

    All workers do the same. The database ensures that a wiki is swept once a day.
    """

    def __init__(self, at: clock | None, now: Callable[[], datetime] = now) -> None:
        self.at, self.now = at, now
        self.last: date | None = None
        """The last day on which this process has queued the jobs."""

    async def run_if_due(self, database: Database) -> None:
        """Queue the sweep jobs and the due lint jobs, if the time has come and this process has not done so today.

        If a wiki was too busy for that, all are tried again at the next call.
        """
        moment = self.now()
        if self.at is None or self.last == moment.date() or moment.time() < self.at:
            return
        if await sweep_all(database, moment.date()) and await lint_all(database):
            self.last = moment.date()


class EmbeddingCheck:
    """Queues jobs for the wikis with pages or passages that have no vector yet, every `every` seconds.

    It does nothing without an embedder.
    """

    def __init__(self, embedder: Embedder | None, every: float) -> None:
        self.embedder, self.every, self.next = embedder, every, 0.0

    async def run_if_due(self, database: Database) -> None:
        if self.embedder is None or time.monotonic() < self.next:
            return
        self.next = time.monotonic() + self.every
        await vectors.enqueue_embedding_jobs(database, self.embedder)


class RetentionCheck:
    """Deletes, every `every` seconds, the data whose retention period is over.

    A tenant without a period of its own keeps jobs, activity log and audit log for `keep_days` days (0: forever), and
    everything else forever. The check also deletes ended OAuth authorizations, old webhook deliveries and files that no
    row refers to, and stores the missing sections of links. A tenant for which that fails does not hold up the others.
    """

    def __init__(self, keep_days: int, every: float) -> None:
        self.default_days = dict.fromkeys(("activity", "audit", "jobs"), keep_days)
        self.every, self.next = every, 0.0

    async def run_if_due(self, database: Database) -> None:
        if time.monotonic() < self.next:
            return
        self.next = time.monotonic() + self.every
        moment = await retention.find_moment(database)
        for tenant in await list_tenants(database):
            try:
                await self.prune(database, tenant.id, moment)
            except Exception as error:
                log.warning("The old data of the tenant %s are kept until the next check: %s", tenant.slug, error)
        await retention.prune(database, OPERATORS_LOG, {"audit": self.default_days["audit"]}, moment)

    async def prune(self, database: Database, tenant_id: UUID, moment: datetime) -> None:
        days = self.default_days | await retention.find_retention(database, tenant_id)
        await retention.prune(database, tenant_id, days, moment)
        await retention.prune_authorizations(database, tenant_id)
        await prune_deliveries(database, tenant_id, moment)
        await sweep_files(database, tenant_id)
        await place_links(database, tenant_id)


class ProposalExpiry:
    """Marks proposals as expired when their time is over, every EXPIRY_INTERVAL seconds."""

    def __init__(self) -> None:
        self.next = 0.0

    async def run_if_due(self, database: Database) -> None:
        if time.monotonic() >= self.next:
            self.next = time.monotonic() + EXPIRY_INTERVAL
            await expire_proposals(database)


log = logging.getLogger(__name__)

RETENTION_INTERVAL = 3600.0  # seconds between two RetentionChecks
EXPIRY_INTERVAL = 60.0  # seconds between two searches for expired proposals
EMBEDDING_INTERVAL = 5.0  # seconds between two EmbeddingChecks
EMBEDDED_MAX = 2_000  # texts of one job
HEARTBEAT_INTERVAL = 30.0  # seconds between two heartbeats of a job
IDLE = 2.0  # seconds to wait if there was no job
FOREIGN_MAX = 500  # characters of an error message from a library, which may quote a source
RETRY_PAUSE = 5.0  # seconds to wait if Postgres did not answer


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
