"""An export as files: a folder that can be edited and imported again, a zip of it, or lines of JSON."""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol, TypeVar
from zipfile import ZIP_DEFLATED, ZipInfo

import orjson

from content.note_texts import to_markdown, to_record
from db.database import Database
from db.scope import Scope

from ..errors import BadInput, Unavailable
from ..owners import ENGLISH
from .exporting import MENTIONS_AT_ONCE, ORIGIN, PAGES_AT_ONCE, SOURCES_AT_ONCE, PageFile, exporting
from .folders import Folder
from .importing import Progress, silent
from .layout import ABOUT, FORMAT, MENTIONS, SOURCES
from .zip_entries import GrowingZip

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ExportResult:
    """How many pages and versions of sources were written out."""

    pages: int
    sources: int


class Target(Protocol):
    """Where an export goes. What the wiki is comes first, then sources, names, pages and what they were."""

    def begin(self, language: str) -> None: ...

    def add_sources(self, sources: Sequence[dict[str, Any]]) -> None: ...

    def add_mentions(self, mentions: Sequence[dict[str, Any]]) -> None: ...

    def add_pages(self, pages: Sequence[PageFile]) -> None: ...

    def add_states(self, path: str, states: Sequence[dict[str, Any]]) -> None: ...

    def finish(self) -> None: ...


async def export_path(
    database: Database, scope: Scope, path: Path, *, history: bool = False, report: Progress = silent
) -> ExportResult:
    """The form that the name asks for: `.zip`, `.jsonl`, else a folder. A file is there when it is whole."""
    write = FORMS.get(path.suffix.lower())
    if write is None:
        return await export_folder(database, scope, path, history=history, report=report)
    with replacing(path) as file:
        return await write(database, scope, file, history=history, report=report)


async def export_folder(
    database: Database, scope: Scope, path: Path, *, history: bool = False, report: Progress = silent
) -> ExportResult:
    """The wiki as a folder of markdown. The folder is new, empty, or an earlier export, which is brought up to date."""
    return await written(database, scope, FolderTarget(Folder(path)), history, report)


async def export_zip(
    database: Database, scope: Scope, file: IO[bytes], *, history: bool = False, report: Progress = silent
) -> ExportResult:
    """The same folder as a zip; the same wiki gives the same bytes. `file` need not be seekable."""
    target = ZipTarget(file)
    try:
        return await written(database, scope, target, history, report)
    finally:
        target.zip.abandon()


async def export_lines(
    database: Database, scope: Scope, file: IO[bytes], *, history: bool = False, report: Progress = silent
) -> ExportResult:
    """A JSON object on each line: `{"source": …}` and `{"mention": …}`, then a page on each, then `{"revision": …}`."""
    return await written(database, scope, LinesTarget(file), history, report)


FORMS = {".zip": export_zip, ".jsonl": export_lines}


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes the place of the path's once all of it is written."""
    if path.is_dir() or not path.parent.is_dir():
        raise BadInput(f"{path} cannot be written: give a file in a folder that is there.", "path")
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".cairn-")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        Path(draft).replace(path)
    finally:
        Path(draft).unlink(missing_ok=True)


async def written(database: Database, scope: Scope, target: Target, history: bool, report: Progress) -> ExportResult:
    """Everything into the target. Files are written beside the event loop."""
    pages = sources = 0
    async with exporting(database, scope) as export:
        await put(target.begin, export.language)
        async for some in together(export.sources(), SOURCES_AT_ONCE):
            await put(target.add_sources, some)
            sources += len(some)
        async for some in together(export.mentions(), MENTIONS_AT_ONCE):
            await put(target.add_mentions, some)
        async for files in together(export.pages(), PAGES_AT_ONCE):
            await put(target.add_pages, files)
            pages += len(files)
            report("Writing", pages, export.total, files[-1].path)
        if history:
            async for path, states in export.histories():
                await put(target.add_states, path, states)
    await put(target.finish)
    return ExportResult(pages, sources)


async def put(step: Callable[..., None], *given: Any) -> None:
    """What a disk refuses is no fault of the database, which errors of the system are taken for elsewhere."""
    try:
        await asyncio.to_thread(step, *given)
    except OSError as error:
        raise Unavailable(f"The export cannot be written: {error.strerror or error}.") from error


