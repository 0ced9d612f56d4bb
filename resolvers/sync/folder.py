"""The folder of a sync: list its files, and write or remove a file without losing a concurrent save of an editor.

A file is never overwritten. It is moved to `.cairn/kept` and checked there, and only then is the new file moved to its
path. A save that happens meanwhile is found in `.cairn/kept`, even if the sync was killed.
"""

import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from fcntl import LOCK_EX, LOCK_NB, flock
from hashlib import sha256
from posixpath import basename, dirname, splitext
from time import time_ns

from content.limits import ATTACHMENT
from content.markdown.attachments import media_type
from content.normalization import normalize

from ..errors import BadInput, Conflict
from ..import_export.disk.paths import lies_inside
from ..import_export.formats import MARKDOWN
from ..import_export.notes import NOTE_MAX, ImportProblem
from .planning import path_key

KEPT = ".cairn/kept"
DRAFT = ".cairn/sync.draft"
LOCK = ".cairn/sync.lock"
TEMPORARY = "~$"
"""The prefix of temporary files of office programs. Those of other programs are hidden or have other endings."""
CONFLICTED = re.compile(r" \(conflict \d{4}-\d\d-\d\d \d{4}(?: \d+)?\)(?=\.[^./]+$)")
FRESH = 2_000_000_000
"""Nanoseconds within which a second write may leave the modification time of a file unchanged."""


class Locked(Conflict):
    """Another sync works in this folder."""

    def __init__(self, root: str) -> None:
        super().__init__(f"Another sync works in {root}. Wait for it to end, or stop it.")


class FileChanged(Exception):
    """A file was changed by another program while the sync used it. The next round decides what to do."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A file in the folder. `path` is its normalised path, and `place` its path as the disk has it."""

    path: str
    place: str
    size: int
    mtime: int

    @property
    def is_note(self) -> bool:
        return self.path.lower().endswith(MARKDOWN)


@dataclass(slots=True)
class Listing:
    """A listing of a folder: the files to be synced, the conflict files, and the files that are left alone."""

    files: dict[str, Seen] = field(default_factory=dict)
    """The files to be synced, by the keys of their paths."""
    conflicts: set[str] = field(default_factory=set)
    left: dict[str, ImportProblem] = field(default_factory=dict)
    """The problems of files that are left alone, by the keys of their paths; unreadable folders end in a slash."""

    def is_left(self, path: str) -> bool:
        """Return whether the file at a path is left alone, or its folder cannot be read."""
        key = path_key(path)
        return key in self.left or any(left_key.endswith("/") and key.startswith(left_key) for left_key in self.left)

    def leave(self, path: str, message: str, code: str = BadInput.code) -> None:
        self.left[path_key(path)] = ImportProblem(path, code, message)


