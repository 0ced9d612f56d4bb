"""Commands that compile, rebuild and reindex a wiki, and the worker."""

import logging
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..options import AsJson, Owner, Tenant
from ..output import print_json, print_status, say
from .pages import check_page_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from uuid import UUID

    from compiler.compiler import Compiler
    from compiler.metrics import Metrics
    from db.connection import Row
    from db.database import Database
    from db.scope import Scope
    from resolvers.sources.held_names import HeldName

    from ..indexes import Reindexed

Wait = Annotated[
    bool, typer.Option("--wait", help="Run the job in this process unless a worker takes it, and print the result.")
]

PAUSE = 0.2  # seconds between two polls while another worker runs the job
RETRY_PAUSE = 1.0  # seconds between two polls while a job waits for its next attempt
WAIT_MAX = timedelta(seconds=30)
"""A job that is due later than this, and not for a retry, is left to a worker."""
NEAREST_SHOWN = 3  # mentions that are shown


def add_compiling(parent: typer.Typer) -> None:
    parent.command("compile", epilog="Example: cairn compile --tenant acme --owner mara --wait")(compile_wiki)


def compile_wiki(
    tenant: Tenant,
    owner: Owner,
    propose: Annotated[
        bool,
        typer.Option(
            "--propose",
            help="Create proposals for review instead of pages. Sources of the kind run always lead to proposals.",
        ),
    ] = False,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Queue a compile job for the sources of a wiki. A worker runs it, or this command with --wait.

    With --wait, failed attempts are retried with the same delays as in a worker.
    """
    from db.scope import Role
    from resolvers.jobs.queue import ask_for_compile

    from ...settings import Settings
    from ...worker import compiler_of
    from ..session import find_wiki, run_in_session

    compiler = compiler_of(Settings(), say_batch) if wait else None

    async def work(database: "Database") -> dict[str, Any]:
        scope = (await find_wiki(database, tenant, owner)).scope(Role.ADMIN)
        job_id = await ask_for_compile(database, scope, options={"propose": True} if propose else None)
        if compiler is None:
            return await sum_jobs(database, scope, [job_id])
        summary = await sum_jobs(database, scope, [job_id, *await run_open_jobs(database, scope, compiler)])
        return summary | await compile_state(database, scope, summary)

    job = run_in_session(work)
    if as_json:
        print_json(job)
    else:
        say_job(job)


async def run_open_jobs(database: "Database", scope: "Scope", compiler: "Compiler") -> "set[UUID]":
    """Run the open jobs of the wiki until none is left, and return their ids.

    Another worker may run some of them meanwhile. Failed attempts are retried. A job that was put off because a budget
    is used up is not waited for, and jobs of other owners are not run.
    """
    import asyncio

    from compiler.jobs.worker import run, worker_name
    from resolvers.jobs.queue import claim_in, find_open, hurry_retries

    job_ids: set[UUID] = set()
    failures: set[tuple[UUID, int]] = set()
    await hurry_retries(database, scope)
    while jobs := [job for job in await find_open(database, scope) if not is_put_off(job)]:
        job_ids |= {job["id"] for job in jobs}
        waiting = [job for job in jobs if job["status"] == "pending" and job["error"]]
        for job in waiting:
            if (attempt := (job["id"], job["attempt"])) not in failures:
                failures.add(attempt)
                print_status(
                    f"Attempt {job['attempt']} failed: {job['error']} The next attempt is at "
                    f"{format_time(job['run_after'])}."
                )
        claimed = await claim_in(database, scope.tenant_id, worker_name(), scope.owner_id)
        if claimed:
            with silence_tracebacks():
                await run(database, claimed, compiler)
            continue
        await asyncio.sleep(RETRY_PAUSE if len(waiting) == len(jobs) else PAUSE)
    return job_ids


@contextmanager
def silence_tracebacks() -> "Iterator[None]":
    """Silence the warnings of a worker, which contain tracebacks: the command prints each failure as a sentence."""
    logger = logging.getLogger("compiler.jobs.worker")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def is_put_off(job: "Row") -> bool:
    """Return whether a job was put off to a later time, and not because an attempt failed."""
    is_waiting = job["status"] == "pending" and not job["error"]
    return is_waiting and job["due_in"] > WAIT_MAX


async def sum_jobs(database: "Database", scope: "Scope", job_ids: "Iterable[UUID]") -> dict[str, Any]:
    """Return the state of the first of these jobs, with the metrics of all of them added up. Raises CompileFailed."""
    from compiler.metrics import Metrics
    from resolvers.jobs.queue import CompileFailed, find_job

    jobs = [await find_job(database, scope, job_id) for job_id in dict.fromkeys(job_ids)]
    for job in jobs:
        if job["status"] == "failed":
            raise CompileFailed(job["id"], job["attempt"], job["error"])
    total = Metrics()
    for job in jobs:
        total += Metrics(job["metrics"])
    if not jobs:
        return {}
    first = jobs[0]
    metrics = total.stored if first["metrics"] else {}
    return {"id": first["id"], "status": first["status"], "error": first["error"], "metrics": metrics}


async def compile_state(database: "Database", scope: "Scope", summary: dict[str, Any]) -> dict[str, Any]:
    """Return the state of the wiki after a compile: its mentions, when work that was put off continues, and the job
    that compiled last if this run had no source to read."""
    from resolvers.jobs.queue import find_last_compiled, find_open
    from resolvers.sources.held_names import find_nearest

    total, nearest = await find_nearest(database, scope, NEAREST_SHOWN)
    last = None if summary["metrics"].get("sources_read") else await find_last_compiled(database, scope)
    resume_times = [job["run_after"] for job in await find_open(database, scope) if is_put_off(job)]
    return {
        "held": {"total": total, "nearest": [mention_to_dict(held) for held in nearest]},
        "lastCompiled": last and {"id": last["id"], "finishedAt": last["finished_at"], "metrics": last["metrics"]},
        "continuesAt": min(resume_times, default=None),
    }


def mention_to_dict(mention: "HeldName") -> dict[str, Any]:
    return {
        "name": mention.name,
        "sources": mention.mention_count,
        "evidence": mention.evidence,
        "missing": mention.missing,
    }


def format_time(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def say_batch(metrics: "Metrics") -> None:
    counts = metrics.counts
    print_status(
        f"{counts['sources_read']:,.0f} sources read: {counts['pages_created']:,.0f} pages created, "
        f"{counts['sections_written']:,.0f} sections written"
    )


def say_job(job: dict[str, Any]) -> None:
    if job["status"] != "succeeded":
        say(f"The job {job['id']} is {job['status']}. Start a worker to run it: cairn worker")
        return
    if last := job["lastCompiled"]:
        say(f"There was no new source to compile. A worker compiled until {format_time(last['finishedAt'])}:")
    metrics = (last or job)["metrics"]
    say(f"Compiled: {format_counts(metrics)}.")
    if refused := format_refused(metrics):
        say(f"Left out of the model's answers: {refused}.")
    if proposed := job["metrics"].get("pages_proposed"):
        say(f"{proposed} page{'s' * (proposed != 1)} proposed. See them with: cairn wiki proposals")
    if total := job["held"]["total"]:
        say(
            f"{total} name{'s' * (total != 1)} without a page. A page needs evidence of 3; a mention counts 1. Closest:"
        )
        for held in job["held"]["nearest"]:
            say(f"  {held['name']} ({held['evidence']:g} of 3): {held['missing']}.")
    if job["continuesAt"]:
        say(f"The budget is used up. A worker continues at {format_time(job['continuesAt'])}.")


def format_counts(metrics: dict[str, Any]) -> str:
    return (
        f"{metrics.get('sources_read', 0)} sources, {metrics.get('pages_created', 0)} new pages, "
        f"{metrics.get('sections_written', 0)} sections, "
        f"{metrics.get('mentions_recorded', 0)} sightings of names without a page"
    )


def format_refused(metrics: dict[str, Any]) -> str:
    """Return how many parts of a model's answers were dropped, by reason, or "" for a job without a model."""
    dropped: dict[str, int] = metrics.get("dropped", {}) if metrics.get("usage", {}).get("requests") else {}
    return ", ".join(f"{times} {reason}" for reason, times in sorted(dropped.items()) if times)


def add_rebuilding(parent: typer.Typer) -> None:
    parent.command("rebuild", epilog="Example: cairn rebuild entity/austin-texas --tenant acme --owner mara --wait")(
        rebuild
    )


def rebuild(
    tenant: Tenant,
    owner: Owner,
    name: Annotated[
        str | None,
        typer.Argument(metavar="[TYPE/SLUG]", help="Type and slug of the page, such as entity/austin-texas."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Rebuild all active pages of the wiki.")] = False,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Rewrite a page from the sources that it cites. Sections without citations are unchanged, and the former text is
    kept in the history."""
    from db.scope import Role
    from resolvers.model.lookup import locate_slug
    from resolvers.sources.compile_requests import rebuild_page, rebuild_wiki

    from ...settings import Settings
    from ...worker import compiler_of
    from ..session import find_wiki, run_in_session

    if (name is None) is not everything:
        raise typer.BadParameter("give a page as TYPE/SLUG, or --all")
    type, _, slug = check_page_name(name).partition("/") if name else ("", "", "")
    compiler = compiler_of(Settings(), say_batch) if wait else None

    async def work(database: "Database") -> dict[str, Any]:
        scope = (await find_wiki(database, tenant, owner)).scope(Role.ADMIN)
        if everything:
            job_id = await rebuild_wiki(database, scope)
        else:
            job_id = await rebuild_page(database, scope, (await locate_slug(database, scope, slug, type)).page_id)
        job_ids = await run_open_jobs(database, scope, compiler) if compiler else set()
        return await sum_jobs(database, scope, [job_id, *job_ids])

    job = run_in_session(work)
    if as_json:
        print_json(job)
    elif job["status"] == "succeeded":
        metrics = job["metrics"]
        say(f"Rebuilt {metrics.get('pages_rebuilt', 0)} pages; {metrics.get('pages_updated', 0)} of them changed.")
    else:
        say(f"The job {job['id']} is {job['status']}. Start a worker to run it: cairn worker")


def add_reindex(parent: typer.Typer) -> None:
    epilog = "Example: cairn reindex, or: cairn reindex --tenant acme --owner mara --again"
    parent.command("reindex", epilog=epilog)(reindex)


def reindex(
    tenant: Annotated[
        str | None, typer.Option("--tenant", metavar="SLUG", help="Only wikis of this tenant (slug or id).")
    ] = None,
    owner: Annotated[
        str | None, typer.Option("--owner", metavar="SLUG", help="Only the wiki of this owner (slug or id).")
    ] = None,
    again: Annotated[
        bool,
        typer.Option("--again", help="Index everything again, including pages and sources that are already indexed."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Index new pages and sources for search. Works on all wikis, or on those of a tenant or an owner.

    The service can run meanwhile. The command can be interrupted and run again.
    """
    if owner and not tenant:
        raise typer.BadParameter("an owner needs a tenant: add --tenant SLUG")
    from ..indexes import find_unindexed, format_counts, index_wikis
    from ..session import run_in_session

    async def work(database: "Database") -> "Reindexed":
        return await index_wikis(
            database, await find_unindexed(database, tenant, owner, everything=again), everything=again
        )

    result = run_in_session(work)
    if as_json:
        print_json(result._asdict())
    elif result.wikis:
        say(f"Indexed {format_counts(result.pages, result.sources, result.wikis)} in {result.seconds:,} s.")
    else:
        say("Every page and source is already indexed. To index them again, run: cairn reindex --again")


def add_worker(parent: typer.Typer) -> None:
    parent.command("worker", epilog="Example: cairn worker")(worker)


def worker(
    port: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, max=65535, help="Port on which to serve /healthz, /readyz and /metrics."),
    ] = None,
) -> None:
    """Run a worker for the job queue until Ctrl-C or SIGTERM. Several workers can run at once; each wiki is compiled
    by one of them at a time.

    It waits until Postgres is available and migrated.
    """
    import asyncio
    import signal

    from ...observability.logging import configure
    from ...server.serve import serve
    from ...settings import Settings
    from ...worker import worker_app
    from ..session import ready_database

    settings = Settings()

    def run(dsn: str) -> None:
        app = worker_app(settings, dsn=dsn)
        if port is None:
            configure(settings)
            asyncio.run(until_stopped(app))
        else:
            said = "Waiting for compile jobs; health at"
            serve(
                settings.model_copy(update={"port": port}), dsn, lambda url: print_status(f"{said} {url}/readyz"), app
            )

    async def until_stopped(app: Any) -> None:
        stopped = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stopped.set)
        async with app.router.lifespan_context(app):
            print_status("Waiting for compile jobs")
            await stopped.wait()

    if settings.database_url is not None:
        run(settings.database_url)
    else:
        with ready_database(settings, creates=True) as dsn:
            run(dsn)
    print_status("The worker has stopped. Other workers take over its unfinished jobs.")


def add_to(parent: typer.Typer) -> None:
    add_compiling(parent)
    add_rebuilding(parent)
    add_reindex(parent)
    add_worker(parent)
