"""Write an export as a folder that can be edited and imported again, as a zip of it, or as lines of JSON."""

import asyncio
import secrets
import shutil
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeVar

from db.database import Database
from db.scope import Scope

from ..errors import BadInput, Unavailable
from .disk.folders import Folder
from .disk.paths import MENTIONS, SOURCES
from .disk.targets import ExportTarget, FolderTarget, LinesTarget, ZipTarget, line
from .disk.temp_database import TempDatabase, temp_statements
from .exporting import MENTIONS_PER_BATCH, PAGES_PER_BATCH, SOURCES_PER_BATCH, PageFile, exporting
from .notes import ImportProblem
from .results import UNWRITABLE, Problems, Progress, ignore_progress, try_part

T = TypeVar("T")
RECORDS = temp_statements("originals")


@dataclass(frozen=True, slots=True)
class ExportResult:
    """The result of an export: the numbers of pages and of versions of sources that were written.

    `failed` is the number of parts that could not be written; `errors` has the first ten thousand of them. The export
    lists its missing parts as well.
    """

    pages: int
    sources: int
    failed: int = 0
    errors: tuple[ImportProblem, ...] = ()


async def export_path(
    database: Database, scope: Scope, path: Path, *, history: bool = False, report: Progress = ignore_progress
) -> ExportResult:
    """Write a `.zip` or a `.jsonl` file, or else a folder. A file appears at its path only when it is complete."""
    write = FORMS.get(path.suffix.lower())
    if write is None:
        return await export_folder(database, scope, path, history=history, report=report)
    with replacing(path) as file:
        return await write(database, scope, file, history=history, report=report)


async def export_folder(
    database: Database, scope: Scope, path: Path, *, history: bool = False, report: Progress = ignore_progress
) -> ExportResult:
    """Write the wiki as a folder of markdown. The folder is new, empty, or an earlier export, which is updated."""
    return await write_export(database, scope, FolderTarget(Folder(path)), history, report)


async def export_zip(
    database: Database, scope: Scope, file: IO[bytes], *, history: bool = False, report: Progress = ignore_progress
) -> ExportResult:
    """Write the folder of `export_folder` as a zip; the same wiki gives the same bytes. `file` need not be seekable."""
    target = ZipTarget(file)
    try:
        return await write_export(database, scope, target, history, report)
    finally:
        target.zip.abandon()


async def export_lines(
    database: Database, scope: Scope, file: IO[bytes], *, history: bool = False, report: Progress = ignore_progress
) -> ExportResult:
    """Write a JSON object on each line: `{"source": …}` and `{"mention": …}`, then pages, then `{"revision": …}`."""
    return await write_export(database, scope, LinesTarget(file), history, report)


