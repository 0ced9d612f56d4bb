"""The queue of compile jobs: enqueue, claim, heartbeat, finish, retry and cancel. Every change of a job is announced.

A wiki has at most one running job (`compile_jobs_running_uq`), and its oldest job runs first. Workers run one statement
for each tenant, all in one round trip, so that no statement reads rows of two tenants. All times of a job are taken
from the clock of Postgres, because the clocks of servers and workers differ.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import UUID

import asyncpg

from db.connection import Connection, Row
from db.database import Database
from db.ids import new_id
from db.scope import Role, Scope
from db.sql import statements

from ..errors import BadInput, CairnError, Forbidden, NotFound
from ..permissions import Action, authorise
from ..subscriptions.changes import ChangeKind, announce_job
from ..tenants.tenants import list_tenants
from ..transactions.transaction import read_connection, transaction, writing
from ..transactions.writer import Writer

JOBS = statements("sources/jobs")
BUCKET = 300  # seconds; a wiki gets one compile job for each bucket of time
HEARTBEAT_TIMEOUT = timedelta(minutes=10)
"""The time without a heartbeat after which another worker may claim a running job."""
ATTEMPTS_MAX = 5
RETRY_PAUSE = timedelta(seconds=30)
"""The pause before the second attempt. It doubles before each further attempt, up to DOUBLINGS_MAX times."""
DOUBLINGS_MAX = 7
CLAIM_ATTEMPTS = 20  # attempts to claim a job while other workers claim jobs of the same wiki
NO_JOB = "There is no such job, or none that you may see."
ERROR_MAX = 2_000


class JobLost(CairnError):
    """The worker has lost the job: it was cancelled, or another worker has claimed it."""

    code = "JOB_LOST"


class CompileFailed(CairnError):
    """A job has failed for good, after `attempt` attempts."""

    code = "COMPILE_FAILED"

    def __init__(self, job_id: UUID, attempt: int, error: str) -> None:
        times = "once" if attempt == 1 else f"{attempt} times"
        super().__init__(f"The job {job_id} was tried {times} and failed. {error}")
        self.job_id, self.attempt = job_id, attempt

    @property
    def extensions(self) -> dict[str, Any]:
        return {"code": self.code, "jobId": str(self.job_id), "attempt": self.attempt}


@dataclass(frozen=True, slots=True)
class Job:
    """A job that a worker has claimed. `token` is unique for each claim."""

    tenant_id: UUID
    owner_id: UUID
    id: UUID
    dedupe_key: str
    trigger: str
    options: dict[str, Any]
    attempt: int
    metrics: dict[str, Any]
    token: str

    @property
    def bucket(self) -> int:
        return int(self.dedupe_key.rpartition(":")[2])

    @property
    def next_bucket_begins(self) -> datetime:
        """Return when the next bucket after that of the job begins, by the clock of Postgres."""
        return datetime.fromtimestamp((self.bucket + 1) * BUCKET, UTC)

    @property
    def stem(self) -> str:
        """Return the key of the job without the number of its bucket."""
        return self.dedupe_key.rstrip("0123456789")

    @property
    def subject(self) -> str:
        """Return the subject of the job, which is empty for a compile of the wiki."""
        return ":".join(self.dedupe_key.split(":")[2:-1])

    @property
    def attempts_max(self) -> int:
        """Return how many attempts the job has. Each batch that it has stored adds one."""
        return ATTEMPTS_MAX + int(self.metrics.get("batches", 0))

    @property
    def is_last_attempt(self) -> bool:
        """Return whether no attempt is left after this one."""
        return self.attempt >= self.attempts_max

    @property
    def is_late(self) -> bool:
        """Return whether this would be the last attempt if the job had stored no batch, or is one after that."""
        return self.attempt >= ATTEMPTS_MAX

    @property
    def claim_values(self) -> dict[str, Any]:
        """Return the parameters of the statements that only the worker of the job may run."""
        return {"tenant_id": self.tenant_id, "id": self.id, "claimed_by": self.token}


async def enqueue(
    connection: Connection,
    tenant_id: UUID,
    owner_id: UUID,
    trigger: str,
    *,
    options: dict[str, Any] | None = None,
    bucket: int | None = None,
    ahead: int = 0,
    subject: str = "",
    after: datetime | None = None,
) -> UUID:
    """Enqueue a job for a wiki and a bucket of time, in the caller's transaction. Return its id.

    If an open job has the same key, its id is returned instead: a compile reads everything that is committed before it
    ends. Without `bucket`, the current bucket is used; `ahead` moves it by so many buckets. A job other than a compile
    has a `subject`, which is part of its key. A new job runs at the time `after`, or at once.
    """
    parts = filter(None, (str(tenant_id), str(owner_id), subject))
    key: dict[str, Any] = {"stem": ":".join(parts) + ":", "bucket": bucket, "ahead": ahead, "seconds": BUCKET}
    values = {"trigger": trigger, "options": options or {}, "after": after}
    while True:
        row = await connection.one(
            JOBS["enqueue"], tenant_id=tenant_id, owner_id=owner_id, id=new_id(), **key, **values
        )
        if row:
            if row["is_new"]:
                announce_job(connection, tenant_id, owner_id, row["id"], ChangeKind.CREATED)
            return cast(UUID, row["id"])


async def ask_for_compile(
    database: Database, scope: Scope, *, trigger: str = "admin", options: dict[str, Any] | None = None
) -> UUID:
    """Enqueue a compile of the scope's wiki to run at once. Needs ADMINISTER. Return its id.

    Pending compiles get the same options, because they would read the sources first; a running one keeps its own.
    """
    async with writing(database, scope, Action.ADMINISTER) as writer:
        job_id = await enqueue(writer, scope.tenant_id, scope.owner_id, trigger, options=options)
        if options:
            await writer.run(JOBS["set_options"], options=options)
            if not await writer.value(JOBS["has_options"], id=job_id, options=options):  # it is running: another one
                job_id = await enqueue(writer, scope.tenant_id, scope.owner_id, trigger, options=options, ahead=1)
        await writer.run(JOBS["hurry"], id=job_id)
        return job_id


async def hurry_retries(database: Database, scope: Scope) -> None:
    """Let jobs of the scope's wiki that wait for a retry run at once. Needs ADMINISTER."""
    async with writing(database, scope, Action.ADMINISTER) as writer:
        await writer.run(JOBS["hurry_retries"])


