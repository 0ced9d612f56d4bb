"""Compares the cost of compiling a source in a small and in a large wiki of one database; the wikis take turns."""

from collections.abc import Callable, Sequence
from typing import Annotated

import typer
import uvloop
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from db.database import Database
from db.scope import Scope
from resolvers.sources.sources import SourceDraft

from ..wikis import Wiki, wiki, write_wikis
from .costs import Cost, analyse_tables, default_compiler, run_jobs, watch_database
from .database import open_database, retain, temporary_server, tenant_admin
from .notes import notes

SMALL = 100  # pages
PART = 50  # sources that each wiki compiles per turn
GOAL = 1.5
stderr = Console(stderr=True)


def sizes(
    pages: Annotated[int, typer.Option(min=SMALL, help="Pages of the large wiki; the small one has 100.")] = 20_000,
    sources: Annotated[int, typer.Option(min=PART, help="New sources in each wiki.")] = 600,
    seed: Annotated[int, typer.Option(help="The same seed gives the same sources.")] = 1,
) -> None:
    """Fail if compiling a source costs over 1.5 times as much in the large wiki as in the small one."""
    with temporary_server() as dsn:
        small, large = uvloop.run(measure_wikis(dsn, pages, sources, seed))
    table = Table("a wiki of", "Python ms", "Postgres ms", "together", "statements")
    for size, cost in ((SMALL, small), (pages, large)):
        table.add_row(
            f"{size:,} pages",
            f"{1000 * cost.python / cost.sources:.2f}",
            f"{1000 * cost.postgres / cost.sources:.2f}",
            f"{cost.per_source:.2f}",
            f"{cost.statements / cost.sources:.1f}",
        )
    ratio = large.per_source / small.per_source
    Console().print(table, f"{ratio:.2f} times as much; the goal is at most {GOAL}.")
    if ratio > GOAL:
        raise typer.Exit(1)


async def measure_wikis(dsn: str, pages: int, sources: int, seed: int) -> tuple[Cost, Cost]:
    database = await open_database(dsn)
    wikis = [wiki(1, 1, SMALL), wiki(2, 2, pages)]
    try:
        with Progress(console=stderr, disable=not stderr.is_terminal) as bars:
            written = bars.add_task("Writing wikis", total=len(wikis))
            await write_wikis(dsn, wikis, lambda _: bars.advance(written))
            task = bars.add_task("Compiling", total=sources)
            return await compile_in_turn(database, wikis, sources, seed, lambda n: bars.advance(task, n))
    finally:
        await database.close()


async def compile_in_turn(
    database: Database, wikis: list[Wiki], sources: int, seed: int, report_progress: Callable[[int], object]
) -> tuple[Cost, Cost]:
    """Compile a batch in each wiki in turn, so that other work on the machine slows both equally."""
    drafts, watch = notes(sources, seed), await watch_database(database)
    costs = [Cost() for _ in wikis]
    for target in wikis:  # the first batch reads the existing pages, so it is not measured
        await compile_drafts(database, target, notes(PART, seed + 1, languages=("en",)))
    for start in range(0, sources, PART):
        part = drafts[start : start + PART]
        for target, cost in zip(wikis, costs, strict=True):
            await retain(database, scope_of(target), part)
            watch.start()
            await run_jobs(database, default_compiler())
            cost.add(watch.stop(len(part)))
        if start % (PART * 4) == 0:
            await analyse_tables(database.dsn)
        report_progress(len(part))
    return costs[0], costs[1]


async def compile_drafts(database: Database, target: Wiki, drafts: Sequence[SourceDraft]) -> None:
    await retain(database, scope_of(target), drafts)
    await run_jobs(database, default_compiler())


def scope_of(target: Wiki) -> Scope:
    return tenant_admin(target.tenant_id).in_owner(target.owner_id)
