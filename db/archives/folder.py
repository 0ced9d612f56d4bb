"""An archive: a folder with a manifest, a compressed file for each table, and the SHA-256 of every file.

It is written under another name and renamed at the end, so that a folder with the final name is complete. Without
Cairn, `sha256sum -c SHA256SUMS` checks it and `gzip -dc` prints a table.
"""

import gzip
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson

from ..blob_folder import sync_folder

FORMAT = 1
FILES = "files.tar.gz"
MANIFEST, SUMS, SECRET, LOCK = "manifest.json", "SHA256SUMS", "token-secret", "lock"
LEVEL = 5  # of gzip: files are a sixth smaller than with 1, and it is twice as fast as 9
CHUNK = 1 << 20


class ArchiveBroken(Exception):
    """Raised if an archive cannot be read or has changed. The message says what to do."""

    code = "ARCHIVE_BROKEN"


class ArchiveRefused(Exception):
    """Raised if an archive cannot be written or restored as requested. The message says what to do."""

    code = "ARCHIVE_REFUSED"


@dataclass(frozen=True, slots=True)
class Contents:
    """The columns of a table in an archive, the number of rows, and the size in bytes and SHA-256 of their text."""

    columns: list[str]
    rows: int
    bytes: int
    sha256: str


@dataclass(slots=True)
class Manifest:
    """The description of an archive: its origin and its contents."""

    kind: str
    """`database`, `tenant`, or `files` for the files of the embedded server, for a restore to a point in time."""
    revision: str
    created_at: str
    server_version: str
    schema: str
    tables: dict[str, Contents] = field(default_factory=dict)
    indexes: dict[str, str] = field(default_factory=dict)
    sample: list[dict[str, Any]] = field(default_factory=list)
    analyser: int = 0
    tenant: dict[str, str] | None = None
    format: int = FORMAT

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables.values())


class Counted:
    """Counts the rows and bytes of a text in the format of COPY, and computes its SHA-256, piece by piece."""

    def __init__(self) -> None:
        self.rows = self.bytes = 0
        self.hash = hashlib.sha256()

    def add(self, piece: bytes) -> None:
        self.rows += piece.count(b"\n")  # COPY writes a line break inside a value as a backslash and an n
        self.bytes += len(piece)
        self.hash.update(piece)

    def contents(self, columns: list[str]) -> Contents:
        return Contents(columns, self.rows, self.bytes, self.hash.hexdigest())


class Draft:
    """An archive that is being written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "tables").mkdir()

    @contextmanager
    def table(self, name: str) -> Iterator[gzip.GzipFile]:
        """Open the file of a table for its text."""
        with (
            self.create(f"tables/{file_name(name)}") as raw,
            gzip.GzipFile("", "wb", LEVEL, raw, mtime=0) as file,
        ):
            yield file

    @contextmanager
    def create(self, name: str) -> Iterator[Any]:
        """Open a new file that only its owner may read. It is synced to disk at the end of the block."""
        with os.fdopen(os.open(self.folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())

    def write(self, name: str, data: bytes) -> None:
        with self.create(name) as file:
            file.write(data)

    def close(self, manifest: Manifest) -> None:
        """Write the manifest and the checksums. No file may be added afterwards."""
        self.write(MANIFEST, orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        names = sorted(path for path in self.folder.rglob("*") if path.is_file() and path.name != LOCK)
        lines = (f"{sum_of(path)}  {path.relative_to(self.folder).as_posix()}\n" for path in names)
        self.write(SUMS, "".join(lines).encode())


def file_name(table: str) -> str:
    return f"{quote(table, safe='')}.copy.gz"


@contextmanager
def writing_archive(place: Path) -> Iterator[Draft]:
    """Write an archive under another name, and rename it at the end. Raises ArchiveRefused if the place exists.

    Remains of a killed command are removed.
    """
    if place.exists() or place.is_symlink():
        raise ArchiveRefused(f"{place} already exists. Give the name of a new folder.")
    aside = place.with_name(f".{place.name}.partial")
    place.parent.mkdir(parents=True, exist_ok=True)
    aside.mkdir(mode=0o700, exist_ok=True)
    with (aside / LOCK).open("ab") as lock:
        try:
            flock(lock, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            raise ArchiveRefused(f"Another command is writing {place}. Wait for it, or give another name.") from None
        empty(aside)
        try:
            yield Draft(aside)
            (aside / LOCK).unlink()
            sync_folder(aside / "tables")
            sync_folder(aside)
            aside.rename(place)
            sync_folder(place.parent)
        except BaseException:
            shutil.rmtree(aside, ignore_errors=True)
            raise


def empty(folder: Path) -> None:
    """Delete everything in a folder except the lock."""
    for path in folder.iterdir():
        if path.name == LOCK:
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def sum_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Archive:
    """An existing archive. Raises ArchiveBroken if its manifest cannot be read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest = read_manifest(folder)

    def check(self) -> None:
        """Compare every file with its checksum. Raises ArchiveBroken."""
        try:
            lines = (self.folder / SUMS).read_text().splitlines()
            sums = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
        except (OSError, UnicodeDecodeError) as error:
            raise ArchiveBroken(f"{self.folder / SUMS} cannot be read: {error}. Use another backup.") from error
        files = {FILES} if self.manifest.kind == "files" else set()
        wanted = {MANIFEST, *files, *(f"tables/{file_name(table)}" for table in self.manifest.tables)}
        if missing := sorted(wanted - sums.keys()):
            raise ArchiveBroken(f"{self.folder / SUMS} lacks {', '.join(missing)}. Use another backup.")
        for name, digest in sums.items():
            path = self.folder / name
            if not path.is_file() or sum_of(path) != digest:
                raise ArchiveBroken(f"{path} is missing or was changed. Use another backup.")

    def pieces(self, table: str) -> Iterator[bytes]:
        """Yield the text of a table. Raises ArchiveBroken at the end if the text does not match the manifest."""
        counted, expected = Counted(), self.manifest.tables[table]
        path = self.folder / "tables" / file_name(table)
        try:
            with gzip.open(path, "rb") as file:
                while piece := file.read(CHUNK):
                    counted.add(piece)
                    yield piece
        except (OSError, EOFError, ValueError) as error:
            raise ArchiveBroken(f"{path} cannot be read: {error}. Use another backup.") from error
        if counted.contents(expected.columns) != expected:
            raise ArchiveBroken(f"{path} does not match the manifest. Use another backup.")

    @property
    def secret(self) -> bytes | None:
        """Return the secret that signs tokens, or None if it was not stored with the database."""
        path = self.folder / SECRET
        return path.read_bytes() if path.exists() else None


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of an archive. Raises ArchiveBroken, also for an archive of a newer Cairn."""
    try:
        found = orjson.loads((folder / MANIFEST).read_bytes())
        if found["format"] > FORMAT:
            raise ArchiveBroken(f"{folder} was written by a newer Cairn. Install that one, or a newer one.")
        tables = {name: Contents(**contents) for name, contents in found.pop("tables").items()}
        return Manifest(tables=tables, **found)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ArchiveBroken(f"{folder} is not a backup of Cairn: {MANIFEST} cannot be read ({error}).") from error
