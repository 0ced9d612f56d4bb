"""Measures whether a larger import or export takes more memory.

Each step runs in its own process, so that the memory of one step does not affect the next.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, NamedTuple
from uuid import uuid4
from zipfile import ZipFile

import typer
import uvloop
from rich.console import Console
from rich.table import Table

from content.search.words import CACHED_RUNS_MAX, words
from db.database import Database
from db.embedded import EmbeddedServer
from db.migrate import migrate
from resolvers.import_export.importing import import_path
from resolvers.transactions.transaction import MAX_PAGE_OWNERS, page_owners

from .author import Author
from .scopes import new_scope
from .ways import Way, downloading, exporting, exporting_histories, importing, uploading

MAX_BYTES_PER_ITEM = 20  # bytes per note: more means that a list of all notes is in memory
TOLERATED_BYTES = 2_000_000  # bytes: each temporary database holds a megabyte in memory, which few notes do not fill
WARM_UP_ITEMS = 60  # notes or versions that are moved before measuring, so that all code is loaded
MB = 1_000_000
stderr = Console(stderr=True)


class Step(NamedTuple):
    """One step: its name, its function, its wiki and its file."""

    name: str
    way: Way
    wiki: str
    file: str


class Kind(NamedTuple):
    """A kind of item: the function that writes a number of them into a folder, and the steps that move them, in order.

    The first step fills the wiki that the later steps export.
    """

    name: str
    write: Callable[[Path, int], None]
    start: str
    steps: Sequence[Step]


def write_notes(folder: Path, count: int) -> None:
    """Write a number of notes into a folder and into a zip file."""
    Author(count).write(folder / "notes", range(count))
    with ZipFile(folder / "notes.zip", "w") as zip:
        for path in sorted((folder / "notes").rglob("*.md")):
            zip.write(path, path.relative_to(folder / "notes"))


def write_versions(folder: Path, count: int) -> None:
    """Write one page with that many former versions."""
    folder.mkdir(parents=True)
    Author(WARM_UP_ITEMS).write_versions(folder / "versions.jsonl", count)


NOTES = Kind(
    "notes",
    write_notes,
    "notes",
    (
        Step("import: folder", importing, "folder", "notes"),
        Step("import again, nothing new", importing, "folder", "notes"),
        Step("export: folder", exporting, "folder", "out"),
        Step("export again, nothing new", exporting, "folder", "out"),
        Step("export: zip", exporting, "folder", "out.zip"),
        Step("export: lines", exporting, "folder", "out.jsonl"),
        Step("export with histories: folder", exporting_histories, "folder", "past"),
        Step("export with histories: zip", exporting_histories, "folder", "past.zip"),
        Step("export with histories: lines", exporting_histories, "folder", "past.jsonl"),
        Step("export with histories: download", downloading, "folder", "download.zip"),
        Step("import: zip", importing, "zip", "notes.zip"),
        Step("import: upload of a zip", uploading, "upload", "notes.zip"),
        Step("import: lines", importing, "lines", "out.jsonl"),
        Step("import: upload of lines", uploading, "lines-upload", "out.jsonl"),
        Step("import: the folder of an export", importing, "export", "out"),
        Step("import: a folder with histories", importing, "past", "past"),
    ),
)
VERSIONS = Kind(
    "versions",
    write_versions,
    "versions.jsonl",
    (
        Step("import of a page: lines", importing, "page", "versions.jsonl"),
        Step("export of a page: folder", exporting_histories, "page", "past"),
        Step("export of a page: zip", exporting_histories, "page", "past.zip"),
        Step("export of a page: lines", exporting_histories, "page", "past.jsonl"),
        Step("import of a page: zip", importing, "page-zip", "past.zip"),
    ),
)


def main(
    sizes: Annotated[str, typer.Option(help="Numbers of notes, separated by commas.")] = "2000,20000",
    versions: Annotated[str, typer.Option(help="Numbers of versions of one page, separated by commas.")] = "1000,10000",
    only: Annotated[str, typer.Option(help="Run only the steps whose name contains this text.")] = "",
) -> None:
    """Measure memory at several sizes. Fails if it grows by more than 20 bytes per note or version, and 2 MB in all."""
    grown = False
    with tempfile.TemporaryDirectory(prefix="cairn-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with EmbeddedServer(folder / "data", lambda step: stderr.print(step), durable=False) as dsn:
            uvloop.run(migrate(dsn))
            for kind, wanted in ((NOTES, sizes), (VERSIONS, versions)):
                first, *others = kind.steps  # the first fills the wiki that the others read
                steps = [first, *(step for step in others if only in step.name)]
                steps = steps if len(steps) > 1 or only in first.name else []
                counts = sorted(map(int, wanted.split(","))) if steps else []
                found = {count: list(measure_steps(dsn, folder, kind, count, steps)) for count in counts}
                if found:
                    Console(width=max(100, stderr.width)).print(table_of(kind, steps, found))
                    grown |= any(map(grows, growth(found), spread(found)))
    if grown:
        stderr.print(
            f"Memory grows by more than {MAX_BYTES_PER_ITEM} bytes per item, and {TOLERATED_BYTES // MB} MB in all."
        )
        raise typer.Exit(1)


def measure_steps(dsn: str, folder: Path, kind: Kind, count: int, steps: Sequence[Step]) -> Iterator[int]:
    """Yield the bytes that each step takes at its peak for `count` items."""
    here = folder / f"{kind.name}-{count}"
    for name, size in (("few", WARM_UP_ITEMS), ("many", count)):
        kind.write(here / name, size)
    for step in steps:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            peak = process.submit(run_step, kind.name, step.name, dsn, here).result()
        stderr.print(f"{count:>9,} {kind.name} {step.name:<34} {peak / MB:8.1f} MB", highlight=False)
        yield peak


def run_step(kind: str, name: str, dsn: str, folder: Path) -> int:
    found = {known_kind.name: known_kind for known_kind in (NOTES, VERSIONS)}[kind]
    step = next(step for step in found.steps if step.name == name)
    return uvloop.run(peak_growth(found, step, dsn, folder))


async def peak_growth(kind: Kind, step: Step, dsn: str, folder: Path) -> int:
    """Return the growth of the process's peak memory in bytes."""
    database = Database(dsn, statement_timeout=600)
    await database.open()
    fill_caches(database)
    try:
        few = await new_scope(database, f"few-{folder.name}")
        many = await new_scope(database, f"{step.wiki}-{folder.name}")
        await import_path(database, few, folder / "few" / kind.start)
        async with step.way(database) as work:
            if step.way is not importing:
                await work(few, folder / "few" / step.file)
            Path("/proc/self/clear_refs").write_text("5")
            before = kilobytes("VmRSS")
            await work(many, folder / "many" / step.file)
            return (kilobytes("VmHWM") - before) * 1024
    finally:
        await database.close()


