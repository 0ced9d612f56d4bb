"""`cairn jobs`: list, retry and cancel the jobs of the queue."""

from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from ...options import AsJson, Owner, Tenant
from ...output import print_json, print_table, say

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from uuid import UUID

    from db.connection import Row
    from db.database import Database
    from db.scope import Scope

T = TypeVar("T")
app = typer.Typer(help="Manage the job queue.", no_args_is_help=True)
FIELDS = (
    "id", "tenant", "owner", "trigger", "status", "attempt", "error", "createdAt", "runAfter", "startedAt",
    "finishedAt",
)  # fmt: skip
STATUSES = ("pending", "running", "failed", "cancelled", "succeeded")
JobId = Annotated[str, typer.Argument(metavar="JOB", help="Id of the job.")]


@app.command("list", epilog="Example: cairn jobs list --status failed --json")
def list_all(
    tenant: Annotated[
        str | None, typer.Option("--tenant", metavar="SLUG", help="Only this tenant's: its slug or id.")
    ] = None,
    owner: Annotated[
        str | None, typer.Option("--owner", metavar="SLUG", help="Only jobs of this owner (slug or id).")
    ] = None,
    status: Annotated[
        list[str] | None,
        typer.Option(
            "--status", metavar="STATUS", help=f"Only jobs with this status: {', '.join(STATUSES)}. Can be repeated."
        ),
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=1_000, help="Maximum number of jobs.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List jobs, newest first."""
    if owner and not tenant:
        raise typer.BadParameter("an owner needs a tenant: add --tenant SLUG")
    if wrong := set(status or ()).difference(STATUSES):
        raise typer.BadParameter(f"there is no status {', '.join(sorted(wrong))}: choose from {', '.join(STATUSES)}")
    from resolvers.jobs.queue import list_jobs
    from resolvers.tenants.tenants import find_tenant, list_tenants

    from ...session import find_wiki, run_in_session

    async def work(database: "Database") -> "list[Row]":
        owner_id = owner and tenant and (await find_wiki(database, tenant, owner)).owner.id
        tenants = [await find_tenant(database, tenant)] if tenant else await list_tenants(database)
        return await list_jobs(database, [found.id for found in tenants], owner_id or None, status or STATUSES, limit)

    jobs = run_in_session(work)
    if as_json:
        print_json([dict(zip(FIELDS, job.values(), strict=True)) for job in jobs])
    else:
        shown = list(FIELDS[:7])
        print_table(shown, [tuple("" if job[name] is None else job[name] for name in shown) for job in jobs])


@app.command("retry", epilog="Example: cairn jobs retry 0199… --tenant acme --owner mara")
def retry(job: JobId, tenant: Tenant, owner: Owner, as_json: AsJson = False) -> None:
    """Retry a failed or cancelled job, or run a waiting job now."""
    from resolvers.jobs import queue

    job_id = change_job(job, tenant, owner, queue.retry)
    print_json({"id": job_id}) if as_json else say(
        f"Queued the job {job_id} again. Start a worker to run it: cairn worker"
    )


@app.command("cancel", epilog="Example: cairn jobs cancel 0199… --tenant acme --owner mara")
def cancel(job: JobId, tenant: Tenant, owner: Owner, as_json: AsJson = False) -> None:
    """Cancel a waiting or running job. What it has already written is kept."""
    from resolvers.jobs import queue

    is_cancelled = change_job(job, tenant, owner, queue.cancel)
    if as_json:
        print_json({"id": job, "cancelled": is_cancelled})
    else:
        say(f"Cancelled the job {job}." if is_cancelled else f"The job {job} had already finished.")


def change_job(job: str, tenant: str, owner: str, change: "Callable[[Database, Scope, UUID], Awaitable[T]]") -> "T":
    """Apply `change` to a job of a wiki and return its result. Raises NotFound if the id is not valid."""
    from uuid import UUID

    from db.scope import Role
    from resolvers.errors import NotFound

    from ...session import find_wiki, run_in_session

    async def work(database: "Database") -> "T":
        try:
            job_id = UUID(job)
        except ValueError:
            raise NotFound(f"{job[:80]} is not the id of a job. List jobs with: cairn jobs list") from None
        return await change(database, (await find_wiki(database, tenant, owner)).scope(Role.ADMIN), job_id)

    return run_in_session(work)


def add_to(parent: typer.Typer) -> None:
    parent.add_typer(app, name="jobs", epilog="Example: cairn jobs list --help")
