"""Read notes from a folder of markdown files, or from a `.jsonl` file with a page on each line.

Paths are plain strings: `pathlib` would intern each part of each path, so that Python's table of interned strings would
be rebuilt again and again (docs/decisions/0017-imports-in-constant-memory.md).
"""

import os
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import chain
from os.path import basename
from pathlib import Path
from typing import Any

import orjson

from content.notes.notes import BadNote, Note, check_size, from_record
from content.notes.records import (
    AttachmentRecord,
    MentionRecord,
    RevisionRecord,
    SourceRecord,
    attachment_from_record,
    check_state,
    mention_from_record,
    revision_from_record,
    source_from_record,
)

from ..auth.wiki_settings import USUAL, WikiSettings
from ..errors import BadInput, LimitExceeded
from .disk.paths import ABOUT, ERRORS, HISTORY, MENTIONS, SOURCES, is_in_history
from .disk.temp_database import TempDatabase, temp_statements
from .formats import MARKDOWN, Format, FormatReader, Survey

WAITING = temp_statements("waiting")


class FolderStack:
    """A stack of folders to be read. Folders are read depth-first, so that few of them are on the stack at a time."""

    def __init__(self, temp: TempDatabase) -> None:
        self.temp = temp
        temp.make(WAITING["make_tables"])

    def add(self, folder: str) -> None:
        self.temp.put(WAITING["add_folder"], folder=os.fsencode(folder))

    def take(self) -> str | None:
        """Take the next folder; return None when none is left."""
        if row := self.temp.first(WAITING["find_last"]):
            self.temp.put(WAITING["drop_folder"], id=row[0])
            return os.fsdecode(row[1])
        return None


NOTE_MAX = 16_000_000  # bytes: enough for the largest page with all its text escaped and thousands of citations
ABOUT_MAX = 10_000  # bytes
LINES = ".jsonl"
MISSING = "MISSING"


@dataclass(frozen=True, slots=True)
class Piece:
    """The place of one note on the disk. `label` is its name in messages, such as its path or `pages.jsonl:12`."""

    label: str
    file: str
    start: int
    size: int
    is_line: bool = False


@dataclass(frozen=True, slots=True)
class WikiRecord:
    """The language and settings of a wiki, as an export records them."""

    language: str | None = None
    settings: WikiSettings = field(default_factory=WikiSettings)


@dataclass(frozen=True, slots=True)
class NoteFile:
    """A note with the bytes of the file that it was read from."""

    note: Note
    file: bytes


Read = Note | NoteFile | SourceRecord | AttachmentRecord | MentionRecord | RevisionRecord | WikiRecord


@dataclass(frozen=True, slots=True)
class ImportProblem:
    """A reason why one note, or a part of it, was not imported."""

    path: str
    code: str
    message: str


def pieces(root: Path, waiting: FolderStack, survey: Survey | None = None) -> Iterator[Piece | ImportProblem]:
    """Yield every note and record below a path, or the problem why one cannot be read.

    The records of an export come first; the order of files is that of the file system. Other files are given to the
    survey. `waiting` has the folders that are still to be read, and is empty at the end. Raises BadInput, when the
    first item is requested, if there is no note and the path is not the export of an empty wiki.
    """
    if root.is_dir():
        found: Iterator[Piece | ImportProblem] = chain(
            export_pieces(root, waiting), in_folder(root, waiting, survey or Survey())
        )
    elif root.suffix == LINES and root.is_file():
        found = in_lines(str(root))
    elif root.exists():
        raise BadInput(f"{root} is neither a folder of markdown files, a .zip of one, nor a {LINES} file.", "path")
    else:
        raise BadInput(f"There is no {root}.", "path")
    first = next(found, None)
    if first is None and is_empty_export(root):
        return
    if first is None:
        raise BadInput(f"No notes are in this: they end in {' or '.join(MARKDOWN)}, or are lines of a {LINES}.", "path")
    yield first
    yield from found


def is_empty_export(root: Path) -> bool:
    """Return whether the path is the export of a wiki without pages: an empty file, or a folder with a wiki record."""
    return (root / ABOUT).is_file() if root.is_dir() else root.stat().st_size == 0


