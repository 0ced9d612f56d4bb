"""The targets of an export: a folder, a zip, or lines of JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import IO, Any, Protocol
from zipfile import ZIP_DEFLATED, ZipInfo

import orjson

from content.notes.note_texts import to_markdown, to_record

from ...auth.owners import ENGLISH
from ...auth.wiki_settings import USUAL
from ...sources.attachments import AttachmentDraft
from ..attachments import record_of
from ..exported_records import ORIGIN
from ..exporting import PageFile
from ..notes import ImportProblem, WikiRecord
from ..originals import line_fields
from .folders import Folder
from .paths import ABOUT, ERRORS, FORMAT, MENTIONS, ORIGINALS, SOURCES
from .zips import GrowingZip

Files = Sequence[tuple[str, bytes]]
Lines = Sequence[bytes]


class ExportTarget(Protocol):
    """The target of an export.

    It gets the wiki record first, then sources, mentions, pages, attachments, histories, and the list of missing parts.
    """

    def page(self, page: PageFile) -> bytes:
        """Return the bytes in which the target stores a page."""

    def record(self, kind: str, value: dict[str, Any]) -> bytes:
        """Return the bytes in which the target stores a source, a mention, a state of a page or an error."""

    def begin(self, wiki: WikiRecord) -> None: ...

    def add_sources(self, lines: Lines) -> None: ...

    def add_mentions(self, lines: Lines) -> None: ...

    def add_pages(self, files: Files) -> None: ...

    def add_originals(self, lines: Lines) -> None: ...

    def add_attachment(self, file: AttachmentDraft) -> None: ...

    def add_states(self, path: str, lines: Lines) -> None: ...

    def add_errors(self, errors: Sequence[ImportProblem], lines: Lines) -> None: ...

    def finish(self) -> None: ...


class FolderTarget:
    """A folder of markdown files."""

    def __init__(self, folder: Folder) -> None:
        self.folder, self.growing = folder, ""

    def page(self, page: PageFile) -> bytes:
        return text_of(page)

    def record(self, kind: str, value: dict[str, Any]) -> bytes:
        return line(value)

    def begin(self, wiki: WikiRecord) -> None:
        self.folder.write(ABOUT, line(wiki_facts(wiki)))

    def add_sources(self, lines: Lines) -> None:
        for data in lines:
            self.folder.append(SOURCES, data)

    def add_mentions(self, lines: Lines) -> None:
        for data in lines:
            self.folder.append(MENTIONS, data)

    def add_pages(self, files: Files) -> None:
        for path, data in files:
            self.folder.write(path, data)

    def add_originals(self, lines: Lines) -> None:
        for data in lines:
            self.folder.append(ORIGINALS, data)

    def add_attachment(self, file: AttachmentDraft) -> None:
        self.folder.write(file.path, file.data)

    def add_states(self, path: str, lines: Lines) -> None:
        if path != self.growing:
            self.folder.end(self.growing)
            self.growing = path
        for data in lines:
            self.folder.append(path, data)

    def add_errors(self, errors: Sequence[ImportProblem], lines: Lines) -> None:
        """Write the list of missing parts. The file that an earlier export wrote for a missing page stays."""
        for error in errors:
            self.folder.keep(error.path)
        self.folder.write(ERRORS, b"".join(lines))

    def finish(self) -> None:
        self.folder.finish()


class ZipTarget:
    """A zip of the folder. Long entries, such as that of all sources, are written piece by piece."""

    def __init__(self, file: IO[bytes]) -> None:
        self.zip = GrowingZip(file)
        self.open: IO[bytes] | None = None
        self.path = ""

    def page(self, page: PageFile) -> bytes:
        return text_of(page)

    def record(self, kind: str, value: dict[str, Any]) -> bytes:
        return line(value)

    def begin(self, wiki: WikiRecord) -> None:
        self.zip.writestr(entry(ABOUT), line(wiki_facts(wiki)))

    def add_sources(self, lines: Lines) -> None:
        self.append(SOURCES, lines)

    def add_mentions(self, lines: Lines) -> None:
        self.append(MENTIONS, lines)

    def append(self, path: str, lines: Lines) -> None:
        """Append lines to the entry at this path; the entry is closed when another one begins."""
        if self.open is None or self.path != path:
            self.end()
            self.open, self.path = self.zip.open(entry(path), "w", force_zip64=True), path
        self.open.writelines(lines)

    def add_pages(self, files: Files) -> None:
        self.end()
        for path, data in files:
            self.zip.writestr(entry(path), data)

    def add_originals(self, lines: Lines) -> None:
        self.append(ORIGINALS, lines)

    def add_attachment(self, file: AttachmentDraft) -> None:
        self.end()
        self.zip.writestr(entry(file.path), file.data)

    def add_states(self, path: str, lines: Lines) -> None:
        self.append(path, lines)

    def add_errors(self, errors: Sequence[ImportProblem], lines: Lines) -> None:
        self.append(ERRORS, lines)

    def end(self) -> None:
        """Close the entry that is being written."""
        if self.open:
            self.open.close()
            self.open = None

    def finish(self) -> None:
        self.end()
        self.zip.close()


class LinesTarget:
    """A file with a JSON record on each line."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file

    def page(self, page: PageFile) -> bytes:
        return line(record(page))

    def record(self, kind: str, value: dict[str, Any]) -> bytes:
        return line({kind: value})

    def begin(self, wiki: WikiRecord) -> None:
        """Write the wiki record unless all settings are defaults, because other readers do not know this line."""
        if wiki != WikiRecord(ENGLISH, USUAL):
            self.file.write(line({"wiki": wiki_facts(wiki)}))

    def add_sources(self, lines: Lines) -> None:
        self.file.writelines(lines)

    def add_mentions(self, lines: Lines) -> None:
        self.file.writelines(lines)

    def add_pages(self, files: Files) -> None:
        self.file.writelines(data for _, data in files)

    def add_originals(self, lines: Lines) -> None:
        """Write nothing: the line of a page has all of its facts."""

    def add_attachment(self, file: AttachmentDraft) -> None:
        self.file.write(self.record("attachment", record_of(file)))

    def add_states(self, path: str, lines: Lines) -> None:
        self.file.writelines(lines)

    def add_errors(self, errors: Sequence[ImportProblem], lines: Lines) -> None:
        self.file.writelines(lines)

    def finish(self) -> None:
        self.file.flush()


def text_of(page: PageFile) -> bytes:
    """Return the file of a page: its exported file, or markdown made from its note."""
    return page.exported.file if page.exported else to_markdown(page.note).encode()


def record(page: PageFile) -> dict[str, Any]:
    """Return the record of a page with its original file, so that a later export to a folder can restore the file."""
    origin = {} if page.origin is None else {ORIGIN: page.origin}
    return to_record(page.note) | origin | (line_fields(page.exported) if page.exported else {})


def line(record: dict[str, Any]) -> bytes:
    return orjson.dumps(record) + b"\n"


def wiki_facts(wiki: WikiRecord) -> dict[str, Any]:
    """Return the wiki record of an export: its format, the language, and the settings that differ from the defaults."""
    defaults = asdict(USUAL)
    changed_settings = {
        name: value for name, value in asdict(wiki.settings).items() if value not in (None, defaults[name])
    }
    return FORMAT | {"language": wiki.language} | changed_settings


def entry(path: str) -> ZipInfo:
    """Return a zip entry without a date, so that the same wiki gives the same bytes."""
    info = ZipInfo(path)
    info.compress_type = ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    return info
