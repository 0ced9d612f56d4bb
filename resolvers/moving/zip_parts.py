"""A zip in parts, so that one of many entries takes no more memory than one of few, whatever it says of itself.

`zipfile` reads the list of all entries at once. Here it sees the same file with some of that list after the other.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct
from typing import IO
from zipfile import BadZipFile, ZipFile

END, END_64, LOCATOR = Struct("<4s4H2LH"), Struct("<4sQ2H2L4Q"), Struct("<4sLQL")
END_MARK, END_64_MARK, LOCATOR_MARK, ENTRY_MARK = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07", b"PK\x01\x02"
ENTRY = Struct("<4s24x3H12x")  # its mark, and the lengths of a name, of what is said beside it, and of a comment
COMMENT_MAX = 0xFFFF
PIECE = 1 << 20  # bytes; the longest entry has a fifth of that
ENTRIES = 1_000


@dataclass(frozen=True, slots=True)
class Directory:
    """Where the list of entries stands. What comes before the zip in its file has `shift` bytes."""

    start: int
    end: int
    shift: int


def directory(file: IO[bytes]) -> Directory:
    """Raises BadZipFile."""
    length = file.seek(0, os.SEEK_END)
    first = max(0, length - COMMENT_MAX - END.size - LOCATOR.size - END_64.size)
    file.seek(first)
    tail = file.read()
    at = tail.rfind(END_MARK)
    if at < 0 or len(tail) - at < END.size:
        raise BadZipFile("it has no end")
    *_, size, offset, _ = END.unpack_from(tail, at)
    locator, record = at - LOCATOR.size, at - LOCATOR.size - END_64.size
    if record >= 0 and tail.startswith(LOCATOR_MARK, locator) and tail.startswith(END_64_MARK, record):
        *_, size, offset = END_64.unpack_from(tail, record)
        at = record
    end = first + at
    if end < size or end - size < offset:
        raise BadZipFile("the list of its entries stands nowhere")
    return Directory(end - size, end, end - size - offset)


def lists(file: IO[bytes], where: Directory) -> Iterator[list[bytes]]:
    """The entries of the list, as they stand there, some at once."""
    at = where.start
    while at < where.end:
        file.seek(at)
        some = entries(file.read(min(PIECE, where.end - at)))
        at += sum(map(len, some))
        yield some


def entries(piece: bytes) -> list[bytes]:
    """Those that the piece begins with. Raises BadZipFile when it does not begin with one."""
    found: list[bytes] = []
    at = 0
    while len(found) < ENTRIES and at + ENTRY.size <= len(piece):
        mark, *lengths = ENTRY.unpack_from(piece, at)
        end = at + ENTRY.size + sum(lengths)
        if mark != ENTRY_MARK or end > len(piece):
            break
        found.append(piece[at:end])
        at = end
    if not found:
        raise BadZipFile("the list of its entries is broken")
    return found


def part(file: IO[bytes], where: Directory, some: list[bytes]) -> ZipFile:
    """The zip as if it had these entries alone. Raises BadZipFile, or UnicodeDecodeError for a name that is none."""
    listed = b"".join(some)
    offset, count = where.start - where.shift, len(some)
    record = END_64.pack(END_64_MARK, END_64.size - 12, 45, 45, 0, 0, count, count, len(listed), offset)
    locator = LOCATOR.pack(LOCATOR_MARK, 0, offset + len(listed), 1)
    end = END.pack(END_MARK, 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    return ZipFile(Spliced(file, where.start, listed + record + locator + end))


class Spliced:
    """A file up to a place, and bytes from there on."""

    def __init__(self, file: IO[bytes], place: int, rest: bytes) -> None:
        self.file, self.place, self.rest, self.at = file, place, rest, 0

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self.at, os.SEEK_END: self.place + len(self.rest)}[whence]
        if start + offset < 0:
            raise OSError("There is nothing before the beginning.")
        self.at = start + offset
        return self.at

    def read(self, size: int = -1) -> bytes:
        """Up to the place, or from there: who reads over it reads twice."""
        if self.at >= self.place:
            here = self.at - self.place
            data = self.rest[here:] if size < 0 else self.rest[here : here + size]
        else:
            left = self.place - self.at
            self.file.seek(self.at)
            data = self.file.read(left if size < 0 else min(size, left))
        self.at += len(data)
        return data
