"""Measures importing and exporting a wiki: python -m benchmarks.import_export, and with `memory` how much memory they
take. On Linux only.

A folder of notes is imported into an empty wiki, imported again unchanged and with some notes edited, and exported as a
folder, a zip file and JSON lines. Elapsed seconds depend on what else the machine does; CPU time hardly does.
"""

import tempfile
from collections.abc import Awaitable
from dataclasses import dataclass
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
from resolvers.import_export.export_files import export_path
from resolvers.import_export.importing import import_path

from ..search.backend import Backend
from . import memory
from .author import PASSAGE, PASSAGES, Author
from .scopes import new_scope

GOALS = {"import": 300, "export": 2_000}  # pages a second
EDITED = 10  # one note in EDITED is edited
WIDTH = 100
stderr = Console(stderr=True)
app = typer.Typer(add_completion=False)
app.command("memory")(memory.main)


@dataclass(frozen=True, slots=True)
class Step:
    """One step over a number of pages: elapsed seconds, and CPU seconds in Python and in Postgres."""

    name: str
    pages: int
    seconds: float
    python: float
    postgres: float


@app.callback(invoke_without_command=True)
def main(
    context: typer.Context,
    pages: Annotated[int, typer.Option(min=50, help="Notes in the folder.")] = 2_000,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds, each in a new wiki.")] = 3,
) -> None:
    """Measure imports and exports."""
    if context.invoked_subcommand:
        return
    with tempfile.TemporaryDirectory(prefix="cairn-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with EmbeddedServer(folder / "data", lambda step: stderr.print(step), durable=False) as dsn:
            rounds_found = uvloop.run(measure_rounds(dsn, folder, pages, rounds))
    Console(width=max(WIDTH, stderr.width)).print(table_of(rounds_found))


async def measure_rounds(dsn: str, folder: Path, pages: int, rounds: int) -> list[list[Step]]:
    """Return the steps of each round, without a first round that warms the caches."""
    await migrate(dsn)
    rounds_found = []
    async with Backend(dsn) as backend:
        for number in range(rounds + 1):
            stderr.print(f"Round {number} of {rounds}" if number else "Warming up")
            rounds_found.append(
                [step async for step in import_and_export(backend, folder / f"{number}", f"wiki-{number}", pages)]
            )
    return rounds_found[1:]


async def import_and_export(backend: Backend, folder: Path, name: str, pages: int) -> Any:
    """Import a folder into a wiki and export it again."""
    author, source = Author(pages), folder / "notes"
    author.write(source, range(pages))
    scope = await new_scope(backend.database, name)
    arguments = backend.database, scope, source
    yield await step(backend, "import", pages, import_path(*arguments))
    yield await step(backend, "import again, nothing new", pages, import_path(*arguments))
    author.write(source, range(0, pages, EDITED), "Edited since. ")
    yield await step(backend, f"import again, 1 of {EDITED} edited", pages, import_path(*arguments))
    for form, target in (("folder", "out"), ("zip", "out.zip"), ("lines", "out.jsonl")):
        yield await step(backend, f"export: {form}", pages, export_path(backend.database, scope, folder / target))
    own = await new_scope(backend.database, f"{name}-again")
    yield await step(backend, "import of the export", pages, import_path(backend.database, own, folder / "out"))


async def step(backend: Backend, name: str, pages: int, work: Awaitable[Any]) -> Step:
    before = process_time()
    with backend.watched() as spent:
        result = await work
    python = process_time() - before
    assert not getattr(result, "errors", ()), result.errors
    return Step(name, pages, spent.wall / 1000, python, spent.processor / 1000)


def table_of(rounds_found: list[list[Step]]) -> Table:
    """Return a table of the medians of all rounds, in which a rate below its goal is marked with `!`."""
    table = Table(
        "step",
        title=f"{rounds_found[0][0].pages:,} pages of {PASSAGE * PASSAGES} words: medians of {len(rounds_found)}",
    )
    for column in ("pages/s", "Python, ms/page", "Postgres, ms/page", "goal, pages/s"):
        table.add_column(column, justify="right")
    for steps in zip(*rounds_found, strict=True):
        name, pages = steps[0].name, steps[0].pages
        goal = next((goal for start, goal in GOALS.items() if name.startswith(start)), 0)
        rate = pages / median(timed_step.seconds for timed_step in steps)
        python, postgres = (
            f"{1000 * median(each) / pages:.2f}"
            for each in zip(*((timed_step.python, timed_step.postgres) for timed_step in steps), strict=True)
        )
        table.add_row(name, f"{rate:,.0f}{'' if rate >= goal else ' !'}", python, postgres, f"{goal:,}")
    return table


if __name__ == "__main__":
    app()
