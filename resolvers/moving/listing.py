"""The list of all that an import reads, in the order in which it is read."""

import os
from collections.abc import Iterable, Iterator
from typing import Any

from db.shelf import Shelf, shelf_statements

from .layout import is_in_history
from .pieces import Piece, Problem
from .problems import Problems

PIECES = shelf_statements("pieces")


class NoteList:
    """Lines in the order of their file, those of histories by their files, then files by their paths."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        shelf.make(PIECES["make_tables"])

    def fill(self, found: Iterable[Piece | Problem], problems: Problems) -> None:
        """All that was found; what is none is added to the problems."""
        unsound = Problems()
        self.shelf.put_all(PIECES["add_piece"], (row(one) for one in sound(found, unsound)))
        problems.take(unsound)

    def drop(self, folder: str) -> int:
        """Leave out the notes of a folder; how many that were."""
        return self.shelf.put(PIECES["drop_pieces"], folder=folder)

    def files(self, size: int) -> Iterator[str]:
        """The files of some notes."""
        for rows in self.shelf.some(size, PIECES["list_files"], most=size):
            yield from (os.fsdecode(file) for (file,) in rows)

    def total(self) -> int:
        return self.shelf.count(PIECES["count_pieces"])

    def some(self, size: int) -> Iterator[list[Piece]]:
        for rows in self.shelf.some(size, PIECES["list_pieces"]):
            yield [
                Piece(label, os.fsdecode(file), start, size, is_line=bool(is_line))
                for label, file, start, size, is_line in rows
            ]


def row(piece: Piece) -> dict[str, Any]:
    return {
        "label": piece.label,
        "file": os.fsencode(piece.file),
        "start": piece.start,
        "size": piece.size,
        "is_line": piece.is_line,
        "is_history": piece.is_line and is_in_history(piece.file),
    }


def sound(found: Iterable[Piece | Problem], problems: Problems) -> Iterator[Piece]:
    for one in found:
        if isinstance(one, Problem):
            problems.append(one)
        else:
            yield one
