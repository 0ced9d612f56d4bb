"""The list of all that an import reads, in the order in which it is read."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from .pieces import Piece, Problem
from .shelf import Shelf

TABLES = (
    """CREATE TABLE pieces (id INTEGER PRIMARY KEY, label TEXT, file BLOB, start INTEGER, size INTEGER,
    is_line INTEGER)""",
)
ADD = "INSERT INTO pieces (label, file, start, size, is_line) VALUES (?, ?, ?, ?, ?)"
IN_TURN = """SELECT label, file, start, size, is_line FROM pieces
    ORDER BY is_line DESC, CASE WHEN is_line THEN '' ELSE label END, id"""


class NoteList:
    """Lines in the order of their file, then files by their paths."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        shelf.make(*TABLES)

    def fill(self, found: Iterable[Piece | Problem]) -> list[Problem]:
        """All that was found; what is none is handed back, by its path."""
        problems: list[Problem] = []
        self.shelf.put_all(ADD, (row(one) for one in sound(found, problems)))
        return sorted(problems, key=lambda problem: problem.path)

    def total(self) -> int:
        return self.shelf.count("pieces")

    def some(self, size: int) -> Iterator[list[Piece]]:
        for rows in self.shelf.some(size, IN_TURN):
            yield [
                Piece(label, Path(os.fsdecode(file)), start, size, is_line=bool(is_line))
                for label, file, start, size, is_line in rows
            ]


def row(piece: Piece) -> tuple[str, bytes, int, int, bool]:
    return piece.label, os.fsencode(piece.file), piece.start, piece.size, piece.is_line


def sound(found: Iterable[Piece | Problem], problems: list[Problem]) -> Iterator[Piece]:
    for one in found:
        if isinstance(one, Problem):
            problems.append(one)
        else:
            yield one
