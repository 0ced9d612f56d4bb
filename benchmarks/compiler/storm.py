"""Compiles many wikis with many workers at once, then checks the job ledger, the activity log and the cursors."""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Annotated, Any
from uuid import UUID

import asyncpg
import typer
import uvloop
from rich.console import Console
from rich.progress import Progress

from db.database import Database
from db.scope import Scope

from ..processes import backends, cpu_seconds
from .costs import CONNECTION_NAME, analyse_tables
from .database import add_wiki, new_wiki, open_database, retain, temporary_server
from .notes import sources_by_scope
from .workers import running_workers

WIKIS = 10  # wikis of one tenant
CHECK_INTERVAL = 0.1  # seconds between two checks of the ledger
OPEN_JOBS = "SELECT count(*) FROM compile_jobs WHERE status IN ('pending', 'running')"
SOURCES_READ = "SELECT coalesce(sum((metrics ->> 'sources_read')::numeric), 0)::int FROM compile_jobs"
CONCURRENT_JOBS = """SELECT count(*) FROM (
    SELECT FROM compile_jobs WHERE status = 'running' GROUP BY tenant_id, owner_id HAVING count(*) > 1) AS twice"""
JOBS = """SELECT tenant_id, owner_id, status, attempt, created_at, started_at, finished_at FROM compile_jobs
    ORDER BY created_at"""
APPLIED = """SELECT owner_id, sum((detail ->> 'sources')::int)::int AS sources FROM activity
    WHERE action = 'wiki.compiled' GROUP BY 1"""
RETAINED = "SELECT owner_id, count(*)::int AS sources FROM sources GROUP BY 1"
UNREAD = """SELECT count(*) FROM sources AS s WHERE NOT EXISTS (
    SELECT FROM compile_cursors AS c WHERE c.tenant_id = s.tenant_id AND c.owner_id = s.owner_id
      AND (c.source_at, c.source_id) >= (s.created_at, s.id))"""
stderr = Console(stderr=True)


@dataclass(slots=True)
class StormResult:
    """The result of a run. `overtaken` is the greatest number of later jobs that began before one job."""

    wikis: int
    sources: int
    workers: int
    jobs: int = 0
    seconds: float = 0.0
    cpu_seconds_used: float = 0.0
    longest_wait: float = 0.0
    overtaken: int = 0
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.wikis} wikis, {self.sources:,} sources, {self.workers} workers: {self.jobs} jobs in "
            f"{self.seconds:.1f} s, {self.sources / self.seconds:,.0f} sources/s; "
            f"{1000 * self.cpu_seconds_used / self.sources:.2f} ms of CPU per source.\n"
            f"A job waited up to {self.longest_wait:.1f} s, and at most {self.overtaken} later jobs began before it."
        )


def storm(
    workers: Annotated[int, typer.Option(min=1, help="Worker processes.")] = 8,
    scopes: Annotated[int, typer.Option(min=1, help="Wikis, ten of them in each tenant.")] = 200,
    sources: Annotated[int, typer.Option(min=1, help="Sources of all wikis together.")] = 20_000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same sources.")] = 1,
) -> None:
    """Check that one worker at a time compiles each wiki, that no source is lost or read twice, and that no job
    starves."""
    with temporary_server() as dsn:
        result = uvloop.run(run_storm(dsn, workers, scopes, sources, seed))
    print(result)
    if result.faults:
        stderr.print(*result.faults, sep="\n", style="red")
        raise typer.Exit(1)
    print("Each wiki had at most one job at a time; no source was lost or read twice.")


async def run_storm(dsn: str, workers: int, scopes: int, sources: int, seed: int = 1) -> StormResult:
    database = await open_database(dsn)
    result = StormResult(scopes, sources, workers)
    try:
        with Progress(console=stderr, disable=not stderr.is_terminal) as bars:
            await fill_wikis(database, sources, scopes, seed, bars)
            await analyse_tables(dsn)
            await run_workers(dsn, result, bars)
    finally:
        await database.close()
    return result