FORMS = {".zip": export_zip, ".jsonl": export_lines}


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file that replaces the file at `path` at the end of the block, unless the block raises.

    It has the permissions of that file, or those that the umask gives a new one. A pipe or a device, such as /dev/null,
    is written directly, and a link to a file stays.
    """
    if path.is_dir() or not path.parent.is_dir():
        raise BadInput(f"{path} cannot be written: give a file in a folder that is there.", "path")
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    path = path.resolve()
    draft = path.with_name(f".cairn-{secrets.token_hex(8)}")
    try:
        with draft.open("xb") as file:
            with suppress(OSError):  # there is no such file, or its disk has no permissions
                shutil.copymode(path, draft)
            yield file
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


async def write_export(
    database: Database, scope: Scope, target: ExportTarget, history: bool, report: Progress
) -> ExportResult:
    """Write all parts of the wiki to the target. A part that cannot be rendered is listed as missing.

    Files are written in a thread.
    """
    pages = sources = 0
    missing = Problems()
    async with exporting(database, scope) as export:
        temp = ExportRemainder()
        await run_in_thread(target.begin, export.about)
        async for batch in batches(export.sources(), SOURCES_PER_BATCH, has_file):
            lines = await render_parts(batch, source_label, partial(target.record, "source"), missing)
            await run_in_thread(target.add_sources, [data for _, data in lines])
            sources += len(lines)
        async for names in batches(export.mentions(), MENTIONS_PER_BATCH):
            lines = await render_parts(names, mention_label, partial(target.record, "mention"), missing)
            await run_in_thread(target.add_mentions, [data for _, data in lines])
        async for files in batches(export.pages(), PAGES_PER_BATCH):
            rendered = await render_parts(files, page_label, target.page, missing)
            await run_in_thread(target.add_pages, rendered)
            paths = {path for path, _ in rendered}
            written_pages = [page for page in files if isinstance(page, PageFile) and page.path in paths]
            temp.keep(written_pages)
            pages += sum(page.note.redirect_to is None for page in written_pages)
            report("Writing", min(pages, export.total), export.total, files[-1].path)
        for records in temp.records():
            await run_in_thread(target.add_originals, records)
        async for file in export.attachments():
            if isinstance(file, ImportProblem):
                missing.append(file)
                continue
            try:
                await asyncio.to_thread(target.add_attachment, file)
            except (FileExistsError, IsADirectoryError, NotADirectoryError):
                missing.append(ImportProblem(file.path, UNWRITABLE, "a folder or a file of the same name is there"))
            except OSError as error:
                raise unwritable(error) from error
        if history:
            async for path, states in export.histories():
                lines = await render_parts(
                    states, partial(state_label, path), partial(target.record, "revision"), missing
                )
                await run_in_thread(target.add_states, path, [data for _, data in lines])
    if missing.count:
        listed = [target.record("error", asdict(problem)) for problem in missing.listed]
        await run_in_thread(target.add_errors, missing.listed, listed)
    await run_in_thread(target.finish)
    return ExportResult(pages, sources, missing.count, tuple(missing.listed))


async def render_parts(
    parts: Sequence[T | ImportProblem], label: Callable[[T], str], make: Callable[[T], bytes], missing: Problems
) -> list[tuple[str, bytes]]:
    """Return the label and bytes of each part, made in a thread; a part that cannot be made is added to `missing`."""

    def render() -> list[tuple[str, bytes] | ImportProblem]:
        found: list[tuple[str, bytes] | ImportProblem] = []
        for part in parts:
            if isinstance(part, ImportProblem):
                found.append(part)
                continue
            path = label(part)
            data = try_part(path, make, part)
            found.append(data if isinstance(data, ImportProblem) else (path, data))
        return found

    found = await asyncio.to_thread(render)
    missing.extend(part for part in found if isinstance(part, ImportProblem))
    return [part for part in found if not isinstance(part, ImportProblem)]


def page_label(page: PageFile) -> str:
    return page.path


def source_label(source: dict[str, Any]) -> str:
    return f"{SOURCES}: {source['kind']}/{source['ref']}"


def state_label(path: str, state: dict[str, Any]) -> str:
    return path


def mention_label(mention: dict[str, Any]) -> str:
    return f"{MENTIONS}: {mention['name']}"


class ExportRemainder:
    """A store of the facts that the files of pages lack, which are written after all these files."""

    def __init__(self) -> None:
        self.temp = TempDatabase()
        self.temp.make(RECORDS["make_tables"])

    def keep(self, files: Iterable[PageFile]) -> None:
        self.temp.put_all(
            RECORDS["add_record"], ({"record": line(page.exported.record)} for page in files if page.exported)
        )

    def records(self) -> Iterator[list[bytes]]:
        for rows in self.temp.batches(PAGES_PER_BATCH, RECORDS["list_records"]):
            yield [record for (record,) in rows]
        self.temp.close()


async def run_in_thread(step: Callable[..., None], *given: Any) -> None:
    """Run a step in a thread. An OSError becomes Unavailable, so that callers do not take it for the database's."""
    try:
        await asyncio.to_thread(step, *given)
    except OSError as error:
        raise unwritable(error) from error


def unwritable(error: OSError) -> Unavailable:
    return Unavailable(f"The export cannot be written: {error.strerror or error}.")


def has_file(source: dict[str, Any] | ImportProblem) -> bool:
    """Return whether a source includes its original file. Such a source ends its batch, to save memory."""
    return isinstance(source, dict) and "original" in source


async def batches(
    items: AsyncIterator[T], size: int, is_large: Callable[[T], bool] = lambda item: False
) -> AsyncIterator[list[T]]:
    """Yield the items in batches of `size`; a large item ends its batch."""
    batch: list[T] = []
    async for item in items:
        batch.append(item)
        if len(batch) == size or is_large(item):
            yield batch
            batch = []
    if batch:
        yield batch