async def claim(database: Database, worker: str) -> Job | None:
    """Claim the job of any tenant that has waited longest. Return None if no job is due."""
    for tenant_id in await find_due_tenants(database):
        job = await claim_in(database, tenant_id, worker)
        if job:
            return job
    return None


async def find_due_tenants(database: Database) -> list[UUID]:
    """Return the tenants with a job that is due, in the order of their oldest due jobs."""
    wanted = [{"tenant_id": tenant.id, "silence": HEARTBEAT_TIMEOUT} for tenant in await list_tenants(database)]
    async with database.connection() as connection:
        rows = await connection.all_of_each(JOBS["find_due"], wanted)
    return [row["tenant_id"] for row in sorted(rows, key=lambda row: row["created_at"])]


async def claim_in(database: Database, tenant_id: UUID, worker: str, owner_id: UUID | None = None) -> Job | None:
    """Claim the job of a tenant, or of one owner's wiki in it, that has waited longest."""
    for _ in range(CLAIM_ATTEMPTS):
        token = f"{worker}:{new_id()}"
        try:
            async with database.transaction() as connection:
                row = await connection.one(
                    JOBS["claim"],
                    tenant_id=tenant_id,
                    owner_id=owner_id,
                    claimed_by=token,
                    silence=HEARTBEAT_TIMEOUT,
                )
                if row is None:
                    return None
                announce_job(connection, row["tenant_id"], row["owner_id"], row["id"])
                return Job(**row, token=token)
        except asyncpg.UniqueViolationError:  # another worker has claimed a job of the same wiki at the same time
            continue
    return None


async def beat(database: Database, job: Job) -> None:
    """Record a heartbeat of the job. Raises JobLost."""
    async with database.connection() as connection:
        await run_claimed(connection, "beat", job)


async def advance(writer: Writer, job: Job, metrics: dict[str, Any]) -> None:
    """Record the progress of the job in the transaction of its work. Raises JobLost, which rolls the work back."""
    await run_claimed(writer, "advance", job, metrics=metrics)
    announce_job(writer, job.tenant_id, job.owner_id, job.id)


async def finish(writer: Writer, job: Job, metrics: dict[str, Any]) -> None:
    """End a job successfully. Raises JobLost.

    The writer holds the lock of the wiki: a source that was added before was read by the job, and a source that is
    added later enqueues a new job.
    """
    await run_claimed(writer, "close", job, status="succeeded", error=None, metrics=metrics, pause=timedelta())
    announce_job(writer, job.tenant_id, job.owner_id, job.id)


async def follow_up(writer: Writer, job: Job, after: datetime | None = None) -> UUID:
    """Enqueue a job, in the next bucket, for the rest of a job that reached a limit. Return its id.

    With `after`, a pending job with the same options and key stem is returned instead, if there is one.
    """
    if after and (waiting := await writer.value(JOBS["find_waiting"], options=job.options, stem=job.stem)):
        return cast(UUID, waiting)
    same: dict[str, Any] = {"options": job.options, "bucket": job.bucket + 1, "subject": job.subject}
    return await enqueue(writer, job.tenant_id, job.owner_id, job.trigger, **same, after=after)


async def fail(database: Database, job: Job, error: str, metrics: dict[str, Any], *, is_hopeless: bool = False) -> None:
    """End a failed attempt: schedule the next attempt after a pause, or fail the job for good. Raises JobLost.

    `metrics` are those of the job now, so the batches of this attempt add attempts, too.
    """
    is_last = is_hopeless or replace(job, metrics=metrics).is_last_attempt
    async with transaction(database) as connection:
        await run_claimed(
            connection,
            "close",
            job,
            status="failed" if is_last else "pending",
            error=error[:ERROR_MAX],
            metrics=metrics,
            pause=RETRY_PAUSE * 2 ** min(job.attempt - 1, DOUBLINGS_MAX),
        )
        announce_job(connection, job.tenant_id, job.owner_id, job.id)