@contextmanager
def lock_folder(root: str) -> Iterator[None]:
    """Lock a folder for one sync. The system releases the lock when the process ends. Raises Locked."""
    os.makedirs(os.path.join(root, ".cairn"), exist_ok=True)
    with open(os.path.join(root, LOCK), "w") as lock:
        try:
            flock(lock, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            raise Locked(root) from None
        yield


def list_folder(root: str) -> Listing:
    """List the files of a folder. Symbolic links are not followed, because they may lead out of it."""
    found, folders = Listing(), [""]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(os.path.join(root, folder)) as entries:
                for entry in sorted(entries, key=lambda entry: entry.name):
                    if entry.name.startswith((".", TEMPORARY)):
                        continue
                    path = f"{folder}{entry.name}"
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(f"{path}/")
                    else:
                        add_to_listing(found, path, entry)
        except OSError as error:
            if not folder:
                raise
            found.left[path_key(folder)] = ImportProblem(folder, "UNREADABLE", f"{error.strerror or error}")
    return found


def add_to_listing(found: Listing, place: str, entry: "os.DirEntry[str]") -> None:
    """Add a file to a listing, or the reason why it is left alone."""
    path = normalize("NFC", os.fsencode(place).decode(errors="replace"))
    is_note = path.lower().endswith(MARKDOWN)
    if not is_note and media_type(path) is None:
        return
    try:
        seen = entry.stat(follow_symlinks=False)
    except OSError as error:
        if not isinstance(error, FileNotFoundError):
            found.leave(path, f"it cannot be read: {error.strerror or error}", "UNREADABLE")
        return
    key, limit = path_key(path), NOTE_MAX if is_note else ATTACHMENT.maximum
    if CONFLICTED.search(path):
        found.conflicts.add(path)
    elif not stat.S_ISREG(seen.st_mode):
        found.leave(path, "this is a link, or no file: copy what it means")
    elif not lies_inside(path) or os.fsencode(place) != place.encode(errors="replace"):
        found.leave(path, "its path is not the same on every system: rename the file")
    elif seen.st_size > limit:
        found.leave(path, f"it has {seen.st_size:,} bytes: at most {limit:,} are allowed", "LIMIT_EXCEEDED")
    elif not is_note and not seen.st_size:
        found.leave(path, "it is empty")
    elif other := found.files.pop(key, None):
        found.leave(path, f"some systems take it for {other.path}: rename one of them")
    elif key not in found.left:
        found.files[key] = Seen(path, place, seen.st_size, seen.st_mtime_ns)


def is_fresh(seen: Seen, nanoseconds: int = FRESH) -> bool:
    """Return whether a file was written within the last `nanoseconds`, or has a time in the future."""
    return seen.mtime > time_ns() - nanoseconds


def hash_of(data: bytes) -> str:
    return sha256(data).hexdigest()


def read(root: str, seen: Seen) -> bytes:
    """Read a file. Raises FileChanged if it has changed since the listing, and OSError if it cannot be read."""
    try:
        file = os.open(os.path.join(root, seen.place), os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        raise FileChanged(seen.path) from None
    with open(file, "rb") as data:
        text = data.read(seen.size + 1)
        now = os.fstat(data.fileno())
    if (now.st_size, now.st_mtime_ns, len(text)) != (seen.size, seen.mtime, seen.size):
        raise FileChanged(seen.path)
    return text


# -- writing


def write(root: str, place: str, data: bytes, before: str | None) -> None:
    """Replace the file with the hash `before`, or write a new one for None. Raises FileChanged for another file."""
    target, draft = path_inside(root, place), os.path.join(root, DRAFT)
    os.makedirs(os.path.dirname(draft), exist_ok=True)
    with open(draft, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.makedirs(os.path.dirname(target), exist_ok=True)
    kept = None
    if before is not None:
        kept = set_aside(root, place, target, before)
        with suppress(OSError):
            os.chmod(draft, stat.S_IMODE(os.stat(kept).st_mode))
    try:
        put(draft, target)
    except FileExistsError:
        raise FileChanged(place) from None
    finally:
        if kept and is_file(kept, before):
            drop(root, kept)
        elif kept:  # an editor wrote to it after it was moved
            put_back(root, place, kept)


def put(draft: str, target: str) -> None:
    """Move a file to a path without a file. Raises FileExistsError if there is one."""
    try:
        os.link(draft, target, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:  # the file system has no hard links
        if os.path.lexists(target):
            raise FileExistsError(target) from None
        os.rename(draft, target)
    else:
        os.unlink(draft)


def move(root: str, place: str, to: str, before: str) -> None:
    """Move a file with the hash `before` to a free path. Raises FileChanged if there is another file at either path."""
    target = path_inside(root, to)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    kept = set_aside(root, place, path_inside(root, place), before)
    try:
        put(kept, target)
    except FileExistsError:
        put(kept, path_inside(root, place))
        raise FileChanged(to) from None
    remove_empty_folders(root, dirname(f"{KEPT}/{place}"))
    remove_empty_folders(root, dirname(place))


def remove(root: str, place: str, before: str) -> None:
    """Remove a file with the hash `before`, and folders that become empty. Raises FileChanged for another file."""
    kept = set_aside(root, place, path_inside(root, place), before)
    if not is_file(kept, before):  # an editor wrote to it after it was moved
        put_back(root, place, kept)
        raise FileChanged(place)
    drop(root, kept)
    remove_empty_folders(root, dirname(place))


def set_aside(root: str, place: str, target: str, before: str) -> str:
    """Move a file to `.cairn/kept` and return its path there. Raises FileChanged if its hash is not `before`."""
    kept = os.path.join(root, KEPT, place)
    os.makedirs(os.path.dirname(kept), exist_ok=True)
    try:
        os.rename(target, kept)
    except FileNotFoundError:
        raise FileChanged(place) from None
    if not is_file(kept, before):
        put_back(root, place, kept)
        raise FileChanged(place)
    return kept


def is_file(path: str, hash: str | None) -> bool:
    """Return whether the path is a file with this hash, and not a symbolic link."""
    if os.path.islink(path) or not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return hash_of(file.read()) == hash


def put_back(root: str, place: str, kept: str) -> None:
    """Move a file back to its path, or to a conflict file if another file is there now."""
    try:
        put(kept, path_inside(root, place))
    except FileExistsError:
        put(kept, path_inside(root, conflict_name(root, place)))
    remove_empty_folders(root, dirname(f"{KEPT}/{place}"))


def drop(root: str, kept: str) -> None:
    """Remove a file from `.cairn/kept`."""
    with suppress(FileNotFoundError):
        os.unlink(kept)
    remove_empty_folders(root, dirname(os.path.relpath(kept, root)))


def remove_empty_folders(root: str, folder: str) -> None:
    """Remove a folder and its parents as long as they are empty."""
    while folder and folder != ".cairn":
        try:
            os.rmdir(os.path.join(root, folder))
        except OSError:  # it is not empty, or is removed already
            return
        folder = dirname(folder)


def recover(root: str, known: Mapping[str, str]) -> None:
    """Move back the files that a killed sync has left in `.cairn/kept`. `known` has the hashes at the last sync.

    A file that is unchanged since the last sync is removed if another file is at its path: the wiki has its text.
    """
    top = os.path.join(root, KEPT)
    for folder, _, names in os.walk(top):
        for name in names:
            kept = os.path.join(folder, name)
            place = os.path.relpath(kept, top)
            if os.path.lexists(path_inside(root, place)) and is_file(kept, known.get(path_key(place))):
                drop(root, kept)
            else:
                put_back(root, place, kept)
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(root, DRAFT))


def path_inside(root: str, place: str) -> str:
    """Return the absolute path of a file. Raises BadInput if a symbolic link leads out of the synced folder."""
    target, top = os.path.join(root, place), os.path.realpath(root)
    folder = os.path.realpath(os.path.dirname(target))
    if os.path.commonpath((top, folder)) != top:
        raise BadInput(f"{place} leads out of the folder: nothing is written there.", "path")
    return target


def conflict_name(root: str, place: str) -> str:
    """Return a free name for a conflict file, such as `Name (conflict 2026-11-26 1432).md`."""
    stem, ending = splitext(place)
    moment = datetime.now().strftime("%Y-%m-%d %H%M")
    number = 1
    while True:
        name = f"{stem} (conflict {moment}{f' {number}' if number > 1 else ''}){ending}"
        if not os.path.lexists(os.path.join(root, name)):
            return name
        number += 1


def write_conflict_file(root: str, place: str, data: bytes, conflicts: set[str]) -> str:
    """Write the other text of a file to a conflict file, unless there is one with that text; return its name."""
    stem, ending = splitext(place)
    for name in sorted(conflicts):
        if CONFLICTED.sub("", name) == f"{stem}{ending}" and is_file(os.path.join(root, name), hash_of(data)):
            return name
    while True:
        name = conflict_name(root, place)
        with suppress(FileChanged):
            write(root, name, data, None)
            return name


def stem_of(path: str) -> str:
    """Return the name of a file without its ending."""
    return splitext(basename(path))[0]
