"""A folder for the bytes of files, in place of their rows: each once in a wiki, under the SHA-256 of its bytes.

A file is whole under its name, or it has none: it is written aside, put on the disk, and renamed. Whoever writes or
deletes files of a wiki holds its lock, so that nobody deletes what another transaction is about to refer to. What a
transaction has written that was rolled back stays until `resolvers.sources.blob_files` sweeps it.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from uuid import UUID

PARTIAL = ".partial-"


class BlobFolder:
    """The files of all wikis below one folder: `<tenant>/<owner>/<first two digits>/<sha256>`."""

    def __init__(self, root: Path) -> None:
        self.root = root.expanduser()

    def path(self, tenant_id: UUID, owner_id: UUID, hash: bytes) -> Path:
        name = hash.hex()
        return self.wiki(tenant_id, owner_id) / name[:2] / name

    def wiki(self, tenant_id: UUID, owner_id: UUID) -> Path:
        return self.root / str(UUID(str(tenant_id))) / str(UUID(str(owner_id)))

    def put(self, tenant_id: UUID, owner_id: UUID, hash: bytes, data: bytes) -> None:
        """Keep a file, which is on the disk at the end, or nothing of it."""
        path = self.path(tenant_id, owner_id, hash)
        if path.is_file() and path.stat().st_size == len(data):
            return
        made = [folder for folder in (path.parent, *path.parent.parents) if not folder.exists()]
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with NamedTemporaryFile(dir=path.parent, prefix=PARTIAL, delete=False) as file:
            try:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
                Path(file.name).replace(path)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
        for folder in (path.parent, *(folder.parent for folder in made)):
            sync_folder(folder)

    def get(self, tenant_id: UUID, owner_id: UUID, hash: bytes) -> bytes | None:
        """Return a file; None where it is gone, or is not what was written any more."""
        try:
            data = self.path(tenant_id, owner_id, hash).read_bytes()
        except OSError:
            return None
        return data if sha256(data).digest() == hash else None

    def has(self, tenant_id: UUID, owner_id: UUID, hash: bytes) -> bool:
        return self.path(tenant_id, owner_id, hash).is_file()

    def copy(self, tenant_id: UUID, owner_id: UUID, to_owner_id: UUID, hash: bytes) -> bool:
        """Keep a file of a wiki in another one of its tenant as well. Return whether it is there."""
        data = self.get(tenant_id, owner_id, hash)
        if data is not None:
            self.put(tenant_id, to_owner_id, hash, data)
        return data is not None

    def drop(self, tenant_id: UUID, owner_id: UUID, hash: bytes) -> None:
        self.path(tenant_id, owner_id, hash).unlink(missing_ok=True)

    def list_files(self, tenant_id: UUID, owner_id: UUID) -> Iterator[bytes]:
        """Yield the hashes of the files of a wiki."""
        for path in self.wiki(tenant_id, owner_id).glob("??/*"):
            with suppress(ValueError):
                yield bytes.fromhex(path.name)

    def drop_partial(self, tenant_id: UUID, owner_id: UUID) -> None:
        """Delete what writers that were killed have left of files."""
        for path in self.wiki(tenant_id, owner_id).glob(f"??/{PARTIAL}*"):
            path.unlink(missing_ok=True)

    def drop_tree(self, tenant_id: UUID, owner_id: UUID | None = None) -> None:
        """Delete the files of a wiki, or of a whole tenant."""
        tree = self.root / str(UUID(str(tenant_id))) if owner_id is None else self.wiki(tenant_id, owner_id)
        if tree.exists():
            shutil.rmtree(tree)

    def check_writable(self) -> str | None:
        """Return why no file can be written; None where one can."""
        try:
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            with NamedTemporaryFile(dir=self.root, prefix=PARTIAL) as file:
                file.write(b"?")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            return error.strerror or str(error)
        return None


def sync_folder(folder: Path) -> None:
    """Let the names in a folder survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
