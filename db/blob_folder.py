"""A folder that stores the bytes of attachments, instead of rows. Each file is stored once in a wiki, by its SHA-256.

A file under its final name is always complete: it is written under another name, synced to disk, and renamed. Code that
writes or deletes files of a wiki holds the wiki's lock, so that no file is deleted to which another transaction is
about to refer. Files of a transaction that was rolled back stay until `resolvers.sources.blob_files` sweeps them.
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
    """The files of all wikis in one folder: `<tenant>/<owner>/<first two digits>/<sha256>`."""

    def __init__(self, root: Path) -> None:
        self.root = root.expanduser()

    def path(self, tenant_id: UUID, owner_id: UUID, hash: bytes) -> Path:
        name = hash.hex()
        return self.wiki(tenant_id, owner_id) / name[:2] / name

    def wiki(self, tenant_id: UUID, owner_id: UUID) -> Path:
        return self.root / str(UUID(str(tenant_id))) / str(UUID(str(owner_id)))

    def put(self, tenant_id: UUID, owner_id: UUID, hash: bytes, data: bytes) -> None:
        """Store a file durably. On an error, nothing of it is stored."""
        path = self.path(tenant_id, owner_id, hash)
        if path.is_file() and path.stat().st_size == len(data):
            return
        missing = [folder for folder in (path.parent, *path.parent.parents) if not folder.exists()]
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
        for folder in (path.parent, *(folder.parent for folder in missing)):
            sync_folder(folder)

    def get(self, tenant_id: UUID, owner_id: UUID, hash: bytes) -> bytes | None:
        """Return the content of a file, or None if it is missing or does not have this hash any more."""
        try:
            data = self.path(tenant_id, owner_id, hash).read_bytes()
        except OSError:
            return None
        return data if sha256(data).digest() == hash else None

    def has(self, tenant_id: UUID, owner_id: UUID, hash: bytes) -> bool:
        return self.path(tenant_id, owner_id, hash).is_file()

    def copy(self, tenant_id: UUID, owner_id: UUID, to_owner_id: UUID, hash: bytes) -> bool:
        """Copy a file to another wiki of the tenant. Return whether the file exists."""
        data = self.get(tenant_id, owner_id, hash)
        if data is not None:
            self.put(tenant_id, to_owner_id, hash, data)
        return data is not None

    def drop(self, tenant_id: UUID, owner_id: UUID, hash: bytes) -> None:
        self.path(tenant_id, owner_id, hash).unlink(missing_ok=True)

    def list_files(self, tenant_id: UUID, owner_id: UUID) -> Iterator[bytes]:
        """Yield the hash of each file of a wiki."""
        for path in self.wiki(tenant_id, owner_id).glob("??/*"):
            with suppress(ValueError):
                yield bytes.fromhex(path.name)

    def drop_partial(self, tenant_id: UUID, owner_id: UUID) -> None:
        """Delete incomplete files, which killed processes have left."""
        for path in self.wiki(tenant_id, owner_id).glob(f"??/{PARTIAL}*"):
            path.unlink(missing_ok=True)

    def drop_tree(self, tenant_id: UUID, owner_id: UUID | None = None) -> None:
        """Delete the files of a wiki, or of a whole tenant."""
        tree = self.root / str(UUID(str(tenant_id))) if owner_id is None else self.wiki(tenant_id, owner_id)
        if tree.exists():
            shutil.rmtree(tree)

    def check_writable(self) -> str | None:
        """Return the reason why no file can be written, or None if files can be written."""
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
    """Sync a folder to disk, so that the names of its files survive a power failure."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
