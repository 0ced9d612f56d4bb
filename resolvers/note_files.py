"""Where notes are read from: a folder of markdown files, or a `.jsonl` file with a page on each line."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

from content.notes import BadNote, Note, from_markdown, from_record
from content.source_records import SourceRecord, source_from_record

from .errors import BadInput, LimitExceeded
from .export_layout import ABOUT, SOURCES

NOTE_MAX = 8_000_000  # bytes: a million characters, escaped where need be
MARKDOWN = (".md", ".markdown")
LINES = ".jsonl"


@dataclass(frozen=True, slots=True)
class Piece:
    """The bytes of one note. `label` is what people call it: the path in the folder, or `pages.jsonl:12`."""

    label: str
    file: Path
    start: int
    size: int
    is_line: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """Why one note, or a part of it, was not imported."""

    path: str
    code: str
    message: str


def pieces(root: Path) -> list[Piece | Problem]:
    """Every note there is, and what is no note but looks like one."""
    if root.is_dir():
        notes = sorted(in_folder(root), key=lambda one: one.path if isinstance(one, Problem) else one.label)
        found = [*exported_sources(root), *notes]
    elif root.suffix == LINES and root.is_file():
        found = list(in_lines(root))
    elif root.exists():
        raise BadInput(f"{root} is neither a folder of markdown files nor a {LINES} file.", "path")
    else:
        raise BadInput(f"There is no {root}.", "path")
    if not found:
        raise BadInput(
            f"{root} holds no notes: they end in {' or '.join(MARKDOWN)}, or are lines of a {LINES}.", "path"
        )
    return found


def is_export(root: Path) -> bool:
    """Whether an export made the folder: then its links mean what they meant in the wiki."""
    return (root / ABOUT).is_file()


def exported_sources(root: Path) -> Iterator[Piece]:
    """What the pages of an export rest on."""
    if (root / SOURCES).is_file():
        yield from in_lines(root / SOURCES)


def read_all(pieces: Iterable[Piece]) -> list[Note | SourceRecord | Problem]:
    return [readable(piece) for piece in pieces]


def readable(piece: Piece) -> Note | SourceRecord | Problem:
    """What it holds, or why that is nothing."""
    try:
        return read(piece)
    except BadNote as error:
        return Problem(piece.label, BadInput.code, str(error))
    except LimitExceeded as error:
        return Problem(piece.label, error.code, error.message)
    except OSError as error:
        return unreadable(piece.label, error)


def read(piece: Piece) -> Note | SourceRecord:
    """What it holds. BadNote, LimitExceeded or OSError say why that is nothing."""
    if piece.size > NOTE_MAX:
        raise LimitExceeded(f"the note has {piece.size:,} bytes: at most {NOTE_MAX:,} are allowed")
    with piece.file.open("rb") as file:
        file.seek(piece.start)
        data = file.read(piece.size)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise BadNote(f"byte {error.start} is not UTF-8: save the file as UTF-8") from None
    return from_line(piece, text) if piece.is_line else from_markdown(piece.file.stem, text)


def from_line(piece: Piece, text: str) -> Note | SourceRecord:
    """A page, or a source: those of an export have a file of their own, elsewhere they say so."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BadNote(f"the line is not JSON: {error}") from None
    if piece.file.as_posix().endswith(SOURCES):
        return source_from_record(value)
    if isinstance(value, dict) and set(value) == {"source"}:
        return source_from_record(value["source"])
    return from_record(value)


def in_folder(root: Path) -> Iterator[Piece | Problem]:
    """Hidden files and folders are not looked at; links to folders are not followed."""
    inside, closed = root.resolve(), list[OSError]()
    for folder, folders, names in os.walk(root, onerror=closed.append):
        folders[:] = [name for name in folders if not name.startswith(".")]
        notes = [name for name in names if not name.startswith(".") and name.lower().endswith(MARKDOWN)]
        for path in (Path(folder, name) for name in folders + notes):
            if path.is_symlink() and not path.resolve().is_relative_to(inside):
                yield Problem(label(root, path), BadInput.code, "the link leads out of the folder: copy what it means")
            elif path.name in notes:
                yield in_file(root, path)
    for error in closed:
        yield unreadable(label(root, Path(error.filename)), error)


def in_file(root: Path, path: Path) -> Piece | Problem:
    try:
        if path.is_file():
            return Piece(label(root, path), path, 0, path.stat().st_size)
    except OSError as error:
        return unreadable(label(root, path), error)
    return Problem(label(root, path), BadInput.code, "this is not a file that could be read")


def in_lines(path: Path) -> Iterator[Piece]:
    """The lines that are not blank, by where they stand: one may be longer than memory."""
    start = size = 0
    number, blank = 1, True
    with path.open("rb") as file:
        while part := file.readline(NOTE_MAX):
            size, blank = size + len(part), blank and not part.strip()
            if part.endswith(b"\n"):
                if not blank:
                    yield Piece(f"{path.name}:{number}", path, start, size, is_line=True)
                start, size, number, blank = start + size, 0, number + 1, True
    if not blank:
        yield Piece(f"{path.name}:{number}", path, start, size, is_line=True)


def unreadable(path: str, error: OSError) -> Problem:
    return Problem(path, "UNREADABLE", f"it cannot be read: {error.strerror or error}")


def label(root: Path, path: Path) -> str:
    """The path in the folder. A name that is not UTF-8 is shown as far as it can be."""
    return os.fsencode(path.relative_to(root).as_posix()).decode(errors="replace")
