"""Unpack zips of notes without trusting their headers, and write zips whose list of entries is on the disk."""

import os
import pickle
import re
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from lzma import LZMAError
from pathlib import Path
from struct import Struct
from typing import IO
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo
from zlib import error as BadStream

from content.markdown.attachments import media_type

from ...errors import BadInput, LimitExceeded
from ..formats import ATTACHMENTS_MAX, MARKDOWN, Survey
from ..notes import NOTE_MAX, ImportProblem
from ..results import Problems
from .paths import OWN, is_history

END, END_64, LOCATOR = Struct("<4s4H2LH"), Struct("<4sQ2H2L4Q"), Struct("<4sLQL")
END_MARK, END_64_MARK, LOCATOR_MARK, ENTRY_MARK = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07", b"PK\x01\x02"
ENTRY = Struct("<4s24x3H12x")  # the signature, and the lengths of the name, of the extra field and of the comment
COMMENT_MAX = 0xFFFF
PART_SIZE = 1 << 20  # bytes that are read at once; the longest entry has a fifth of that
ENTRIES = 1_000


@dataclass(frozen=True, slots=True)
class Directory:
    """The position of the central directory in the file. `shift` is the number of bytes in front of the zip."""

    start: int
    end: int
    shift: int


def directory(file: IO[bytes]) -> Directory:
    """Find the central directory, the list of entries. Raises BadZipFile."""
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
    """Yield the raw entries of the central directory, in batches."""
    at = where.start
    while at < where.end:
        file.seek(at)
        batch = entries(file.read(min(PART_SIZE, where.end - at)))
        at += sum(map(len, batch))
        yield batch


def entries(piece: bytes) -> list[bytes]:
    """Return the complete entries at the beginning of a piece. Raises BadZipFile if there is none."""
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


