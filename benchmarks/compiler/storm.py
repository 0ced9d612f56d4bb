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
from .costs import NAME, look_at_tables
from .database import another_wiki, new_wiki, opened, retain, served
from .notes import load
from .workers import working

WIKIS = 10  # wikis of one tenant
LOOK = 0.1  # seconds between two checks of the ledger
OPEN = "SELECT count(*) FROM compile_jobs WHERE status IN ('pending', 'running')"
READ = "SELECT coalesce(sum((metrics ->> 'sources_read')::numeric), 0)::int FROM compile_jobs"
TWICE = """SELECT count(*) FROM (
    SELECT FROM compile_jobs WHERE status = 'running' GROUP BY tenant_id, owner_id HAVING count(*) > 1) AS twice"""
JOBS = """SELECT tenant_id, owner_id, status, attempt, created_at, started_at, finished_at FROM compile_jobs
    ORDER BY created_at"""
APPLIED = """SELECT owner_id, sum((detail ->> 'sources')::int)::int AS sources FROM activity
    WHERE action = 'wiki.compiled' GROUP BY 1"""
KEPT = "SELECT owner_id, count(*)::int AS sources FROM sources GROUP BY 1"
BEHIND = """SELECT count(*) FROM sources AS s WHERE NOT EXISTS (
    SELECT FROM compile_cursors AS c WHERE c.tenant_id = s.tenant_id AND c.owner_id = s.owner_id
      AND (c.source_at, c.source_id) >= (s.created_at, s.id))"""
say = Console(stderr=True)


@dataclass(slots=True)
class Weather:
    """The result of a run. `overtaken` is the greatest number of later jobs that began before one job."""

    wikis: int
    sources: int
    workers: int
    jobs: int = 0
    seconds: float = 0.0
    processor: float = 0.0
    longest_wait: float = 0.0
    overtaken: int = 0
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.wikis} wikis, {self.sources:,} sources, {self.workers} workers: {self.jobs} jobs in "
            f"{self.seconds:.1f} s, {self.sources / self.seconds:,.0f} sources/s; "
            f"{1000 * self.processor / self.sources:.2f} ms of CPU per source.\n"
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
    with served() as dsn:
        weather = uvloop.run(weathered(dsn, workers, scopes, sources, seed))
    print(weather)
    if weather.faults:
        say.print(*weather.faults, sep="\n", style="red")
        raise typer.Exit(1)
    print("Each wiki had at most one job at a time; no source was lost or read twice.")


async def weathered(dsn: str, workers: int, scopes: int, sources: int, seed: int = 1) -> Weather:
    database = await opened(dsn)
    weather = Weather(scopes, sources, workers)
    try:
        with Progress(console=say, disable=not say.is_terminal) as bars:
            await filled(database, sources, scopes, seed, bars)
            await look_at_tables(dsn)
            await blown(dsn, weather, bars)
    finally:
        await database.close()
    return weather


async def filled(database: Database, sources: int, scopes: int, seed: int, bars: Progress) -> None:
    task, tenant = bars.add_task("Retaining", total=sources), None
    for number, drafts in load(sources, scopes, seed):
        scope = await next_wiki(database, tenant, number)
        tenant = scope
        await retain(database, scope, drafts, lambda n: bars.advance(task, n))


async def next_wiki(database: Database, last: Scope | None, number: int) -> Scope:
    if last is None or number % WIKIS == 0:
        return await new_wiki(database, f"tenant-{number // WIKIS}", f"owner-{number}")
    return await another_wiki(database, last, f"owner-{number}")


async def blown(dsn: str, weather: Weather, bars: Progress) -> None:
    """Start the workers, and check the ledger at intervals until no job is open."""
    task, look = bars.add_task("Compiling", total=weather.sources), await asyncpg.connect(dsn)
    began = time.perf_counter()
    try:
        with working(dsn, weather.workers) as processes:
            while await look.fetchval(OPEN):
                if await look.fetchval(TWICE):
                    weather.faults.append("Two jobs of one wiki ran at the same time.")
                bars.update(task, completed=await look.fetchval(READ))
                await asyncio.sleep(LOOK)
                if not any(process.is_alive() for process in processes):
                    weather.faults.append("All workers have ended.")
                    break
            weather.seconds = time.perf_counter() - began
            pids = [process.pid for process in processes if process.pid and process.is_alive()]
            weather.processor = cpu_seconds([*pids, *await backends(dsn, NAME)])
        await judge(look, weather)
    finally:
        await look.close()


async def judge(look: asyncpg.Connection, weather: Weather) -> None:
    """Check the ledger, the log of compiled sources, and the cursors."""
    jobs = [dict(row) for row in await look.fetch(JOBS)]
    weather.jobs = len(jobs)
    if states := Counter(job["status"] for job in jobs if job["status"] != "succeeded"):
        weather.faults.append(f"Jobs did not succeed: {dict(states)}")
    if overlapping(jobs):
        weather.faults.append("Jobs of one wiki overlapped.")
    if behind := await look.fetchval(BEHIND):
        weather.faults.append(f"{behind} sources were lost.")
    applied, kept = await by_wiki(look, APPLIED), await by_wiki(look, KEPT)
    if applied != kept:
        wrong = [f"{applied.get(id, 0)} of {count}" for id, count in kept.items() if applied.get(id) != count]
        weather.faults.append(f"Sources were not read once each: {', '.join(wrong[:5])}")
    begun = [job for job in jobs if job["started_at"]]
    weather.longest_wait = max(((job["started_at"] - job["created_at"]).total_seconds() for job in begun), default=0)
    weather.overtaken = most_overtaken(begun)


async def by_wiki(look: asyncpg.Connection, sql: str) -> dict[UUID, int]:
    return {row["owner_id"]: row["sources"] for row in await look.fetch(sql)}


def overlapping(jobs: list[dict[str, Any]]) -> bool:
    ends: dict[Any, Any] = {}
    for job in sorted((job for job in jobs if job["finished_at"]), key=lambda job: job["started_at"]):
        wiki = job["tenant_id"], job["owner_id"]
        if wiki in ends and job["started_at"] < ends[wiki]:
            return True
        ends[wiki] = job["finished_at"]
    return False


def most_overtaken(jobs: list[dict[str, Any]]) -> int:
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