def read_wiki_record(root: Path) -> WikiRecord | None:
    """Return the wiki record of an exported folder; None if an export did not make the folder."""
    try:
        with (root / ABOUT).open("rb") as file:
            return wiki_from(orjson.loads(file.read(ABOUT_MAX)))
    except orjson.JSONDecodeError:
        return WikiRecord()
    except OSError:
        return None


def error_from(value: Any) -> ImportProblem:
    """Return an error of an export as a problem of the import, which lacks the same part."""
    path, message = (value.get(name) if isinstance(value, dict) else None for name in ("path", "message"))
    return ImportProblem(str(path)[:1_000], MISSING, f"the export does not hold it: {str(message)[:1_000]}")


def wiki_from(value: Any) -> WikiRecord:
    """Return the wiki record in a JSON value. A setting whose type differs from that of its default is ignored."""
    given = value if isinstance(value, dict) else {}
    language, boost = given.get("language"), given.get("score_boost")
    said = {name: given.get(name) for name, usual in asdict(USUAL).items() if type(given.get(name)) is type(usual)}
    if type(boost) is int:
        said["score_boost"] = float(boost)
    return WikiRecord(language if isinstance(language, str) else None, WikiSettings(**said))


def export_pieces(root: Path, waiting: FolderStack) -> Iterator[Piece]:
    """Yield the lines of an exported folder: errors, sources and mentions, then the histories of pages."""
    for name in (ERRORS, SOURCES, MENTIONS):
        path = os.path.join(root, name)
        if os.path.isfile(path):
            yield from in_lines(path)
    waiting.add(os.path.join(root, HISTORY))
    while folder := waiting.take():
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.add(entry.path)
                elif entry.name.endswith(LINES) and entry.is_file(follow_symlinks=False):
                    yield from in_lines(entry.path)


PLAIN = FormatReader(Format.MARKDOWN, Survey())


def read_all(pieces: Iterable[Piece], reader: FormatReader = PLAIN) -> list[Read | ImportProblem]:
    return [readable(piece, reader) for piece in pieces]


def readable(piece: Piece, reader: FormatReader = PLAIN) -> Read | ImportProblem:
    """Return the note or record of a piece, or the problem why it cannot be read."""
    try:
        return read(piece, reader)
    except BadNote as error:
        return ImportProblem(piece.label, BadInput.code, str(error))
    except LimitExceeded as error:
        return ImportProblem(piece.label, error.code, error.message)
    except OSError as error:
        return unreadable(piece.label, error)


def read(piece: Piece, reader: FormatReader = PLAIN) -> Read | ImportProblem:
    """Return the note or record of a piece. Raises BadNote, LimitExceeded or OSError if it cannot be read.

    A note that is too large to be stored is refused here, in a thread, before any other code processes it.
    """
    found = parse_piece(piece, reader)
    if isinstance(found, NoteFile):
        check_size(found.note)
    elif isinstance(found, Note):
        check_size(found)
    elif isinstance(found, RevisionRecord):
        check_state(found)
    return found


def parse_piece(piece: Piece, reader: FormatReader) -> Read | ImportProblem:
    if piece.size > NOTE_MAX:
        raise LimitExceeded(f"the note has {piece.size:,} bytes: at most {NOTE_MAX:,} are allowed")
    data = data_of(piece)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise BadNote(f"byte {error.start} is not UTF-8: save the file as UTF-8") from None
    return from_line(piece, text) if piece.is_line else NoteFile(reader.note(piece.label, text), data)


def data_of(piece: Piece) -> bytes:
    """Return the bytes of a piece. The caller checks its size first. Raises OSError."""
    with open(piece.file, "rb") as file:
        file.seek(piece.start)
        return file.read(piece.size)


