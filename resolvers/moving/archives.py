"""A zip of notes, laid out in a folder for the time of an import. Nothing in it is trusted."""

import os
import re
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from lzma import LZMAError
from pathlib import Path
from typing import IO
from zipfile import BadZipFile, ZipFile, ZipInfo
from zlib import error as BadStream

from ..errors import BadInput, LimitExceeded
from .formats import MARKDOWN, Survey
from .layout import OWN, is_history
from .pieces import NOTE_MAX, Problem
from .problems import Problems
from .zip_parts import Directory, directory, lists, part

ENTRIES_MAX = 200_000
BYTES_MAX = 4_000_000_000
PIECE = 1 << 16
PARTS_MAX = 100
PART = re.compile(r"(?i)\bpart-\d+\.zip\Z")
DATABASE = ".csv"
UNREADABLE = (BadZipFile, BadStream, LZMAError, NotImplementedError, RuntimeError, OSError, EOFError, ValueError)


@contextmanager
def unpacked(
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
    """Raises LimitExceeded for what would fill the disk."""
    where, count = directory(file), 0
    for some in lists(file, where):
        count += len(some)
        if count > ENTRIES_MAX:
            raise LimitExceeded(f"The zip has more than {ENTRIES_MAX:,} entries. Import it in parts.")
    unpacking.run(zip for some in lists(file, where) for zip in parts(file, where, some))


def parts(file: IO[bytes], where: Directory, some: list[bytes]) -> Iterator[ZipFile | Problem]:
    """The zip with these entries, or with each of them where one has a name that cannot be read."""
    try:
        yield part(file, where, some)
    except UnicodeDecodeError as error:
        if len(some) > 1:
            for one in some:
                yield from parts(file, where, [one])
        else:
            name = bytes(error.object).decode(errors="replace")
            yield Problem(name, BadInput.code, "its name is not UTF-8, though the zip says so: name it anew")


class Unpacking:
    """What has come of one zip so far: the problems, and how many bytes there may still be."""

    def __init__(self, folder: str, most: int, problems: Problems, survey: Survey) -> None:
        self.folder, self.most, self.left, self.problems, self.survey = folder, most, most, problems, survey
        self.parts: list[str] = []
        self.is_inside = False

    def run(self, parts: Iterable[ZipFile | Problem]) -> None:
        for zip in parts:
            if isinstance(zip, Problem):
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
            self.problems.append(Problem(info.filename, LimitExceeded.code, f"it has more than {NOTE_MAX:,} bytes"))
        except UNREADABLE as error:
            self.problems.append(Problem(info.filename, "UNREADABLE", f"it cannot be read from the zip: {error}"))

    def pass_over(self, zip: ZipFile, info: ZipInfo) -> None:
        """A file that is no note. Databases are laid out for their first lines, parts of an export to be unpacked."""
        name = info.filename
        hidden = next((part for part in name.replace("\\", "/").split("/") if part.startswith(".") and part[1:]), None)
        if hidden or info.is_dir():
            self.survey.hidden(hidden or "")
            return
        is_part = PART.search(name) is not None and not self.is_inside and len(self.parts) < PARTS_MAX
        if not (is_part or name.lower().endswith(DATABASE)) or refusal(info, self.folder):
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
                self.problems.append(Problem(name, "UNREADABLE", f"it is no zip that can be read: {error}"))
            os.unlink(path)


class TooLarge(Exception):
    """An entry that holds more than it may, whatever it says of itself."""


def is_wanted(name: str) -> bool:
    """Notes, and what an export says of itself; hidden files are not looked at, as in a folder."""
    hidden = any(part.startswith(".") and part not in (".", "..") for part in name.replace("\\", "/").split("/"))
    return is_own(name) or (name.lower().endswith(MARKDOWN) and not hidden)


def refusal(info: ZipInfo, folder: str) -> Problem | None:
    """Why an entry is not laid out."""
    if leads_out(info.filename):
        return Problem(info.filename, BadInput.code, "the path leads out of the zip")
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFLNK):
        return Problem(info.filename, BadInput.code, "this is no file, but a device or a pipe")
    if kind == stat.S_IFLNK:
        return Problem(info.filename, BadInput.code, "this is a link: zip what it means")
    if info.flag_bits & 1:
        return Problem(info.filename, BadInput.code, "it is encrypted: zip it without a password")
    if os.path.exists(os.path.join(folder, info.filename)):
        return Problem(info.filename, BadInput.code, "the zip holds two files of this name")
    return None


def leads_out(name: str) -> bool:
    """For any system: `C:` names a disk, and some part folders with a backslash."""
    first, *_ = parts = [part for part in name.split("/") if part not in ("", ".")]
    return name.startswith("/") or ".." in parts or "\\" in name or ":" in first


def is_own(name: str) -> bool:
    return name in OWN or is_history(name)


def limit_of(info: ZipInfo) -> int:
    return BYTES_MAX if is_own(info.filename) else NOTE_MAX


def lay_out(zip: ZipFile, info: ZipInfo, folder: str, most: int) -> int:
    """Unpack one entry; how many bytes it had. What it says of its size is not believed."""
    target = os.path.join(folder, info.filename)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with zip.open(info) as source, open(target, "wb") as file:
        size = copy(source, file, most)
    if size > most:
        os.unlink(target)
        raise TooLarge
    return size


def copy(source: IO[bytes], target: IO[bytes], most: int) -> int:
    """At most a piece more than `most`."""
    size = 0
    while size <= most and (piece := source.read(PIECE)):
        target.write(piece)
        size += len(piece)
    return size
