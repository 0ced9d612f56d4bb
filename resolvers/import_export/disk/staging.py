"""Temporary storage for the notes of an import, so that an import takes constant memory."""

import os
import pickle
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from content.notes.notes import Note

from ..formats import Format
from ..notes import ImportProblem, Piece
from ..results import Problems
from .paths import is_in_history
from .temp_database import TempDatabase, temp_statements


@dataclass(frozen=True, slots=True)
class OriginalFile:
    """The unchanged file of a note. `says_all` means that an export has recorded all other facts of its page."""

    file: bytes
    body_start: int | None
    format: Format | None = None
    """The tool that the file comes from, if an export has recorded it."""
    is_respelled: bool | None = None
    """Whether the links of the page are spelled otherwise than in the file, if an export has recorded it."""
    says_all: bool = False


class Spool:
    """Stores notes in a temporary file, which is removed when the import ends."""

    def __init__(self) -> None:
        self.file = tempfile.TemporaryFile()  # noqa: SIM115  closed with the spool

    def __enter__(self) -> "Spool":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.file.close()

    def keep(self, note: Note, original_file: OriginalFile | None = None) -> int:
        """Store a note with its original file, and return its position."""
        place = self.file.seek(0, 2)
        pickle.dump(note, self.file, pickle.HIGHEST_PROTOCOL)
        pickle.dump(original_file, self.file, pickle.HIGHEST_PROTOCOL)
        return place

    def take(self, place: int) -> Note:
        self.file.seek(place)
        note: Note = pickle.load(self.file)  # noqa: S301  nobody else has the file
        return note

    def take_original(self, place: int) -> OriginalFile | None:
        """Return the original file of the note at a position; None if the note came from a line without one."""
        self.take(place)
        original_file: OriginalFile | None = pickle.load(self.file)  # noqa: S301  nobody else has the file
        return original_file


PIECES = temp_statements("pieces")


class NoteList:
    """The pieces of an import in order: lines in the order of their file, lines of histories, then files by path."""

    def __init__(self, temp: TempDatabase) -> None:
        self.temp = temp
        temp.make(PIECES["make_tables"])

    def fill(self, found: Iterable[Piece | ImportProblem], problems: Problems) -> None:
        """Add the pieces to the list, and the problems among them to `problems`."""
        found_problems = Problems()
        self.temp.put_all(PIECES["add_piece"], (row(piece) for piece in valid_pieces(found, found_problems)))
        problems.merge(found_problems)

    def drop(self, folder: str) -> int:
        """Remove the notes of a folder from the list; return their number."""
        return self.temp.put(PIECES["drop_pieces"], folder=folder)

    def files(self, size: int) -> Iterator[str]:
        """Yield the paths on the disk of up to `size` notes."""
        for rows in self.temp.batches(size, PIECES["list_files"], limit=size):
            yield from (os.fsdecode(file) for (file,) in rows)

    def total(self) -> int:
        return self.temp.count(PIECES["count_pieces"])

    def batches(self, limit: int, max_bytes: int) -> Iterator[list[Piece]]:
        """Yield the pieces in batches of at most `limit` pieces and `max_bytes` bytes, but at least one piece."""
        batch: list[Piece] = []
        total = 0
        for rows in self.temp.batches(limit, PIECES["list_pieces"]):
            for label, file, start, size, is_line in rows:
                if batch and (len(batch) == limit or total + size > max_bytes):
                    yield batch
                    batch, total = [], 0
                batch.append(Piece(label, os.fsdecode(file), start, size, is_line=bool(is_line)))
                total += size
        if batch:
            yield batch


def row(piece: Piece) -> dict[str, Any]:
    return {
        "label": piece.label,
        "file": os.fsencode(piece.file),
        "start": piece.start,
        "size": piece.size,
        "is_line": piece.is_line,
        "is_history": piece.is_line and is_in_history(piece.file),
    }


def valid_pieces(found: Iterable[Piece | ImportProblem], problems: Problems) -> Iterator[Piece]:
    for piece in found:
        if isinstance(piece, ImportProblem):
            problems.append(piece)
        else:
            yield piece
