"""`cairn compile`: a wiki, now."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import AsJson, Owner, Tenant
from .output import say, show, tell

if TYPE_CHECKING:
    from compiler.leaf_pass import Compiler
    from compiler.metrics import Metrics
    from db.database import Database
    from db.scope import Scope

PAUSE = 0.2  # seconds between two looks, while another worker is at it


def add_to(parent: typer.Typer) -> None:
    parent.command("compile", epilog="Example: cairn compile --tenant acme --owner mara --wait")(compile_wiki)


def compile_wiki(
    tenant: Tenant,
    owner: Owner,
    wait: Annotated[bool, typer.Option("--wait", help="Do it here, if no worker does, and say how it went.")] = False,
    as_json: AsJson = False,
) -> None:
    """Ask for a compile of what was retained. A worker does it, or this command with --wait."""
    from app.compiling import compiler_of
    from app.settings import Settings
    from db.scope import Role
    from resolvers.jobs import ask_for_compile, find_job

    from .session import session
    from .wikis import find_wiki

    compiler = compiler_of(Settings(), say_batch) if wait else None

    async def work(database: "Database") -> dict[str, Any]:
        scope = (await find_wiki(database, tenant, owner)).scope(Role.ADMIN)
        job_id = await ask_for_compile(database, scope)
        if compiler:
            await finished(database, scope, compiler)
        job = await find_job(database, scope, job_id)
        return {"id": job["id"], "status": job["status"], "error": job["error"], "metrics": job["metrics"]}

    job = session(work)
    if as_json:
        show(job)
    else:
        say_job(job)


async def finished(database: "Database", scope: "Scope", compiler: "Compiler") -> None:
    """Until no job of the wiki is open, this one and those that go on behind it."""
    import asyncio

    from compiler.worker import run, worker_name
    from resolvers.errors import CairnError
    from resolvers.jobs import claim_in, find_open

    while jobs := await find_open(database, scope):
        failed = next((job for job in jobs if job["status"] == "pending" and job["error"]), None)
        if failed:
            raise CairnError(f"The compile failed, and is tried again by a worker: {failed['error']}")
        claimed = await claim_in(database, scope.tenant_id, worker_name())
        if claimed:
            await run(database, claimed, compiler)
        else:
            await asyncio.sleep(PAUSE)


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