def partial_zip(file: IO[bytes], where: Directory, batch: list[bytes]) -> ZipFile:
    """Open the zip as if it had only these entries. Raises BadZipFile, or UnicodeDecodeError for an invalid name."""
    listed = b"".join(batch)
    offset, count = where.start - where.shift, len(batch)
    record = END_64.pack(END_64_MARK, END_64.size - 12, 45, 45, 0, 0, count, count, len(listed), offset)
    locator = LOCATOR.pack(LOCATOR_MARK, 0, offset + len(listed), 1)
    end = END.pack(END_MARK, 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    return ZipFile(Spliced(file, where.start, listed + record + locator + end))


class Spliced:
    """A readable file that consists of the beginning of another file, up to `place`, followed by other bytes."""

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
        """Read up to `size` bytes, but not across `place`: a caller that needs more reads again."""
        if self.at >= self.place:
            here = self.at - self.place
            data = self.rest[here:] if size < 0 else self.rest[here : here + size]
        else:
            left = self.place - self.at
            self.file.seek(self.at)
            data = self.file.read(left if size < 0 else min(size, left))
        self.at += len(data)
        return data


ENTRIES_MAX = 200_000
BYTES_MAX = 4_000_000_000
PIECE = 1 << 16
PARTS_MAX = 100
PART = re.compile(r"(?i)\bpart-\d+\.zip\Z")
DATABASE = ".csv"
UNREADABLE = (BadZipFile, BadStream, LZMAError, NotImplementedError, RuntimeError, OSError, EOFError, ValueError)


@contextmanager
def unpack_zip(
    archive: Path, problems: Problems, limit: int | None = None, survey: Survey | None = None
) -> Iterator[Path]:
    """Unpack a zip into a temporary folder, which is removed at the end of the block.

    Entries that are not unpacked are added to the problems, and files other than notes to the survey. Raises BadInput
    for a file that is not a zip, and LimitExceeded for a zip that unpacks to more than `limit` bytes.
    """
    with tempfile.TemporaryDirectory(prefix="cairn-import-") as folder:
        try:
            with archive.open("rb") as file:
                unpacking = Unpacking(folder, BYTES_MAX if limit is None else limit, problems, survey or Survey())
                unpack(file, unpacking)
                unpacking.unpack_parts()
        except (BadZipFile, NotImplementedError) as error:
            raise BadInput(f"{archive.name} is no zip that can be read: {error}", "path") from None
        yield Path(folder)


def unpack(file: IO[bytes], unpacking: "Unpacking") -> None:
    """Unpack a zip into the folder. Raises LimitExceeded for too many entries or bytes."""
    where, count = directory(file), 0
    for batch in lists(file, where):
        count += len(batch)
        if count > ENTRIES_MAX:
            raise LimitExceeded(f"The zip has more than {ENTRIES_MAX:,} entries. Import it in parts.")
    unpacking.run(zip for batch in lists(file, where) for zip in parts(file, where, batch))


def parts(file: IO[bytes], where: Directory, batch: list[bytes]) -> Iterator[ZipFile | ImportProblem]:
    """Yield the zip with these entries, or, if one of their names is invalid, a zip or a problem for each entry."""
    try:
        yield partial_zip(file, where, batch)
    except UnicodeDecodeError as error:
        if len(batch) > 1:
            for entry in batch:
                yield from parts(file, where, [entry])
        else:
            name = bytes(error.object).decode(errors="replace")
            yield ImportProblem(name, BadInput.code, "its name is not UTF-8, though the zip says so: name it anew")


class Unpacking:
    """The unpacking of one zip. `left` is the number of bytes that may still be unpacked."""

    def __init__(self, folder: str, limit: int, problems: Problems, survey: Survey) -> None:
        self.folder, self.limit, self.left, self.problems, self.survey = folder, limit, limit, problems, survey
        self.parts: list[str] = []
        self.is_inside = False

    def run(self, parts: Iterable[ZipFile | ImportProblem]) -> None:
        for zip in parts:
            if isinstance(zip, ImportProblem):
                self.problems.append(zip)
            else:
                for info in zip.infolist():
                    self.take(zip, info)

    def take(self, zip: ZipFile, info: ZipInfo) -> None:
        if not is_wanted(info.filename):
            self.pass_over(zip, info)
            return
        if reason := refusal(info, self.folder):
            self.problems.append(reason)
            return
        try:
            self.left -= lay_out(zip, info, self.folder, min(self.left, limit_of(info)))
        except TooLarge:
            if self.left <= limit_of(info):
                message = f"The zip unpacks to more than {self.limit:,} bytes. Import it in parts."
                raise LimitExceeded(message) from None
            self.problems.append(
                ImportProblem(info.filename, LimitExceeded.code, f"it has more than {NOTE_MAX:,} bytes")
            )
        except UNREADABLE as error:
            self.problems.append(ImportProblem(info.filename, "UNREADABLE", f"it cannot be read from the zip: {error}"))

    def pass_over(self, zip: ZipFile, info: ZipInfo) -> None:
        """Unpack a file that is not a note if the import needs it: an attachment, a database, or a zip of a part."""
        name = info.filename
        hidden = next((part for part in name.replace("\\", "/").split("/") if part.startswith(".") and part[1:]), None)
        if hidden or info.is_dir():
            self.survey.hidden(hidden or "")
            return
        is_part = PART.search(name) is not None and not self.is_inside and len(self.parts) < PARTS_MAX
        is_kept = media_type(name) is not None and len(self.survey.attachments) < ATTACHMENTS_MAX
        if not (is_part or is_kept or name.lower().endswith(DATABASE)) or refusal(info, self.folder):
            self.survey.other(name)
            return
        try:
            self.left -= lay_out(zip, info, self.folder, self.left if is_part else min(self.left, NOTE_MAX))
        except (TooLarge, *UNREADABLE):
            self.survey.other(name)
        else:
            self.parts += [name] if is_part else []

    def unpack_parts(self) -> None:
        """Unpack the zips in the zip: Notion makes one for each part of a large export."""
        self.is_inside = True
        for name in self.parts:
            path = os.path.join(self.folder, name)
            try:
                with open(path, "rb") as file:
                    unpack(file, self)
            except (BadZipFile, NotImplementedError) as error:
                self.problems.append(ImportProblem(name, "UNREADABLE", f"it is no zip that can be read: {error}"))
            os.unlink(path)


class TooLarge(Exception):
    """An entry unpacks to more bytes than are allowed."""


def is_wanted(name: str) -> bool:
    """Return whether an entry is a visible note or a record file of an export."""
    hidden = any(part.startswith(".") and part not in (".", "..") for part in name.replace("\\", "/").split("/"))
    return is_own(name) or (name.lower().endswith(MARKDOWN) and not hidden)


def refusal(info: ZipInfo, folder: str) -> ImportProblem | None:
    """Return the problem why an entry is not unpacked, or None."""
    if leads_out(info.filename):
        return ImportProblem(info.filename, BadInput.code, "the path leads out of the zip")
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFLNK):
        return ImportProblem(info.filename, BadInput.code, "this is no file, but a device or a pipe")
    if kind == stat.S_IFLNK:
        return ImportProblem(info.filename, BadInput.code, "this is a link: zip what it means")
    if info.flag_bits & 1:
        return ImportProblem(info.filename, BadInput.code, "it is encrypted: zip it without a password")
    if os.path.exists(os.path.join(folder, info.filename)):
        return ImportProblem(info.filename, BadInput.code, "the zip holds two files of this name")
    return None