def from_line(piece: Piece, text: str) -> Read | ImportProblem:
    """Return the note or record of a line. The kind of a record is known by its file in an export, else by its key."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BadNote(f"the line is not JSON: {error}") from None
    if piece.file.endswith(ERRORS):
        return error_from(value)
    if piece.file.endswith(SOURCES):
        return source_from_record(value)
    if piece.file.endswith(MENTIONS):
        return mention_from_record(value)
    if is_in_history(piece.file):
        return revision_from_record(value)
    if isinstance(value, dict) and set(value) == {"revision"}:
        return revision_from_record(value["revision"])
    if isinstance(value, dict) and set(value) == {"source"}:
        return source_from_record(value["source"])
    if isinstance(value, dict) and set(value) == {"mention"}:
        return mention_from_record(value["mention"])
    if isinstance(value, dict) and set(value) == {"attachment"}:
        return attachment_from_record(value["attachment"])
    if isinstance(value, dict) and set(value) == {"error"}:
        return error_from(value["error"])
    if isinstance(value, dict) and set(value) == {"wiki"}:
        return wiki_from(value["wiki"])
    return from_record(value)


def in_folder(
    root: Path, waiting: FolderStack, survey: Survey, endings: tuple[str, ...] = MARKDOWN
) -> Iterator[Piece | ImportProblem]:
    """Yield the files below a folder with one of these endings; other files are given to the survey.

    Hidden files and folders are skipped, and symbolic links to folders are not followed. Entries are read one by one,
    so that a folder with many files takes no more memory.
    """
    top, inside = os.path.join(root, ""), os.path.realpath(root)
    waiting.add(top)
    while folder := waiting.take():
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name.startswith("."):
                            survey.hidden(entry.name)
                        else:
                            waiting.add(entry.path)
                    elif is_note_or_folder_link(entry, endings):
                        survey.note(label(top, entry.path))
                        yield from in_entry(entry, top, inside, endings)
                    elif not entry.name.startswith("."):
                        survey.other(label(top, entry.path), entry.path)
        except OSError as error:
            yield unreadable(label(top, folder), error)


def is_note_or_folder_link(entry: "os.DirEntry[str]", endings: tuple[str, ...]) -> bool:
    """Return whether an entry is a note, or a symbolic link to a folder, which may lead out of the import."""
    if entry.name.startswith("."):
        return False
    return entry.name.lower().endswith(endings) or (entry.is_symlink() and os.path.isdir(entry.path))


def in_entry(
    entry: "os.DirEntry[str]", top: str, inside: str, endings: tuple[str, ...]
) -> Iterator[Piece | ImportProblem]:
    path, name = entry.path, label(top, entry.path)
    if entry.is_symlink() and not leads_inside(path, inside):
        yield ImportProblem(name, BadInput.code, "the link leads out of the folder: copy what it means")
    elif not is_utf_8(path.removeprefix(top)):
        yield ImportProblem(name, BadInput.code, "its path is not UTF-8: rename it")
    elif path.lower().endswith(endings):
        yield in_file(entry, name)


def is_utf_8(path: str) -> bool:
    """Return whether a path is UTF-8. Other paths can be opened, but neither shown nor used as a title."""
    try:
        return bool(path.encode())
    except UnicodeEncodeError:
        return False


def leads_inside(path: str, inside: str) -> bool:
    """Return whether a symbolic link leads to a file inside the folder. A link to itself does not."""
    end = os.path.realpath(path)
    return os.path.commonpath((inside, end)) == inside and not os.path.islink(end)


def in_file(entry: "os.DirEntry[str]", name: str) -> Piece | ImportProblem:
    try:
        if entry.is_file():
            return Piece(name, entry.path, 0, entry.stat().st_size)
    except OSError as error:
        return unreadable(name, error)
    return ImportProblem(name, BadInput.code, "this is not a file that could be read")


def in_lines(path: str) -> Iterator[Piece]:
    """Yield the non-blank lines of a file as positions, because a line may be larger than the memory."""
    name = label("", basename(path))
    size, number, blank = 0, 1, True
    with open(path, "rb") as file:
        start = len(BOM_UTF8) if file.read(len(BOM_UTF8)) == BOM_UTF8 else 0
        file.seek(start)
        while part := file.readline(NOTE_MAX):
            size, blank = size + len(part), blank and not part.strip()
            if part.endswith(b"\n"):
                if not blank:
                    yield Piece(f"{name}:{number}", path, start, size, is_line=True)
                start, size, number, blank = start + size, 0, number + 1, True
    if not blank:
        yield Piece(f"{name}:{number}", path, start, size, is_line=True)


def unreadable(path: str, error: OSError) -> ImportProblem:
    return ImportProblem(path, "UNREADABLE", f"it cannot be read: {error.strerror or error}")


def label(top: str, path: str) -> str:
    """Return a path relative to `top`, which ends in a slash. Bytes that are not UTF-8 are replaced."""
    return os.fsencode(path.removeprefix(top)).decode(errors="replace") or "."
