"""Measures searches in a large database, by kind of question and size of the wiki; how their cost grows with other
tenants' pages; and what the index costs in space and in the time of a write. On Linux only.

All statements of one call of the product's own resolver count. The first round is discarded, because it fills caches.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from uuid import UUID

import asyncpg
import orjson
import typer
import uvloop
from rich.console import Console
from rich.progress import Progress, track

from resolvers.search.request import SearchRequest
from resolvers.search.search import search

from ..wikis import Wiki
from . import costs, sizes, writes
from .backend import Backend
from .cairn import scope_of
from .corpus import DEFAULT_FOLDER, MEASURED, TENTH, WHOLE, Folder, connected, dsn_of, is_indexed, measured_wiki, served
from .costs import Result, Times
from .prose import Author, Stock, stock
from .questions import Vocabulary, questions

FIRST = 10
WIDTH = 110  # characters that the tables need
stderr = Console(stderr=True)
Drawn = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Plan:
    """The number of questions of each kind, and of rounds."""

    questions: int
    rounds: int


def latency(
    folder: Folder = DEFAULT_FOLDER,
    data: Annotated[
        Path | None, typer.Option(help="The folder of collections.", show_default="beside the checkout")
    ] = None,
    count: Annotated[int, typer.Option("--questions", min=1, help="Different questions of each kind.")] = 40,
    rounds: Annotated[int, typer.Option(min=1, help="Measured rounds of each question.")] = 3,
    json: Annotated[Path | None, typer.Option(help="A JSON file for all figures.")] = None,
) -> None:
    """Measure searches in the database that `corpus` writes."""
    material = stock(data)
    with served(folder) as dsn:
        result = uvloop.run(measure(dsn, material, Plan(count, rounds)))
    Console(width=max(WIDTH, Console().width)).print(*costs.tables(result), sep="\n")
    if json is not None:
        json.write_bytes(orjson.dumps(costs.as_json(result), option=orjson.OPT_INDENT_2))


async def measure(dsn: str, material: Stock, plan: Plan) -> Result:
    wikis_found = await measured_wikis(dsn)
    drawn = {wiki.pages: draw_questions(wiki, material, plan.questions) for wiki in wikis_found}
    smallest = wikis_found[0]
    async with Backend(dsn_of(dsn, TENTH)) as tenth, Backend(dsn_of(dsn, WHOLE)) as whole:
        growth = await measure_times([tenth, whole], smallest, drawn[smallest.pages], plan)
    async with Backend(dsn_of(dsn, WHOLE)) as whole:
        return Result(
            pages=await sizes.pages(whole.database),
            by_size={
                wiki.pages: (await measure_times([whole], wiki, drawn[wiki.pages], plan))[0] for wiki in wikis_found
            },
            growth=growth,
            bytes_per_page=await sizes.bytes_per_page(whole.database),
            writing=await writes.measure_writes(whole, material),
        )


async def measured_wikis(dsn: str) -> list[Wiki]:
    """Return the measured wikis; the first is in both databases. Raises BadParameter if the database is incomplete."""
    whole, tenth = [await finished_owners(dsn_of(dsn, name)) for name in (WHOLE, TENTH)]
    result = [wiki for wiki in map(measured_wiki, MEASURED) if wiki.owner_id in whole]
    if result and result[0].owner_id in tenth:
        return result
    raise typer.BadParameter("The database is missing or incomplete. Write it: python -m benchmarks.search corpus")


async def finished_owners(dsn: str) -> set[UUID]:
    """Return the owners of the wikis that `corpus` has finished."""
    try:
        async with connected(dsn) as connection:
            if not await is_indexed(connection):
                return set()
            rows = await connection.fetch("SELECT owner_id FROM search_scopes WHERE state = 'ready'")
    except (asyncpg.InvalidCatalogNameError, asyncpg.UndefinedTableError):
        return set()
    return {row["owner_id"] for row in rows}


def draw_questions(wiki: Wiki, material: Stock, count: int) -> Drawn:
    articles = track(Author(wiki, material).articles(), f"Reading {wiki.pages:,} pages", wiki.pages, console=stderr,
                     disable=not stderr.is_terminal)  # fmt: skip
    return questions(Vocabulary(articles), count)


async def measure_times(backends: Sequence[Backend], wiki: Wiki, drawn: Drawn, plan: Plan) -> list[Times]:
    """Measure the databases in turn, so that other work on the machine slows all equally."""
    result: list[Times] = [{kind: [] for kind in drawn} for _ in backends]
    scope = scope_of(wiki)
    with Progress(console=stderr, disable=not stderr.is_terminal) as bars:
        task = bars.add_task(f"{wiki.pages:,} pages", total=len(drawn) * (plan.rounds + 1))
        for kind, texts in drawn.items():
            for number in range(plan.rounds + 1):
                for text in texts:
                    for backend, own in zip(backends, result, strict=True):
                        with backend.watched() as spent:
                            await search(backend.database, scope, SearchRequest(text, first=FIRST))
                        if number:
                            own[kind].append(spent)
                bars.advance(task)
    return result
