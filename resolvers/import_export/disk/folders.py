"""An export folder, which is updated by each export: only changed files are written, and obsolete ones are removed."""

import os
from collections.abc import Iterator
from contextlib import suppress
from filecmp import cmp
from pathlib import Path
from typing import IO

from ...errors import BadInput
from .paths import LIST, is_safe, is_safe_attachment
from .temp_database import TempDatabase, temp_statements

FOLDERS = temp_statements("folders")
DRAFT = ".cairn/draft"
FILES_PER_BATCH = 500


class Folder:
    """A folder that an export writes. Each file is complete at any time: it is written elsewhere and then moved."""

    def __init__(self, root: Path) -> None:
        """Open the folder. Raises BadInput if it has files and is not an earlier export."""
        self.root = root
        if root.exists() and not root.is_dir():
            raise BadInput(f"{root} is a file. Give a folder, or a name that ends in .zip or .jsonl.", "path")
        if root.exists() and any(root.iterdir()) and not (root / LIST).is_file():
            raise BadInput(f"{root} holds files that are no export. Give a folder that is new or empty.", "path")
        (root / ".cairn").mkdir(parents=True, exist_ok=True)
        (root / LIST).touch()
        self.temp = TempDatabase()
        self.temp.make(FOLDERS["make_tables"])
        self.temp.put_all(FOLDERS["add_before"], ({"path": path} for path in self.earlier_files()))
        self.growing: dict[str, IO[bytes]] = {}

    def earlier_files(self) -> Iterator[str]:
        """Yield the paths of the files of the earlier export."""
        with (self.root / LIST).open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                yield line.rstrip("\n")

    def write(self, path: str, data: bytes) -> None:
        """Write a file, unless it has the same content already."""
        self.temp.put(FOLDERS["add_now"], path=path)
        target = self.place(path)
        if is_plain(target) and content(target) == data:
            return
        draft = self.place(DRAFT)
        with open(draft, "wb") as file:
            file.write(data)
        try:
            os.replace(draft, target)
        except FileNotFoundError:  # the folder does not exist yet
            os.makedirs(os.path.dirname(target))
            os.replace(draft, target)

    def keep(self, path: str) -> None:
        """Do not remove the file of an earlier export at this path. A path that it did not write is ignored."""
        self.temp.put(FOLDERS["keep"], path=path)

    def append(self, path: str, data: bytes) -> None:
        """Append a piece to a file, which is moved to its path at the end."""
        if path not in self.growing:
            self.temp.put(FOLDERS["add_now"], path=path)
            target = self.place(path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            self.growing[path] = open(f"{target}.draft", "wb")  # noqa: SIM115  closed by `end`
        self.growing[path].write(data)

    def end(self, path: str) -> None:
        """Close a file that was appended to, and move it to its path."""
        if file := self.growing.pop(path, None):
            file.close()
            put_in_place(f"{self.place(path)}.draft", self.place(path))

    def finish(self) -> None:
        """Move all files to their paths, and remove the files that only the earlier export wrote."""
        for batch in self.temp.batches(FILES_PER_BATCH, FOLDERS["list_gone"]):
            for (path,) in batch:
                self.remove(path)
        for batch in self.temp.batches(FILES_PER_BATCH, FOLDERS["list_now"], list=LIST):
            self.append(LIST, "".join(f"{path}\n" for (path,) in batch).encode())
        for path in list(self.growing):
            self.end(path)
        self.temp.close()

    def remove(self, path: str) -> None:
        """Remove a file that an export may have written, and the folders that it leaves empty."""
        if not (is_safe(path) or is_safe_attachment(path) or path.startswith(".cairn/")) or ".." in path.split("/"):
            return
        with suppress(FileNotFoundError, NotADirectoryError):
            os.unlink(self.place(path))
        while path := os.path.dirname(path):
            try:
                os.rmdir(self.place(path))
            except FileNotFoundError:
                continue
            except OSError:  # the folder is not empty
                return

    def place(self, path: str) -> str:
        return os.path.join(self.root, path)


def is_plain(path: str) -> bool:
    """Return whether the path is a file, and not a symbolic link."""
    return os.path.isfile(path) and not os.path.islink(path)


def content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def put_in_place(draft: str, target: str) -> None:
    """Move a draft to its path, unless the file there has the same content."""
    if is_plain(target) and cmp(draft, target, shallow=False):
        os.unlink(draft)
    else:
        os.replace(draft, target)
