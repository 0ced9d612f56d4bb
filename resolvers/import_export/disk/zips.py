"""Zips of notes, read without trust in what they say of themselves and written with their contents on the disk."""

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
ENTRY = Struct("<4s24x3H12x")  # its mark, and the lengths of a name, of what is said beside it, and of a comment
COMMENT_MAX = 0xFFFF
PART_SIZE = 1 << 20  # bytes; the longest entry has a fifth of that
ENTRIES = 1_000


@dataclass(frozen=True, slots=True)
class Directory:
    """The place of the list of entries. What comes before the zip in its file has `shift` bytes."""

    start: int
    end: int
    shift: int


def directory(file: IO[bytes]) -> Directory:
    """Find the list of entries. Raises BadZipFile."""
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
        some = entries(file.read(min(PART_SIZE, where.end - at)))
        at += sum(map(len, some))
        yield some


def entries(piece: bytes) -> list[bytes]:
    """Return the entries that the piece begins with. Raises BadZipFile when it does not begin with one."""
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


def partial_zip(file: IO[bytes], where: Directory, some: list[bytes]) -> ZipFile:
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


ENTRIES_MAX = 200_000
BYTES_MAX = 4_000_000_000
PIECE = 1 << 16
PARTS_MAX = 100
PART = re.compile(r"(?i)\bpart-\d+\.zip\Z")
DATABASE = ".csv"
UNREADABLE = (BadZipFile, BadStream, LZMAError, NotImplementedError, RuntimeError, OSError, EOFError, ValueError)


@contextmanager
def unpack_zip(
    archive: Path, problems: Problems, most: int | None = None, survey: Survey | None = None
) -> Iterator[Path]:
    """The folder. What of the zip is not in it is added to the problems; the survey gets all other files than notes."""
    with tempfile.TemporaryDirectory(prefix="cairn-import-") as folder:
        try:
            with archive.open("rb") as file:
                unpacking = Unpacking(folder, BYTES_MAX if most is None else most, problems, survey or Survey())
                unpack(file, unpacking)
                unpacking.unpack_parts()
        except (BadZipFile, NotImplementedError) as error:
            raise BadInput(f"{archive.name} is no zip that can be read: {error}", "path") from None
        yield Path(folder)


def unpack(file: IO[bytes], unpacking: "Unpacking") -> None:
    """Unpack the zip into the folder. Raises LimitExceeded for what would fill the disk."""
    where, count = directory(file), 0
    for some in lists(file, where):
        count += len(some)
        if count > ENTRIES_MAX:
            raise LimitExceeded(f"The zip has more than {ENTRIES_MAX:,} entries. Import it in parts.")
    unpacking.run(zip for some in lists(file, where) for zip in parts(file, where, some))


def parts(file: IO[bytes], where: Directory, some: list[bytes]) -> Iterator[ZipFile | ImportProblem]:
    """The zip with these entries, or with each of them where one has a name that cannot be read."""
    try:
        yield partial_zip(file, where, some)
    except UnicodeDecodeError as error:
        if len(some) > 1:
            for one in some:
                yield from parts(file, where, [one])
        else:
            name = bytes(error.object).decode(errors="replace")
            yield ImportProblem(name, BadInput.code, "its name is not UTF-8, though the zip says so: name it anew")


class Unpacking:
    """The progress of unpacking one zip: the problems so far, and how many bytes there may still be."""

    def __init__(self, folder: str, most: int, problems: Problems, survey: Survey) -> None:
        self.folder, self.most, self.left, self.problems, self.survey = folder, most, most, problems, survey
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
                message = f"The zip unpacks to more than {self.most:,} bytes. Import it in parts."
                raise LimitExceeded(message) from None
            self.problems.append(
                ImportProblem(info.filename, LimitExceeded.code, f"it has more than {NOTE_MAX:,} bytes")
            )
        except UNREADABLE as error:
            self.problems.append(ImportProblem(info.filename, "UNREADABLE", f"it cannot be read from the zip: {error}"))

    def pass_over(self, zip: ZipFile, info: ZipInfo) -> None:
        """A file that is no note. Attachments are laid out to be kept, databases for their first lines, and parts of an
        export to be unpacked."""
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
        """The zips in a zip: Notion makes one of each part of a large export."""
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
    """An entry that holds more than it may, whatever it says of itself."""


def is_wanted(name: str) -> bool:
    """Return whether it is a note, or what an export says of itself; hidden files are skipped, as in a folder."""
    hidden = any(part.startswith(".") and part not in (".", "..") for part in name.replace("\\", "/").split("/"))
    return is_own(name) or (name.lower().endswith(MARKDOWN) and not hidden)


def refusal(info: ZipInfo, folder: str) -> ImportProblem | None:
    """Return why an entry is not unpacked."""
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
    """Return whether the path leads out on any system: `C:` names a disk, some part folders with a backslash."""
    first, *_ = parts = [part for part in name.split("/") if part not in ("", ".")]
    return name.startswith("/") or ".." in parts or "\\" in name or ":" in first


def is_own(name: str) -> bool:
    return name in OWN or is_history(name)


def limit_of(info: ZipInfo) -> int:
    return BYTES_MAX if is_own(info.filename) else NOTE_MAX


def lay_out(zip: ZipFile, info: ZipInfo, folder: str, most: int) -> int:
    """Unpack one entry, and return how many bytes it had. The size that it claims is not believed."""
    target = os.path.join(folder, info.filename)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with zip.open(info) as source, open(target, "wb") as file:
        size = copy(source, file, most)
    if size > most:
        os.unlink(target)
        raise TooLarge
    return size


def copy(source: IO[bytes], target: IO[bytes], most: int) -> int:
    """Copy at most a piece more than `most` bytes."""
    size = 0
    while size <= most and (piece := source.read(PIECE)):
        target.write(piece)
        size += len(piece)
    return size


class Entries(list[ZipInfo]):
    """A list that holds nothing in memory: it grows, and is read once, from its beginning."""

    def __init__(self) -> None:
        super().__init__()
        self.file, self.length = tempfile.TemporaryFile(), 0  # noqa: SIM115  closed when it was read, or by `abandon`

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
    """Names that are not looked up: an export gives each one once."""

    def __setitem__(self, name: str, entry: ZipInfo) -> None:
        """Store nothing."""


class GrowingZip(ZipFile):
    """A zip that is written and never read: what `zipfile` keeps of each entry would be half a kilobyte."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file, "w", ZIP_DEFLATED)
        self.entries = Entries()
        self.filelist, self.NameToInfo = self.entries, Forgotten()

    def abandon(self) -> None:
        """Abandon a zip that was broken off: else the collector would finish it, and complain that it cannot write."""
        self.fp = None
        self.entries.file.close()
