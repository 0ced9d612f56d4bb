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
from .corpus import MEASURED, TENTH, USUAL, WHOLE, Folder, connected, dsn_of, is_indexed, measured_wiki, served
from .costs import Found, Times
from .prose import Author, Stock, stock
from .questions import Vocabulary, questions

FIRST = 10
WIDTH = 110  # characters that the tables need
notes = Console(stderr=True)
Drawn = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Plan:
    """The number of questions of each kind, and of rounds."""

    questions: int
    rounds: int


def latency(
    folder: Folder = USUAL,
    data: Annotated[
        Path | None, typer.Option(help="The folder of collections.", show_default="beside the checkout")
    ] = None,
    count: Annotated[int, typer.Option("--questions", min=1, help="Different questions of each kind.")] = 40,
    rounds: Annotated[int, typer.Option(min=1, help="Measured rounds of each question.")] = 3,
    json: Annotated[Path | None, typer.Option(help="A JSON file for all figures.")] = None,
) -> None:
    """Measure searches in the database that `corpus` writes."""
    made = stock(data)
    with served(folder) as dsn:
        found = uvloop.run(measured(dsn, made, Plan(count, rounds)))
    Console(width=max(WIDTH, Console().width)).print(*costs.tables(found), sep="\n")
    if json is not None:
        json.write_bytes(orjson.dumps(costs.as_json(found), option=orjson.OPT_INDENT_2))


async def measured(dsn: str, made: Stock, plan: Plan) -> Found:
    there = await present(dsn)
    drawn = {one.pages: drawn_from(one, made, plan.questions) for one in there}
    smallest = there[0]
    async with Backend(dsn_of(dsn, TENTH)) as tenth, Backend(dsn_of(dsn, WHOLE)) as whole:
        growth = await times([tenth, whole], smallest, drawn[smallest.pages], plan)
    async with Backend(dsn_of(dsn, WHOLE)) as whole:
        return Found(
            pages=await sizes.pages(whole.database),
            by_size={one.pages: (await times([whole], one, drawn[one.pages], plan))[0] for one in there},
            growth=growth,
            bytes_per_page=await sizes.bytes_per_page(whole.database),
            writing=await writes.measured(whole, made),
        )


async def present(dsn: str) -> list[Wiki]:
    """Return the measured wikis; the first is in both databases. Raises BadParameter if the database is incomplete."""
    whole, tenth = [await ready(dsn_of(dsn, name)) for name in (WHOLE, TENTH)]
    found = [one for one in map(measured_wiki, MEASURED) if one.owner_id in whole]
    if found and found[0].owner_id in tenth:
        return found
    raise typer.BadParameter("The database is missing or incomplete. Write it: python -m benchmarks.search corpus")


async def ready(dsn: str) -> set[UUID]:
    """Return the owners of the wikis that `corpus` has finished."""
    try:
        async with connected(dsn) as connection:
            if not await is_indexed(connection):
                return set()
            rows = await connection.fetch("SELECT owner_id FROM search_scopes WHERE state = 'ready'")
    except (asyncpg.InvalidCatalogNameError, asyncpg.UndefinedTableError):
        return set()
    return {row["owner_id"] for row in rows}


def drawn_from(one: Wiki, made: Stock, count: int) -> Drawn:
    articles = track(Author(one, made).articles(), f"Reading {one.pages:,} pages", one.pages, console=notes,
                     disable=not notes.is_terminal)  # fmt: skip
    return questions(Vocabulary(articles), count)


async def times(backends: Sequence[Backend], one: Wiki, drawn: Drawn, plan: Plan) -> list[Times]:
    """Measure the databases in turn, so that other work on the machine slows all equally."""
    found: list[Times] = [{kind: [] for kind in drawn} for _ in backends]
    scope = scope_of(one)
    with Progress(console=notes, disable=not notes.is_terminal) as bars:
        task = bars.add_task(f"{one.pages:,} pages", total=len(drawn) * (plan.rounds + 1))
        for kind, texts in drawn.items():
            for number in range(plan.rounds + 1):
                for text in texts:
                    for backend, own in zip(backends, found, strict=True):
                        with backend.watched() as spent:
                            await search(backend.database, scope, SearchRequest(text, first=FIRST))
                        if number:
                            own[kind].append(spent)
                bars.advance(task)
    return found
