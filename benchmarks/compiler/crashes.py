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

from .costs import compiled, usual
from .database import new_wiki, opened, retain, served
from .notes import notes
from .rows import Rows, differences, rows
from .workers import killed, started

BATCH = 20  # sources: small batches, so that many kills happen between two batches
RECLAIM = """
    UPDATE compile_jobs SET heartbeat_at = created_at - interval '1 hour', attempt = 0 WHERE status = 'running'"""
OPEN = "SELECT count(*) FROM compile_jobs WHERE status IN ('pending', 'running')"
RUNNING = "SELECT count(*) FROM compile_jobs WHERE status = 'running'"
PAGES = "SELECT id FROM pages WHERE tenant_id = $1 AND owner_id = $2 ORDER BY created_at, id"
SOURCES = "SELECT id FROM sources WHERE tenant_id = $1 AND owner_id = $2 ORDER BY captured_at, ref"
say = Console(stderr=True)


class Errand(StrEnum):
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
    errand: Annotated[Errand, typer.Option("--of", help="The kind of job that is interrupted.")] = Errand.COMPILE,
) -> None:
    """Kill workers with SIGKILL while they compile, sweep, rebuild or forget.

    The wiki is compared, row by row, with a wiki whose workers were not disturbed.
    """
    with served() as dsn:
        uvloop.run(struck_until(dsn, kills, sources, seed, longest, errand))


async def struck_until(dsn: str, kills: int, sources: int, seed: int, longest: float, errand: Errand) -> None:
    database, struck, wikis = await opened(dsn), 0, 0
    try:
        with Progress(console=say, disable=not say.is_terminal) as bars:
            task = bars.add_task("Killing", total=kills)
            while struck < kills:
                number = seed + wikis
                calm, wild, hit = await compared(database, number, sources, kills - struck, longest, errand)
                if found := differences(calm, wild):
                    say.print(f"Seed {number}:", *found, sep="\n", style="red")
                    raise typer.Exit(1)
                struck, wikis = struck + hit, wikis + 1
                bars.update(task, completed=struck)
                count = sum(map(len, calm.values()))
                print(f"seed {number}: {hit} workers killed at work; {count:,} rows are the same", flush=True)
        print(f"{struck} workers killed in {wikis} wikis of {sources} sources: all rows are as without kills.")
    finally:
        await database.close()


async def compared(
    database: Database, seed: int, sources: int, kills: int, longest: float, errand: Errand = Errand.COMPILE
) -> tuple[Rows, Rows, int]:
    """Return the rows of an undisturbed wiki, those of a wiki with kills, and how many workers were killed in a job."""
    drafts = notes(sources, seed)
    calm = await new_wiki(database, f"calm-{seed}", "mara")
    await READY[errand](database, calm, drafts)
    await compiled(database, usual(caps=CAPS._replace(batch=BATCH)))
    expected = await rows(database.dsn, calm)
    wild = await new_wiki(database, f"wild-{seed}", "mara")
    await READY[errand](database, wild, drafts)
    struck = await kill(database, random.Random(seed), kills, longest)
    await compiled(database, usual(caps=CAPS._replace(batch=BATCH)))
    return expected, await rows(database.dsn, wild), struck


async def to_be_swept(database: Database, wiki: Scope, drafts: Sequence[SourceDraft]) -> None:
    """Prepare a sweep: a compiled wiki with one mention for every four sources, each sighted in three consecutive
    sources."""
    await whole(database, wiki, drafts)
    await set_compiling(database, wiki.tenant_id, compiling=False)
    sources = await ids(database, wiki, SOURCES)
    for n in range(0, len(sources) - 3, 4):
        for number, source_id in enumerate(sources[n : n + 3]):
            said = {"name": f"Cook Number {n}", "quote": f"Cook Number {n} was seen ({number})."}
            await record_mention(database, wiki, source_id=source_id, **said)
    await sweep(database, wiki)


async def to_be_rebuilt(database: Database, wiki: Scope, drafts: Sequence[SourceDraft]) -> None:
    """Prepare a rebuild: a compiled wiki in which people edited every third page, with text that no source supports."""
    await whole(database, wiki, drafts)
    for page_id in (await ids(database, wiki, PAGES))[::3]:
        await update_page(database, wiki, page_id, summary="By hand.", body="## Notes\n\nNobody said this.")
    await rebuild_wiki(database, wiki)


async def to_be_forgotten(database: Database, wiki: Scope, drafts: Sequence[SourceDraft]) -> None:
    """Prepare forgetting: request to forget every seventh source of a compiled wiki."""
    await whole(database, wiki, drafts)
    for source_id in (await ids(database, wiki, SOURCES))[3::7]:
        await forget_source(database, wiki, source_id)


async def whole(database: Database, wiki: Scope, drafts: Sequence[SourceDraft]) -> None:
    await retain(database, wiki, drafts)
    await compiled(database, usual(caps=CAPS._replace(batch=BATCH)))


async def ids(database: Database, wiki: Scope, statement: str) -> list[UUID]:
    look = await asyncpg.connect(database.dsn)
    try:
        return [row["id"] for row in await look.fetch(statement, wiki.tenant_id, wiki.owner_id)]
    finally:
        await look.close()


READY: Mapping[Errand, Callable[[Database, Scope, Sequence[SourceDraft]], Awaitable[None]]] = {
    Errand.COMPILE: retain,
    Errand.SWEEP: to_be_swept,
    Errand.REBUILD: to_be_rebuilt,
    Errand.FORGET: to_be_forgotten,
}
"""The functions that create a job of each kind in a wiki."""


async def kill(database: Database, chance: random.Random, kills: int, longest: float) -> int:
    """Run one worker after the other, and kill each at a random moment, until no job is open or `kills` had a job."""
    look, struck = await asyncpg.connect(database.dsn), 0
    try:
        while struck < kills and await look.fetchval(OPEN):
            process = started(database.dsn, BATCH)
            while await look.fetchval(OPEN) and not await look.fetchval(RUNNING):
                await asyncio.sleep(0.005)
            await asyncio.sleep(chance.random() * longest)
            await killed(process)
            struck += await look.fetchval(RUNNING)
            await look.execute(RECLAIM)
        return struck
    finally:
        await look.close()
