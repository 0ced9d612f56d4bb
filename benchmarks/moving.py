"""What importing and exporting a wiki cost: python -m benchmarks.moving. On Linux only.

A folder of notes is imported into an empty wiki, imported again as it is and with some notes edited, and exported as a
folder, a zip and lines. Seconds depend on what else the machine does; the time of the processor hardly does.
"""

import random
import tempfile
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from statistics import median
from time import process_time
from typing import Annotated, Any

import typer
import uvloop
from rich.console import Console
from rich.table import Table

from db.embedded import EmbeddedServer
from db.migrate import migrate
from db.scope import Actor, ActorKind, Role, Scope
from resolvers.export_files import export_path
from resolvers.importing import import_path
from resolvers.owners import OwnerKind, create_owner
from resolvers.tenants import create_tenant

from .search.backend import Backend
from .wikis import SYLLABLES, TAGS, TYPES

GOALS = {"import": 300, "export": 2_000}  # pages a second
WORDS = 40_000  # different ones, as frequent as words are
PASSAGE, PASSAGES = 55, 3  # words of a passage, passages of a note, each with a link
CHILDREN = 10  # one note of so many says which page is its parent
EDITED = 10  # one note of so many is edited
WIDTH = 100
notes = Console(stderr=True)


@dataclass(frozen=True, slots=True)
class Step:
    """What was done to so many pages: seconds on the clock, and of the processor in Python and in Postgres."""

    name: str
    pages: int
    seconds: float
    python: float
    postgres: float


def main(
    pages: Annotated[int, typer.Option(min=50, help="Notes of the folder.")] = 2_000,
    rounds: Annotated[int, typer.Option(min=1, help="Times that all is done, each in a wiki of its own.")] = 3,
) -> None:
    """Measure imports and exports."""
    with tempfile.TemporaryDirectory(prefix="cairn-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with EmbeddedServer(folder / "data", lambda step: notes.print(step), durable=False) as dsn:
            found = uvloop.run(measured(dsn, folder, pages, rounds))
    Console(width=max(WIDTH, notes.width)).print(table_of(found))


async def measured(dsn: str, folder: Path, pages: int, rounds: int) -> list[list[Step]]:
    """The steps of each round, but for a first one, which warms what is kept."""
    await migrate(dsn)
    found = []
    async with Backend(dsn) as backend:
        for number in range(rounds + 1):
            notes.print(f"Round {number} of {rounds}" if number else "Warming up")
            found.append([step async for step in moved(backend, folder / f"{number}", f"wiki-{number}", pages)])
    return found[1:]


async def moved(backend: Backend, folder: Path, name: str, pages: int) -> Any:
    """A folder into a wiki and out of it again."""
    author, source = Author(pages), folder / "notes"
    author.write(source, range(pages))
    scope = await new_scope(backend, name)
    arguments = backend.database, scope, source
    yield await step(backend, "import", pages, import_path(*arguments))
    yield await step(backend, "import again, nothing new", pages, import_path(*arguments))
    author.write(source, range(0, pages, EDITED), "Edited since. ")
    yield await step(backend, f"import again, 1 of {EDITED} edited", pages, import_path(*arguments))
    for form, target in (("folder", "out"), ("zip", "out.zip"), ("lines", "out.jsonl")):
        yield await step(backend, f"export: {form}", pages, export_path(backend.database, scope, folder / target))
    own = await new_scope(backend, f"{name}-again")
    yield await step(backend, "import of the export", pages, import_path(backend.database, own, folder / "out"))


async def new_scope(backend: Backend, name: str) -> Scope:
    tenant = await create_tenant(backend.database, name, name)
    owner = await create_owner(backend.database, tenant.id, OwnerKind.USER, "mara", "Mara")
    return Scope(tenant.id, owner.id, Role.ADMIN, Actor(ActorKind.USER, "mara"), (owner.id,))


async def step(backend: Backend, name: str, pages: int, work: Awaitable[Any]) -> Step:
    before = process_time()
    with backend.watched() as spent:
        result = await work
    python = process_time() - before
    assert not getattr(result, "errors", ()), result.errors
    return Step(name, pages, spent.wall / 1000, python, spent.processor / 1000)


class Author:
    """Writes notes as people keep them: a header, a lead, two headings, links by name. The same for the same seed."""

    def __init__(self, pages: int) -> None:
        self.pages, self.rng = pages, random.Random(pages)
        self.words = sorted({"".join(self.rng.choices(SYLLABLES, k=n % 3 + 2)) for n in range(2 * WORDS)})[::2]
        self.rng.shuffle(self.words)
        self.weights = list(accumulate(1 / (rank + 2) for rank in range(len(self.words))))
        self.titles = [f"{self.said(2)} {number}".title() for number in range(pages)]

    def write(self, folder: Path, numbers: range, edit: str = "") -> None:
        for number in numbers:
            path = folder / TYPES[number % len(TYPES)] / f"{self.titles[number]}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join([*self.header(number), "", edit + self.body(number)]) + "\n")

    def header(self, number: int) -> Iterator[str]:
        rng = random.Random(number)
        yield "---"
        yield f"title: {self.titles[number]}"
        yield f"type: {TYPES[number % len(TYPES)]}"
        yield f"aliases: [nick {number}, {self.words[number % len(self.words)]} {number}]"
        yield "tags:"
        yield from (f"  - {tag}" for tag in rng.sample(TAGS, 2))
        if number % CHILDREN == 1:
            yield f'parent: "[[{self.titles[number // CHILDREN]}]]"'
        yield "---"

    def body(self, number: int) -> str:
        self.rng.seed(number)
        lead, *others = (f"{self.said(PASSAGE).capitalize()}. See {self.link()}." for _ in range(PASSAGES))
        return "\n\n".join([lead, *(f"## {self.said(2).capitalize()}\n\n{other}" for other in others)])

    def link(self) -> str:
        return f"[[{self.titles[self.rng.randrange(self.pages)]}]]"

    def said(self, count: int) -> str:
        return " ".join(self.rng.choices(self.words, cum_weights=self.weights, k=count))


def table_of(found: list[list[Step]]) -> Table:
    """Medians of the rounds; what misses its goal is marked."""
    table = Table("step", title=f"{found[0][0].pages:,} pages of {PASSAGE * PASSAGES} words: medians of {len(found)}")
    for column in ("pages/s", "Python, ms/page", "Postgres, ms/page", "goal, pages/s"):
        table.add_column(column, justify="right")
    for steps in zip(*found, strict=True):
        name, pages = steps[0].name, steps[0].pages
        goal = next((goal for start, goal in GOALS.items() if name.startswith(start)), 0)
        rate = pages / median(one.seconds for one in steps)
        python, postgres = (
            f"{1000 * median(each) / pages:.2f}"
            for each in zip(*((one.python, one.postgres) for one in steps), strict=True)
        )
        table.add_row(name, f"{rate:,.0f}{'' if rate >= goal else ' !'}", python, postgres, f"{goal:,}")
    return table


if __name__ == "__main__":
    typer.run(main)