async def together(items: AsyncIterator[T], size: int) -> AsyncIterator[list[T]]:
    """As many as are written at once."""
    some: list[T] = []
    async for item in items:
        some.append(item)
        if len(some) == size:
            yield some
            some = []
    if some:
        yield some


class FolderTarget:
    """Markdown files that lie where they came from, or by type."""

    def __init__(self, folder: Folder) -> None:
        self.folder, self.growing = folder, ""

    def begin(self, language: str) -> None:
        self.folder.write(ABOUT, line(about(language)))

    def add_sources(self, sources: Sequence[dict[str, Any]]) -> None:
        for source in sources:
            self.folder.append(SOURCES, line(source))

    def add_mentions(self, mentions: Sequence[dict[str, Any]]) -> None:
        for mention in mentions:
            self.folder.append(MENTIONS, line(mention))

    def add_pages(self, pages: Sequence[PageFile]) -> None:
        for page in pages:
            self.folder.write(page.path, to_markdown(page.note).encode())

    def add_states(self, path: str, states: Sequence[dict[str, Any]]) -> None:
        if path != self.growing:
            self.folder.end(self.growing)
            self.growing = path
        for state in states:
            self.folder.append(path, line(state))

    def finish(self) -> None:
        self.folder.finish()


class ZipTarget:
    """The folder in one file. Sources are one entry of it, names another, written piece by piece."""

    def __init__(self, file: IO[bytes]) -> None:
        self.zip = GrowingZip(file)
        self.open: IO[bytes] | None = None
        self.path = ""

    def begin(self, language: str) -> None:
        self.zip.writestr(entry(ABOUT), line(about(language)))

    def add_sources(self, sources: Sequence[dict[str, Any]]) -> None:
        self.append(SOURCES, map(line, sources))

    def add_mentions(self, mentions: Sequence[dict[str, Any]]) -> None:
        self.append(MENTIONS, map(line, mentions))

    def append(self, path: str, lines: Iterable[bytes]) -> None:
        """To the entry that is being written, which is over when the next one begins."""
        if self.open is None or self.path != path:
            self.end()
            self.open, self.path = self.zip.open(entry(path), "w", force_zip64=True), path
        self.open.writelines(lines)

    def add_pages(self, pages: Sequence[PageFile]) -> None:
        self.end()
        for page in pages:
            self.zip.writestr(entry(page.path), to_markdown(page.note))

    def add_states(self, path: str, states: Sequence[dict[str, Any]]) -> None:
        self.append(path, map(line, states))

    def end(self) -> None:
        """Of the entry that is being written."""
        if self.open:
            self.open.close()
            self.open = None

    def finish(self) -> None:
        self.end()
        self.zip.close()


class LinesTarget:
    """A stream of records."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file

    def begin(self, language: str) -> None:
        """Other readers know lines of sources and of pages: what need not be said is not."""
        if language != ENGLISH:
            self.file.write(line({"wiki": about(language)}))

    def add_sources(self, sources: Sequence[dict[str, Any]]) -> None:
        self.file.writelines(line({"source": source}) for source in sources)

    def add_mentions(self, mentions: Sequence[dict[str, Any]]) -> None:
        self.file.writelines(line({"mention": mention}) for mention in mentions)

    def add_pages(self, pages: Sequence[PageFile]) -> None:
        self.file.writelines(line(record(page)) for page in pages)

    def add_states(self, path: str, states: Sequence[dict[str, Any]]) -> None:
        self.file.writelines(line({"revision": state}) for state in states)

    def finish(self) -> None:
        self.file.flush()


def record(page: PageFile) -> dict[str, Any]:
    """A page's line, with the file that it came from: so it lies there again when a folder is made of it."""
    origin = {} if page.origin is None else {ORIGIN: page.origin}
    return to_record(page.note) | origin


def line(record: dict[str, Any]) -> bytes:
    return orjson.dumps(record) + b"\n"


def about(language: str) -> dict[str, Any]:
    """What an export says of its wiki."""
    return FORMAT | {"language": language}


def entry(path: str) -> ZipInfo:
    """Of no date, so that the same wiki is the same file."""
    info = ZipInfo(path)
    info.compress_type = ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    return info