def leads_out(name: str) -> bool:
    """Return whether a path leaves the folder on any operating system; `C:` and backslashes have a meaning on some."""
    first, *_ = parts = [part for part in name.split("/") if part not in ("", ".")]
    return name.startswith("/") or ".." in parts or "\\" in name or ":" in first


def is_own(name: str) -> bool:
    return name in OWN or is_history(name)


def limit_of(info: ZipInfo) -> int:
    return BYTES_MAX if is_own(info.filename) else NOTE_MAX


def lay_out(zip: ZipFile, info: ZipInfo, folder: str, limit: int) -> int:
    """Unpack one entry and return its size. Raises TooLarge for more than `limit` bytes, whatever its header says.

    An entry that cannot be read to its end leaves no file, which would be imported like the others.
    """
    target = os.path.join(folder, info.filename)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with zip.open(info) as source, open(target, "wb") as file:
        try:
            size = copy(source, file, limit)
            if size > limit:
                raise TooLarge
        except BaseException:
            os.unlink(target)
            raise
    return size


def copy(source: IO[bytes], target: IO[bytes], limit: int) -> int:
    """Copy up to one piece more than `limit` bytes, and return the number of bytes."""
    size = 0
    while size <= limit and (piece := source.read(PIECE)):
        target.write(piece)
        size += len(piece)
    return size


class Entries(list[ZipInfo]):
    """A list of entries in a temporary file instead of in memory. It is appended to, and read once."""

    def __init__(self) -> None:
        super().__init__()
        self.file, self.length = tempfile.TemporaryFile(), 0  # noqa: SIM115  closed after reading, or by `abandon`

    def append(self, entry: ZipInfo) -> None:
        pickle.dump(entry, self.file, pickle.HIGHEST_PROTOCOL)
        self.length += 1

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[ZipInfo]:
        with self.file as file:
            file.seek(0)
            for _ in range(self.length):
                yield pickle.load(file)  # noqa: S301  nobody else has the file


class Forgotten(dict[str, ZipInfo]):
    """A dictionary that stores nothing, for the names of entries: an export writes each name once and looks up none."""

    def __setitem__(self, name: str, entry: ZipInfo) -> None:
        """Store nothing."""


class GrowingZip(ZipFile):
    """A zip file for writing only, without the half kilobyte of memory that `zipfile` needs per entry."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file, "w", ZIP_DEFLATED)
        self.entries = Entries()
        self.filelist, self.NameToInfo = self.entries, Forgotten()

    def abandon(self) -> None:
        """Discard an unfinished zip. Otherwise its finaliser would try to complete it, and fail to write."""
        self.fp = None
        self.entries.file.close()