def fill_caches(database: Database) -> None:
    """Fill the bounded caches of a process, so that they do not count as growth."""
    for n in range(3 * CACHED_RUNS_MAX):
        words(f"{n}remembered")
    known, nobody = page_owners(database), uuid4()
    for _ in range(MAX_PAGE_OWNERS):
        known.put((nobody, uuid4()), nobody)


def kilobytes(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(f"{field}:")).split()[1])


def table_of(kind: Kind, steps: Sequence[Step], found: Mapping[int, Sequence[int]]) -> Table:
    """Return a table of the megabytes of each step and size, and of the bytes per additional item."""
    table = Table("step", title="Peak memory of a step beyond that before it")
    for count in found:
        table.add_column(f"{count:,} {kind.name}, MB", justify="right")
    table.add_column("bytes per item", justify="right")
    for n, (step, rate, more) in enumerate(zip(steps, growth(found), spread(found), strict=True)):
        megabytes = (f"{peak[n] / MB:.1f}" for peak in found.values())
        table.add_row(step.name, *megabytes, f"{rate:,.0f}{' !' if grows(rate, more) else ''}")
    return table


def spread(found: Mapping[int, Sequence[int]]) -> list[int]:
    """Return for each step the memory at the largest size minus that at the smallest, in bytes."""
    return [last - first for first, last in zip(found[min(found)], found[max(found)], strict=True)]


def growth(found: Mapping[int, Sequence[int]]) -> list[float]:
    """Return the bytes per additional item of each step."""
    return [more / max(1, max(found) - min(found)) for more in spread(found)]


def grows(rate: float, more: int) -> bool:
    return rate > MAX_BYTES_PER_ITEM and more > TOLERATED_BYTES
