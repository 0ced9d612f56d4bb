"""Does an import or an export of more notes take more memory? Each step runs in a process of its own, so that what one
has taken from the system says nothing about the next."""

import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated
from zipfile import ZipFile

import typer
import uvloop
from rich.console import Console
from rich.table import Table

from content.words import analysed, words
from db.database import Database
from db.embedded import EmbeddedServer
from db.migrate import migrate
from db.scope import Scope
from resolvers.moving.files import export_path
from resolvers.moving.importing import import_path

from .author import Author
from .scopes import new_scope

FLAT = 200  # bytes a note: more is a list of them somewhere
FEW = 60  # notes that are moved before it is looked, so that all code is there
KEPT = analysed.cache_info().maxsize or 0  # words that a process remembers on purpose: it does so before, too
SIZES = (2_000, 20_000)
MB = 1_000_000
notes = Console(stderr=True)

Step = tuple[str, Callable[[Database, Scope, Path], Awaitable[object]], str, str]
STEPS: tuple[Step, ...] = (
    ("import: folder", import_path, "folder", "notes"),
    ("import again, nothing new", import_path, "folder", "notes"),
    ("export: folder", export_path, "folder", "out"),
    ("export again, nothing new", export_path, "folder", "out"),
    ("export: zip", export_path, "folder", "out.zip"),
    ("export: lines", export_path, "folder", "out.jsonl"),
    ("import: zip", import_path, "zip", "notes.zip"),
    ("import: lines", import_path, "lines", "out.jsonl"),
    ("import: the folder of an export", import_path, "export", "out"),
)
"""What it is called, what is done, in which wiki, with which file."""


def main(
    sizes: Annotated[str, typer.Option(help="Numbers of notes, the smallest first.")] = ",".join(map(str, SIZES)),
    only: Annotated[str, typer.Option(help="A part of the name of the steps that are wanted.")] = "",
) -> None:
    """Memory at several sizes. Ends with an error when it grows by more than 200 bytes a note."""
    wanted = sorted(int(size) for size in sizes.split(","))
    with tempfile.TemporaryDirectory(prefix="cairn-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with EmbeddedServer(folder / "data", lambda step: notes.print(step), durable=False) as dsn:
            uvloop.run(migrate(dsn))
            steps = [step for step in STEPS if only in step[0]]
            found = {size: list(measured(dsn, folder / f"{size}", size, steps)) for size in wanted}
    table, growth = table_of(steps, found)
    Console(width=max(100, notes.width)).print(table)
    if max(growth) > FLAT:
        notes.print(f"Memory grows by more than {FLAT} bytes a note.")
        raise typer.Exit(1)


def measured(dsn: str, folder: Path, size: int, steps: Sequence[Step]) -> Iterator[int]:
    """Bytes that each step has taken at most, of so many notes."""
    for name, count in (("few", FEW), ("many", size)):
        Author(count).write(folder / name / "notes", range(count))
        zipped(folder / name / "notes", folder / name / "notes.zip")
    for title, _, _, _ in steps:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            taken = process.submit(taken_by, title, dsn, folder, size).result()
        notes.print(f"{size:>9,} notes {title:<34} {taken / MB:8.1f} MB", highlight=False)
        yield taken


def zipped(folder: Path, file: Path) -> None:
    with ZipFile(file, "w") as zip:
        for path in sorted(folder.rglob("*.md")):
            zip.write(path, path.relative_to(folder))


def taken_by(title: str, dsn: str, folder: Path, size: int) -> int:
    return uvloop.run(watched(title, dsn, folder, size))


async def watched(title: str, dsn: str, folder: Path, size: int) -> int:
    """How much more memory the process has had at any time than before, in bytes."""
    _, work, wiki, file = next(step for step in STEPS if step[0] == title)
    database = Database(dsn, statement_timeout=600)
    await database.open()
    words(" ".join(f"{n}remembered" for n in range(KEPT)))
    try:
        few = await new_scope(database, "few")
        await import_path(database, few, folder / "few" / "notes")
        if work is export_path:
            await work(database, few, folder / "few" / file)
        many = await new_scope(database, f"{wiki}-{size}")
        Path("/proc/self/clear_refs").write_text("5")
        before = kilobytes("VmRSS")
        await work(database, many, folder / "many" / file)
        return (kilobytes("VmHWM") - before) * 1024
    finally:
        await database.close()


def kilobytes(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(f"{field}:")).split()[1])


def table_of(steps: Sequence[Step], found: dict[int, list[int]]) -> tuple[Table, list[float]]:
    """Megabytes of each step and size, and the bytes that a note more takes, from the smallest size to the largest."""
    table = Table("step", title="Memory beyond that of the process before, at most")
    for size in found:
        table.add_column(f"{size:,} notes, MB", justify="right")
    table.add_column("bytes/note", justify="right")
    first, last = min(found), max(found)
    growth = [(found[last][n] - found[first][n]) / max(1, last - first) for n in range(len(steps))]
    for n, (title, _, _, _) in enumerate(steps):
        megabytes = (f"{taken[n] / MB:.1f}" for taken in found.values())
        table.add_row(title, *megabytes, f"{growth[n]:,.0f}{' !' if growth[n] > FLAT else ''}")
    return table, growth
