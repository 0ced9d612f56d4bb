"""Kills workers at random moments, and checks that the wiki has the same rows as one whose workers were not killed.

rows.py defines which columns are compared.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated
from uuid import UUID

import asyncpg
import typer
import uvloop
from rich.console import Console
from rich.progress import Progress

from compiler.compiler import CAPS
from db.database import Database
from db.scope import Scope
from resolvers.pages.lifecycle import update_page
from resolvers.sources.compile_requests import rebuild_wiki, sweep
from resolvers.sources.mentions import record_mention
from resolvers.sources.sources import SourceDraft, forget_source
from resolvers.tenants.tenants import set_compiling

from .costs import default_compiler, run_jobs
from .database import new_wiki, open_database, retain, temporary_server
from .notes import notes
from .rows import Rows, differences, rows
from .workers import kill_worker, start_worker

BATCH = 20  # sources: small batches, so that many kills happen between two batches
RECLAIM = """
    UPDATE compile_jobs SET heartbeat_at = created_at - interval '1 hour', attempt = 0 WHERE status = 'running'"""
OPEN_JOBS = "SELECT count(*) FROM compile_jobs WHERE status IN ('pending', 'running')"
RUNNING_JOBS = "SELECT count(*) FROM compile_jobs WHERE status = 'running'"
PAGES = "SELECT id FROM pages WHERE tenant_id = $1 AND owner_id = $2 ORDER BY created_at, id"
SOURCES = "SELECT id FROM sources WHERE tenant_id = $1 AND owner_id = $2 ORDER BY captured_at, ref"
stderr = Console(stderr=True)


class JobKind(StrEnum):
    """The kind of job during which workers are killed."""

    COMPILE = "compile"
    SWEEP = "sweep"
    REBUILD = "rebuild"
    FORGET = "forget"


def crashes(
    kills: Annotated[int, typer.Option(min=1, help="Workers that are killed while they have a job.")] = 200,
    sources: Annotated[int, typer.Option(min=10, help="Sources of each wiki.")] = 400,
    seed: Annotated[int, typer.Option(help="The same seed gives the same sources and moments.")] = 1,
    longest: Annotated[float, typer.Option(min=0.01, help="Maximum of seconds before a worker is killed.")] = 0.5,
    job_kind: Annotated[JobKind, typer.Option("--of", help="The kind of job that is interrupted.")] = JobKind.COMPILE,
) -> None:
    """Kill workers with SIGKILL while they compile, sweep, rebuild or forget.

    The wiki is compared, row by row, with a wiki whose workers were not disturbed.
    """
    with temporary_server() as dsn:
        uvloop.run(kill_in_wikis(dsn, kills, sources, seed, longest, job_kind))


async def kill_in_wikis(dsn: str, kills: int, sources: int, seed: int, longest: float, job_kind: JobKind) -> None:
    database, killed_count, wikis = await open_database(dsn), 0, 0
    try:
        with Progress(console=stderr, disable=not stderr.is_terminal) as bars:
            task = bars.add_task("Killing", total=kills)
            while killed_count < kills:
                number = seed + wikis
                undisturbed, disturbed, kills_in_wiki = await compare_wikis(
                    database, number, sources, kills - killed_count, longest, job_kind
                )
                if found := differences(undisturbed, disturbed):
                    stderr.print(f"Seed {number}:", *found, sep="\n", style="red")
                    raise typer.Exit(1)
                killed_count, wikis = killed_count + kills_in_wiki, wikis + 1
                bars.update(task, completed=killed_count)
                count = sum(map(len, undisturbed.values()))
                print(f"seed {number}: {kills_in_wiki} workers killed at work; {count:,} rows are the same", flush=True)
        print(f"{killed_count} workers killed in {wikis} wikis of {sources} sources: all rows are as without kills.")
    finally:
        await database.close()


async def compare_wikis(
    database: Database, seed: int, sources: int, kills: int, longest: float, job_kind: JobKind = JobKind.COMPILE
) -> tuple[Rows, Rows, int]:
    """Return the rows of an undisturbed wiki, those of a wiki with kills, and how many workers were killed in a job."""
    drafts = notes(sources, seed)
    undisturbed = await new_wiki(database, f"calm-{seed}", "mara")
    await PREPARE[job_kind](database, undisturbed, drafts)
    await run_jobs(database, default_compiler(caps=CAPS._replace(batch=BATCH)))
    expected = await rows(database.dsn, undisturbed)
    disturbed = await new_wiki(database, f"wild-{seed}", "mara")
    await PREPARE[job_kind](database, disturbed, drafts)
    killed_count = await kill_workers(database, random.Random(seed), kills, longest)
    await run_jobs(database, default_compiler(caps=CAPS._replace(batch=BATCH)))
    return expected, await rows(database.dsn, disturbed), killed_count


async def prepare_sweep(database: Database, wiki: Scope, drafts: Sequence[SourceDraft]) -> None:
    """Prepare a sweep: a compiled wiki with one mention for every four sources, each sighted in three consecutive
    sources."""
    await compile_drafts(database, wiki, drafts)
    await set_compiling(database, wiki.tenant_id, compiling=False)
    sources = await fetch_ids(database, wiki, SOURCES)
    for n in range(0, len(sources) - 3, 4):
        for number, source_id in enumerate(sources[n : n + 3]):
            sighting = {"name": f"Cook Number {n}", "quote": f"Cook Number {n} was seen ({number})."}
            await record_mention(database, wiki, source_id=source_id, **sighting)
    await sweep(database, wiki)


async def prepare_rebuild(database: Database, wiki: Scope, drafts: Sequence[SourceDraft]) -> None:
    """Prepare a rebuild: a compiled wiki in which people edited every third page, with text that no source supports."""
    await compile_drafts(database, wiki, drafts)
    for page_id in (await fetch_ids(database, wiki, PAGES))[::3]:
        await update_page(database, wiki, page_id, summary="By hand.", body="## Notes\n\nNobody said this.")
    await rebuild_wiki(database, wiki)


async def prepare_forgetting(database: Database, wiki: Scope, drafts: Sequence[SourceDraft]) -> None:
    """Prepare forgetting: request to forget every seventh source of a compiled wiki."""
    await compile_drafts(database, wiki, drafts)
    for source_id in (await fetch_ids(database, wiki, SOURCES))[3::7]:
        await forget_source(database, wiki, source_id)


async def compile_drafts(database: Database, wiki: Scope, drafts: Sequence[SourceDraft]) -> None:
    await retain(database, wiki, drafts)
    await run_jobs(database, default_compiler(caps=CAPS._replace(batch=BATCH)))


async def fetch_ids(database: Database, wiki: Scope, statement: str) -> list[UUID]:
    connection = await asyncpg.connect(database.dsn)
    try:
        return [row["id"] for row in await connection.fetch(statement, wiki.tenant_id, wiki.owner_id)]
    finally:
        await connection.close()


PREPARE: Mapping[JobKind, Callable[[Database, Scope, Sequence[SourceDraft]], Awaitable[None]]] = {
    JobKind.COMPILE: retain,
    JobKind.SWEEP: prepare_sweep,
    JobKind.REBUILD: prepare_rebuild,
    JobKind.FORGET: prepare_forgetting,
}
"""The functions that create a job of each kind in a wiki."""


async def kill_workers(database: Database, rng: random.Random, kills: int, longest: float) -> int:
    """Run one worker after the other, and kill each at a random moment, until no job is open or `kills` had a job."""
    connection, killed_count = await asyncpg.connect(database.dsn), 0
    try:
        while killed_count < kills and await connection.fetchval(OPEN_JOBS):
            process = start_worker(database.dsn, BATCH)
            while await connection.fetchval(OPEN_JOBS) and not await connection.fetchval(RUNNING_JOBS):
                await asyncio.sleep(0.005)
            await asyncio.sleep(rng.random() * longest)
            await kill_worker(process)
            killed_count += await connection.fetchval(RUNNING_JOBS)
            await connection.execute(RECLAIM)
        return killed_count
    finally:
        await connection.close()