async def release(database: Database, job: Job, metrics: dict[str, Any]) -> None:
    """Return the job to the queue at once, because this worker is stopping. Raises JobLost.

    The attempt does not count, so that no number of restarts makes a job fail.
    """
    async with transaction(database) as connection:
        await run_claimed(connection, "release", job, metrics=metrics)
        announce_job(connection, job.tenant_id, job.owner_id, job.id)


async def find_open(database: Database, scope: Scope) -> list[Row]:
    """Return the pending and running jobs of the scope's wiki, the oldest first. Needs ADMINISTER."""
    async with read_connection(database) as connection:
        await authorise(connection, scope, scope.owner_id, Action.ADMINISTER)
        return await connection.all(JOBS["find_open_of_wiki"], tenant_id=scope.tenant_id, owner_id=scope.owner_id)


async def find_last_compiled(database: Database, scope: Scope) -> Row | None:
    """Return the newest job among the last 20 of the scope's wiki that has read sources, or None. Needs ADMINISTER."""
    async with read_connection(database) as connection:
        await authorise(connection, scope, scope.owner_id, Action.ADMINISTER)
        return await connection.one(JOBS["find_last_compiled"], tenant_id=scope.tenant_id, owner_id=scope.owner_id)


async def cancel(database: Database, scope: Scope, job_id: UUID) -> bool:
    """Cancel a pending or running job. Return false if it was over already. Needs ADMINISTER."""
    row = await find_job(database, scope, job_id)
    async with transaction(database) as connection:
        touched = await connection.run(JOBS["cancel"], tenant_id=scope.tenant_id, owner_id=row["owner_id"], id=job_id)
        if touched:
            announce_job(connection, scope.tenant_id, row["owner_id"], job_id)
    return bool(touched)


async def retry(database: Database, scope: Scope, job_id: UUID) -> UUID:
    """Run a failed, cancelled or pending job now. Return the id of the job that runs. Needs ADMINISTER.

    That is another job if an open job has the same key. Raises BadInput for a job that is running or has succeeded.
    """
    row = await find_job(database, scope, job_id)
    own = {"tenant_id": scope.tenant_id, "owner_id": row["owner_id"]}
    if row["status"] in ("running", "succeeded"):
        raise BadInput(f"This job {'is running' if row['status'] == 'running' else 'has succeeded'} already.", "job")
    async with transaction(database) as connection:
        found: UUID | None = await connection.value(JOBS["find_open"], **own, dedupe_key=row["dedupe_key"])
        chosen = found or job_id
        await connection.run(JOBS["retry"], **own, id=chosen)
        announce_job(connection, scope.tenant_id, row["owner_id"], chosen)
    return chosen


async def list_jobs(
    database: Database, tenant_ids: Sequence[UUID], owner_id: UUID | None, statuses: Sequence[str], size: int
) -> list[Row]:
    """Return the newest `size` jobs with these statuses of the tenants, or of one owner's wiki. For operators."""
    wanted = [
        {"tenant_id": tenant_id, "owner_id": owner_id, "statuses": list(statuses), "size": size}
        for tenant_id in tenant_ids
    ]
    async with database.connection() as connection:
        rows = await connection.all_of_each(JOBS["list_jobs"], wanted)
    return sorted(rows, key=lambda row: cast(UUID, row["id"]), reverse=True)[:size]


async def find_job(database: Database, scope: Scope, job_id: UUID) -> Row:
    """Return a job. Needs ADMINISTER. Raises NotFound, Forbidden."""
    if scope.role is not Role.ADMIN:
        raise Forbidden("This needs a credential with the role admin.")
    async with read_connection(database) as connection:
        row = await connection.one(JOBS["find_job"], tenant_id=scope.tenant_id, id=job_id)
        if row is None:
            raise NotFound(NO_JOB)
        await authorise(connection, scope, row["owner_id"], Action.ADMINISTER)
    return row


async def run_claimed(connection: Connection, statement: str, job: Job, **values: Any) -> None:
    """Run a statement that only the worker of the job may run. Raises JobLost if the worker no longer has the job."""
    if not await connection.run(JOBS[statement], **job.claim_values, **values):
        raise JobLost("This job was cancelled, or given to another worker.")


@dataclass(frozen=True, slots=True)
class OpenJobs:
    """The number of open jobs of all tenants. `oldest` is how many seconds the oldest due job has waited.

    A running job counts as pending once its worker has fallen silent.
    """

    pending: int
    running: int
    oldest: float


async def count_open_jobs(database: Database) -> OpenJobs:
    """Count the open jobs of all tenants: one statement for each tenant, all in one round trip."""
    wanted = [{"tenant_id": tenant.id, "silence": HEARTBEAT_TIMEOUT} for tenant in await list_tenants(database)]
    async with database.connection() as connection:
        rows = await connection.all_of_each(JOBS["count_open_jobs"], wanted)
    pending, running = (sum(row[name] for row in rows) for name in ("pending", "running"))
    return OpenJobs(pending, running, float(max((row["oldest"] or 0 for row in rows), default=0)))