async def fill_wikis(database: Database, sources: int, scopes: int, seed: int, bars: Progress) -> None:
    task, tenant = bars.add_task("Retaining", total=sources), None
    for number, drafts in sources_by_scope(sources, scopes, seed):
        scope = await next_wiki(database, tenant, number)
        tenant = scope
        await retain(database, scope, drafts, lambda n: bars.advance(task, n))


async def next_wiki(database: Database, last: Scope | None, number: int) -> Scope:
    if last is None or number % WIKIS == 0:
        return await new_wiki(database, f"tenant-{number // WIKIS}", f"owner-{number}")
    return await add_wiki(database, last, f"owner-{number}")


async def run_workers(dsn: str, result: StormResult, bars: Progress) -> None:
    """Start the workers, and check the ledger at intervals until no job is open."""
    task, connection = bars.add_task("Compiling", total=result.sources), await asyncpg.connect(dsn)
    began = time.perf_counter()
    try:
        with running_workers(dsn, result.workers) as processes:
            while await connection.fetchval(OPEN_JOBS):
                if await connection.fetchval(CONCURRENT_JOBS):
                    result.faults.append("Two jobs of one wiki ran at the same time.")
                bars.update(task, completed=await connection.fetchval(SOURCES_READ))
                await asyncio.sleep(CHECK_INTERVAL)
                if not any(process.is_alive() for process in processes):
                    result.faults.append("All workers have ended.")
                    break
            result.seconds = time.perf_counter() - began
            pids = [process.pid for process in processes if process.pid and process.is_alive()]
            result.cpu_seconds_used = cpu_seconds([*pids, *await backends(dsn, CONNECTION_NAME)])
        await check_result(connection, result)
    finally:
        await connection.close()


async def check_result(connection: asyncpg.Connection, result: StormResult) -> None:
    """Check the ledger, the log of compiled sources, and the cursors."""
    jobs = [dict(row) for row in await connection.fetch(JOBS)]
    result.jobs = len(jobs)
    if states := Counter(job["status"] for job in jobs if job["status"] != "succeeded"):
        result.faults.append(f"Jobs did not succeed: {dict(states)}")
    if have_overlap(jobs):
        result.faults.append("Jobs of one wiki overlapped.")
    if unread := await connection.fetchval(UNREAD):
        result.faults.append(f"{unread} sources were lost.")
    applied, retained = await by_wiki(connection, APPLIED), await by_wiki(connection, RETAINED)
    if applied != retained:
        wrong = [f"{applied.get(id, 0)} of {count}" for id, count in retained.items() if applied.get(id) != count]
        result.faults.append(f"Sources were not read once each: {', '.join(wrong[:5])}")
    started_jobs = [job for job in jobs if job["started_at"]]
    result.longest_wait = max(
        ((job["started_at"] - job["created_at"]).total_seconds() for job in started_jobs), default=0
    )
    result.overtaken = max_overtaken(started_jobs)


async def by_wiki(connection: asyncpg.Connection, sql: str) -> dict[UUID, int]:
    return {row["owner_id"]: row["sources"] for row in await connection.fetch(sql)}


def have_overlap(jobs: list[dict[str, Any]]) -> bool:
    ends: dict[Any, Any] = {}
    for job in sorted((job for job in jobs if job["finished_at"]), key=lambda job: job["started_at"]):
        wiki = job["tenant_id"], job["owner_id"]
        if wiki in ends and job["started_at"] < ends[wiki]:
            return True
        ends[wiki] = job["finished_at"]
    return False


def max_overtaken(jobs: list[dict[str, Any]]) -> int:
    """Return the greatest number of later jobs of other wikis that began before one job."""
    return max(
        (
            sum(
                other["created_at"] > job["created_at"] and other["started_at"] < job["started_at"]
                for other in jobs
                if other["owner_id"] != job["owner_id"]
            )
            for job in jobs
        ),
        default=0,
    )
