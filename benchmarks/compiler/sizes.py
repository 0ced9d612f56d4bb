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
from .costs import Cost, compiled, look_at_tables, usual, watching
from .database import member, opened, retain, served
from .notes import notes

SMALL = 100  # pages
PART = 50  # sources that each wiki compiles per turn
GOAL = 1.5
say = Console(stderr=True)


def sizes(
    pages: Annotated[int, typer.Option(min=SMALL, help="Pages of the large wiki; the small one has 100.")] = 20_000,
    sources: Annotated[int, typer.Option(min=PART, help="New sources in each wiki.")] = 600,
    seed: Annotated[int, typer.Option(help="The same seed gives the same sources.")] = 1,
) -> None:
    """Fail if compiling a source costs over 1.5 times as much in the large wiki as in the small one."""
    with served() as dsn:
        small, large = uvloop.run(measured(dsn, pages, sources, seed))
    table = Table("a wiki of", "Python ms", "Postgres ms", "together", "statements")
    for size, one in ((SMALL, small), (pages, large)):
        table.add_row(
            f"{size:,} pages",
            f"{1000 * one.python / one.sources:.2f}",
            f"{1000 * one.postgres / one.sources:.2f}",
            f"{one.per_source:.2f}",
            f"{one.statements / one.sources:.1f}",
        )
    ratio = large.per_source / small.per_source
    Console().print(table, f"{ratio:.2f} times as much; the goal is at most {GOAL}.")
    if ratio > GOAL:
        raise typer.Exit(1)


async def measured(dsn: str, pages: int, sources: int, seed: int) -> tuple[Cost, Cost]:
    database = await opened(dsn)
    wikis = [wiki(1, 1, SMALL), wiki(2, 2, pages)]
    try:
        with Progress(console=say, disable=not say.is_terminal) as bars:
            written = bars.add_task("Writing wikis", total=len(wikis))
            await write_wikis(dsn, wikis, lambda _: bars.advance(written))
            task = bars.add_task("Compiling", total=sources)
            return await in_turn(database, wikis, sources, seed, lambda n: bars.advance(task, n))
    finally:
        await database.close()


async def in_turn(
    database: Database, wikis: list[Wiki], sources: int, seed: int, told: Callable[[int], object]
) -> tuple[Cost, Cost]:
    """Compile a batch in each wiki in turn, so that other work on the machine slows both equally."""
    drafts, watch = notes(sources, seed), await watching(database)
    costs = [Cost() for _ in wikis]
    for one in wikis:  # the first batch reads the existing pages, so it is not measured
        await compiled_in(database, one, notes(PART, seed + 1, languages=("en",)))
    for start in range(0, sources, PART):
        part = drafts[start : start + PART]
        for one, cost in zip(wikis, costs, strict=True):
            await retain(database, scope_of(one), part)
            watch.start()
            await compiled(database, usual())
            cost.add(watch.stop(len(part)))
        if start % (PART * 4) == 0:
            await look_at_tables(database.dsn)
        told(len(part))
    return costs[0], costs[1]


async def compiled_in(database: Database, one: Wiki, drafts: Sequence[SourceDraft]) -> None:
    await retain(database, scope_of(one), drafts)
    await compiled(database, usual())


def scope_of(one: Wiki) -> Scope:
    return member(one.tenant_id).in_owner(one.owner_id)
