"""`cairn compile`: a wiki, now."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import AsJson, Owner, Tenant
from .output import say, show, tell

if TYPE_CHECKING:
    from collections.abc import Collection
    from uuid import UUID

    from compiler.compiler import Compiler
    from compiler.metrics import Metrics
    from db.database import Database
    from db.scope import Scope

Wait = Annotated[bool, typer.Option("--wait", help="Do it here, if no worker does, and say how it went.")]
PAUSE = 0.2  # seconds between two looks, while another worker is at it


def add_to(parent: typer.Typer) -> None:
    parent.command("compile", epilog="Example: cairn compile --tenant acme --owner mara --wait")(compile_wiki)


def compile_wiki(
    tenant: Tenant,
    owner: Owner,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Ask for a compile of what was retained. A worker does it, or this command with --wait."""
    from app.compiling import compiler_of
    from app.settings import Settings
    from db.scope import Role
    from resolvers.jobs import ask_for_compile

    from .session import session
    from .wikis import find_wiki

    compiler = compiler_of(Settings(), say_batch) if wait else None

    async def work(database: "Database") -> dict[str, Any]:
        scope = (await find_wiki(database, tenant, owner)).scope(Role.ADMIN)
        job_id = await ask_for_compile(database, scope)
        done = await finished(database, scope, compiler) if compiler else set()
        return await summed(database, scope, job_id, done)

    job = session(work)
    if as_json:
        show(job)
    else:
        say_job(job)


async def finished(database: "Database", scope: "Scope", compiler: "Compiler") -> "set[UUID]":
    """Until no job of the wiki is open, this one and those that go on behind it: which these were."""
    import asyncio

    from compiler.worker import run, worker_name
    from resolvers.errors import CairnError
    from resolvers.jobs import claim_in, find_open

    seen: set[UUID] = set()
    while jobs := await find_open(database, scope):
        seen |= {job["id"] for job in jobs}
        failed = next((job for job in jobs if job["status"] == "pending" and job["error"]), None)
        if failed:
            raise CairnError(f"The compile failed, and is tried again by a worker: {failed['error']}")
        claimed = await claim_in(database, scope.tenant_id, worker_name())
        if claimed:
            await run(database, claimed, compiler)
        else:
            await asyncio.sleep(PAUSE)
    return seen


async def summed(database: "Database", scope: "Scope", job_id: "UUID", others: "Collection[UUID]") -> dict[str, Any]:
    """A job as it stands, with what those have done that went on behind it."""
    from compiler.metrics import Metrics
    from resolvers.jobs import find_job

    job, total = await find_job(database, scope, job_id), Metrics()
    for one in {job_id, *others}:
        total += Metrics((await find_job(database, scope, one))["metrics"])
    metrics = total.stored if job["metrics"] else {}
    return {"id": job["id"], "status": job["status"], "error": job["error"], "metrics": metrics}


def say_batch(metrics: "Metrics") -> None:
    done = metrics.counts
    tell(
        f"{done['sources_read']:,.0f} sources read: {done['pages_created']:,.0f} pages made, "
        f"{done['sections_written']:,.0f} sections written"
    )


def say_job(job: dict[str, Any]) -> None:
    done = job["metrics"]
    if job["status"] == "succeeded":
        say(
            f"Compiled: {done.get('sources_read', 0)} sources, {done.get('pages_created', 0)} new pages, "
            f"{done.get('sections_written', 0)} sections, {done.get('mentions_recorded', 0)} names held."
        )
    else:
        say(f"The job {job['id']} is {job['status']}. It is run by: cairn worker")
