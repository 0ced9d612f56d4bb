"""The queue of compiles: asked for, taken by one worker, alive while it beats, ended. Every change is announced.

Wikis are compiled one job at a time (`compile_jobs_running_uq`), the oldest first. Workers look tenant by tenant, all
in one round trip, so that no statement reads across two of them. Every moment of a job is of the clock of Postgres,
because those of the machines that serve and work differ.
"""

from collections.abc import Sequence
from dataclasses import dataclass
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
BUCKET = 300  # seconds in which a wiki is compiled once
SILENCE = timedelta(minutes=10)
"""A job whose worker has not been heard of for so long is another's."""
ATTEMPTS_MAX = 5
PAUSE = timedelta(seconds=30)
"""Before the second attempt; twice as long before each that follows."""
DOUBLINGS_MAX = 7
RIVALS = 20  # claims of one wiki at the same moment, before another round
NO_JOB = "There is no such job, or none that you may see."
ERROR_MAX = 2_000


class Lost(CairnError):
    """The job is not this worker's any more: it was cancelled, or given to another."""

    code = "JOB_LOST"


class CompileFailed(CairnError):
    """An error for a job that was given up. `attempt` says how often it was tried."""

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
    """A job that this worker runs. `token` stands for this claim: no other has it."""

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
        """Return when the bucket of the job ends, by the clock of Postgres."""
        return datetime.fromtimestamp((self.bucket + 1) * BUCKET, UTC)

    @property
    def stem(self) -> str:
        """Return the job's key without the bucket."""
        return self.dedupe_key.rstrip("0123456789")

    @property
    def subject(self) -> str:
        """Return what the job is about besides the whole wiki."""
        return ":".join(self.dedupe_key.split(":")[2:-1])

    @property
    def is_last_attempt(self) -> bool:
        """Each batch that an attempt has stored buys it another."""
        return self.attempt >= ATTEMPTS_MAX + int(self.metrics.get("batches", 0))

    @property
    def claim_values(self) -> dict[str, Any]:
        """Return the parameters of every statement on the job."""
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
    """The job of this wiki and bucket, in the caller's transaction; this moment's bucket when none is given.

    An open job with the key is the answer: it reads whatever is committed before it ends. `ahead` is for a bucket that
    comes so many later. A job that is not a compile has a `subject`, and with it a key of its own. A new one is run
    `after` a moment, or at once.
    """
    parts = filter(None, (str(tenant_id), str(owner_id), subject))
    key: dict[str, Any] = {"stem": ":".join(parts) + ":", "bucket": bucket, "ahead": ahead, "seconds": BUCKET}
    asked = {"trigger": trigger, "options": options or {}, "after": after}
    while True:
        row = await connection.one(JOBS["enqueue"], tenant_id=tenant_id, owner_id=owner_id, id=new_id(), **key, **asked)
        if row:
            if row["is_new"]:
                announce_job(connection, tenant_id, owner_id, row["id"], ChangeKind.CREATED)
            return cast(UUID, row["id"])


async def ask_for_compile(
    database: Database, scope: Scope, *, trigger: str = "admin", options: dict[str, Any] | None = None
) -> UUID:
    """A job for the scope's wiki, because somebody who may administer it wants one.

    Where it is to `propose` what it compiles, so do the compiles that wait already, which would read the sources first.
    """
    async with writing(database, scope, Action.ADMINISTER) as writer:
        job_id = await enqueue(writer, scope.tenant_id, scope.owner_id, trigger, options=options)
        if options and options.get("propose"):
            await writer.run(JOBS["propose"])
            if not await writer.value(JOBS["is_proposing"], id=job_id):  # it runs: the next one is meant
                job_id = await enqueue(writer, scope.tenant_id, scope.owner_id, trigger, options=options, ahead=1)
        await writer.run(JOBS["hurry"], id=job_id)
        return job_id


async def hurry_retries(database: Database, scope: Scope) -> None:
    """Let the failed jobs of the scope's wiki be tried again at once instead of after their pause."""
    async with writing(database, scope, Action.ADMINISTER) as writer:
        await writer.run(JOBS["hurry_retries"])


async def claim(database: Database, worker: str) -> Job | None:
    """The job that waits longest, of all tenants; none when there is nothing to do."""
    for tenant_id in await due(database):
        job = await claim_in(database, tenant_id, worker)
        if job:
            return job
    return None


async def due(database: Database) -> list[UUID]:
    """The tenants that have a job to be run, the one that waits longest first."""
    wanted = [{"tenant_id": tenant.id, "silence": SILENCE} for tenant in await list_tenants(database)]
    async with database.connection() as connection:
        rows = await connection.all_of_each(JOBS["find_due"], wanted)
    return [row["tenant_id"] for row in sorted(rows, key=lambda row: row["created_at"])]


async def claim_in(database: Database, tenant_id: UUID, worker: str, owner_id: UUID | None = None) -> Job | None:
    """The job of a tenant that waits longest, or of one owner's wiki in it."""
    for _ in range(RIVALS):
        token = f"{worker}:{new_id()}"
        try:
            async with database.transaction() as connection:
                row = await connection.one(
                    JOBS["claim"],
                    tenant_id=tenant_id,
                    owner_id=owner_id,
                    claimed_by=token,
                    silence=SILENCE,
                )
                if row is None:
                    return None
                announce_job(connection, row["tenant_id"], row["owner_id"], row["id"])
                return Job(**row, token=token)
        except asyncpg.UniqueViolationError:  # another worker took a job of the same wiki at the same moment
            continue
    return None


async def beat(database: Database, job: Job) -> None:
    """Record a sign of life. Raises Lost."""
    async with database.connection() as connection:
        await run_own(connection, "beat", job)


