"""Workers that are killed at random moments, again and again: the wiki must be that of one who was left in peace.

How rows are compared says rows.py.
"""

import asyncio
import random
from typing import Annotated

import asyncpg
import typer
import uvloop
from rich.console import Console
from rich.progress import Progress

from compiler.leaf_pass import CAPS
from db.database import Database

from .costs import compiled, usual
from .database import new_wiki, opened, retain, served
from .notes import notes
from .rows import Rows, differences, rows
from .workers import killed, started

BATCH = 20  # sources: many batches, so that many moments lie between two of them
RECLAIM = """
    UPDATE compile_jobs SET heartbeat_at = created_at - interval '1 hour', attempt = 0 WHERE status = 'running'"""
OPEN = "SELECT count(*) FROM compile_jobs WHERE status IN ('pending', 'running')"
RUNNING = "SELECT count(*) FROM compile_jobs WHERE status = 'running'"
say = Console(stderr=True)


def crashes(
    kills: Annotated[int, typer.Option(min=1, help="Workers that are killed while they have a job.")] = 200,
    sources: Annotated[int, typer.Option(min=10, help="Of each wiki.")] = 400,
    seed: Annotated[int, typer.Option(help="The same number, the same sources and moments.")] = 1,
    longest: Annotated[float, typer.Option(min=0.01, help="Seconds that a worker is at work, at most.")] = 0.5,
) -> None:
    """Workers are killed with SIGKILL while they compile; the wiki is compared, row by row, with an undisturbed one."""
    with served() as dsn:
        uvloop.run(struck_until(dsn, kills, sources, seed, longest))


async def struck_until(dsn: str, kills: int, sources: int, seed: int, longest: float) -> None:
    database, struck, wikis = await opened(dsn), 0, 0
    try:
        with Progress(console=say, disable=not say.is_terminal) as bars:
            task = bars.add_task("Killing", total=kills)
            while struck < kills:
                number = seed + wikis
                calm, wild, hit = await compared(database, number, sources, kills - struck, longest)
                if found := differences(calm, wild):
                    say.print(f"Seed {number}:", *found, sep="\n", style="red")
                    raise typer.Exit(1)
                struck, wikis = struck + hit, wikis + 1
                bars.update(task, completed=struck)
                count = sum(map(len, calm.values()))
                print(f"seed {number}: {hit} workers killed at work; {count:,} rows are the same", flush=True)
        print(
            f"{struck} workers killed in {wikis} wikis of {sources} sources: every wiki is as if there had been none."
        )
    finally:
        await database.close()


async def compared(database: Database, seed: int, sources: int, kills: int, longest: float) -> tuple[Rows, Rows, int]:
    """The rows of an undisturbed wiki, those of one with kills, and how many workers were killed at work."""
    drafts = notes(sources, seed)
    calm = await new_wiki(database, f"calm-{seed}", "mara")
    await retain(database, calm, drafts)
    await compiled(database, usual(caps=CAPS._replace(batch=BATCH)))
    expected = await rows(database.dsn, calm)
    wild = await new_wiki(database, f"wild-{seed}", "mara")
    await retain(database, wild, drafts)
    struck = await kill(database, random.Random(seed), kills, longest)
    await compiled(database, usual(caps=CAPS._replace(batch=BATCH)))
    return expected, await rows(database.dsn, wild), struck


async def kill(database: Database, chance: random.Random, kills: int, longest: float) -> int:
    """One worker after the other, until nothing is left to do or enough of them were killed at work."""
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
