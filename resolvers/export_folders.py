"""A folder that exports are written to, again and again: only what differs is written, what is gone is removed."""

from collections.abc import Iterator
from pathlib import Path
from typing import IO

from .errors import BadInput
from .export_layout import LIST
from .note_paths import is_safe

DRAFT = ".cairn/draft"


class Folder:
    """Each file is whole at any time: it is written beside, then put in its place."""

    def __init__(self, root: Path) -> None:
        """Raises BadInput for a folder that holds anything but an earlier export."""
        self.root = root
        if root.exists() and not root.is_dir():
            raise BadInput(f"{root} is a file. Give a folder, or a name that ends in .zip or .jsonl.", "path")
        if root.exists() and any(root.iterdir()) and not (root / LIST).is_file():
            raise BadInput(f"{root} holds files that are no export. Give a folder that is new or empty.", "path")
        self.before = set(self.listed())
        self.now: set[str] = set()
        self.growing: dict[str, IO[bytes]] = {}
        (root / ".cairn").mkdir(parents=True, exist_ok=True)
        (root / LIST).touch()

    def listed(self) -> Iterator[str]:
        """The files of the earlier export."""
        if (self.root / LIST).is_file():
            yield from (self.root / LIST).read_text(encoding="utf-8").splitlines()

    def write(self, path: str, data: bytes) -> None:
        """One file. One that says the same already is not touched."""
        self.now.add(path)
        target = self.root / path
        if target.is_file() and not target.is_symlink() and target.read_bytes() == data:
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = self.root / DRAFT
        draft.write_bytes(data)
        draft.replace(target)

    def append(self, path: str, data: bytes) -> None:
        """A piece of a file that is put in its place at the end."""
        if path not in self.growing:
            self.growing[path] = (self.root / f"{path}.draft").open("wb")
        self.growing[path].write(data)

    def finish(self) -> None:
        """Everything in its place; what the earlier export wrote and this one did not is gone."""
        for path, file in self.growing.items():
            file.close()
            (self.root / f"{path}.draft").replace(self.root / path)
            self.now.add(path)
        for path in sorted(self.before - self.now):
            self.remove(path)
        self.write(LIST, "".join(f"{path}\n" for path in sorted(self.now)).encode())

    def remove(self, path: str) -> None:
        """A file that an export may have written, and the folders that it leaves empty."""
        if not (is_safe(path) or path.startswith(".cairn/")) or ".." in path.split("/"):
            return
        target = self.root / path
        target.unlink(missing_ok=True)
        for folder in target.relative_to(self.root).parents:
            if folder == Path() or any((self.root / folder).iterdir()):
                return
            (self.root / folder).rmdir()