async def advance(writer: Writer, job: Job, metrics: dict[str, Any]) -> None:
    """Record the job's progress together with its work. Raises Lost, and then none of the work is committed."""
    await run_own(writer, "advance", job, metrics=metrics)
    announce_job(writer, job.tenant_id, job.owner_id, job.id)


async def finish(writer: Writer, job: Job, metrics: dict[str, Any]) -> None:
    """End a job well. Called by the wiki's only writer: a source before it was seen, one after asks for a new job."""
    await run_own(writer, "close", job, status="succeeded", error=None, metrics=metrics, pause=timedelta())
    announce_job(writer, job.tenant_id, job.owner_id, job.id)


async def follow_up(writer: Writer, job: Job, after: datetime | None = None) -> UUID:
    """The rest of a job that reached a cap, in the bucket behind its own. With `after` one that waits will do."""
    if after and (waiting := await writer.value(JOBS["find_waiting"], options=job.options, stem=job.stem)):
        return cast(UUID, waiting)
    same: dict[str, Any] = {"options": job.options, "bucket": job.bucket + 1, "subject": job.subject}
    return await enqueue(writer, job.tenant_id, job.owner_id, job.trigger, **same, after=after)


async def fail(database: Database, job: Job, error: str, metrics: dict[str, Any], *, is_hopeless: bool = False) -> None:
    """End a failed attempt: the next comes after a pause, or none when there were enough. Raises Lost."""
    is_last = is_hopeless or job.is_last_attempt
    async with transaction(database) as connection:
        await run_own(
            connection,
            "close",
            job,
            status="failed" if is_last else "pending",
            error=error[:ERROR_MAX],
            metrics=metrics,
            pause=PAUSE * 2 ** min(job.attempt - 1, DOUBLINGS_MAX),
        )
        announce_job(connection, job.tenant_id, job.owner_id, job.id)


async def release(database: Database, job: Job, metrics: dict[str, Any]) -> None:
    """Leave the job to other workers right away, because this one is told to stop. Raises Lost."""
    values: dict[str, Any] = {"status": "pending", "error": None, "metrics": metrics, "pause": timedelta()}
    async with transaction(database) as connection:
        await run_own(connection, "close", job, **values)
        announce_job(connection, job.tenant_id, job.owner_id, job.id)


async def find_open(database: Database, scope: Scope) -> list[Row]:
    """The jobs of the scope's wiki that are not over, oldest first, for admins."""
    async with read_connection(database) as connection:
        await authorise(connection, scope, scope.owner_id, Action.ADMINISTER)
        return await connection.all(JOBS["find_open_of_wiki"], tenant_id=scope.tenant_id, owner_id=scope.owner_id)


async def find_last_compiled(database: Database, scope: Scope) -> Row | None:
    """The newest job of the scope's wiki that has read sources, for admins; none where the last twenty read nothing."""
    async with read_connection(database) as connection:
        await authorise(connection, scope, scope.owner_id, Action.ADMINISTER)
        return await connection.one(JOBS["find_last_compiled"], tenant_id=scope.tenant_id, owner_id=scope.owner_id)


async def cancel(database: Database, scope: Scope, job_id: UUID) -> bool:
    """Cancel a job that nobody wants any more; false when it was over already."""
    row = await find_job(database, scope, job_id)
    async with transaction(database) as connection:
        touched = await connection.run(JOBS["cancel"], tenant_id=scope.tenant_id, owner_id=row["owner_id"], id=job_id)
        if touched:
            announce_job(connection, scope.tenant_id, row["owner_id"], job_id)
    return bool(touched)


async def retry(database: Database, scope: Scope, job_id: UUID) -> UUID:
    """Let a job that failed or was cancelled be run again, and one that waits be run now; return the job that will.

    That is another one where one with its key is open. Raises BadInput for a job that runs or has succeeded.
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
    """The newest jobs of these tenants, or of one owner's wiki, with these statuses. For operators."""
    wanted = [
        {"tenant_id": tenant_id, "owner_id": owner_id, "statuses": list(statuses), "size": size}
        for tenant_id in tenant_ids
    ]
    async with database.connection() as connection:
        rows = await connection.all_of_each(JOBS["list_jobs"], wanted)
    return sorted(rows, key=lambda row: cast(UUID, row["id"]), reverse=True)[:size]


async def find_job(database: Database, scope: Scope, job_id: UUID) -> Row:
    """A job as it stands, for admins."""
    if scope.role is not Role.ADMIN:
        raise Forbidden("This needs a credential with the role admin.")
    async with read_connection(database) as connection:
        row = await connection.one(JOBS["find_job"], tenant_id=scope.tenant_id, id=job_id)
        if row is None:
            raise NotFound(NO_JOB)
        await authorise(connection, scope, row["owner_id"], Action.ADMINISTER)
    return row


async def run_own(connection: Connection, statement: str, job: Job, **values: Any) -> None:
    """Run one of the statements that only the job's worker may. Raises Lost."""
    if not await connection.run(JOBS[statement], **job.claim_values, **values):
        raise Lost("This job was cancelled, or given to another worker.")


@dataclass(frozen=True, slots=True)
class OpenJobs:
    """Counts over all tenants. `oldest` is how long the oldest job waits that could run, in seconds."""

    pending: int
    running: int
    oldest: float


async def count_open_jobs(database: Database) -> OpenJobs:
    """One small statement a tenant, all in one round trip: none reads across two of them."""
    wanted = [{"tenant_id": tenant.id} for tenant in await list_tenants(database)]
    async with database.connection() as connection:
        rows = await connection.all_of_each(JOBS["count_open_jobs"], wanted)
    pending, running = (sum(row[name] for row in rows) for name in ("pending", "running"))
    return OpenJobs(pending, running, float(max((row["oldest"] or 0 for row in rows), default=0)))
