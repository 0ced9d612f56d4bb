"""The attachments of an archive: `blobs/<tenant>/<owner>/<sha256>`, copied from and to the folder of attachments.

`SHA256SUMS` lists them.
"""

import asyncio
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import asyncpg

from db.archives.blobs import find_files
from db.archives.copying import Report
from db.archives.folder import Archive, ArchiveRefused, Draft
from db.blob_folder import BlobFolder

FILES, MISSING = "blobs", "missing-blobs"
NO_FOLDER = "The bytes of {count} files lie in a folder: let CAIRN_ATTACHMENTS_DIR name it, then run this again."


async def copy_files_out(
    connection: asyncpg.Connection,
    draft: Draft,
    folder: BlobFolder | None,
    report: Report,
    tenant_id: UUID | None = None,
) -> None:
    """Copy the files of the folder to an archive that is being written, with the list of missing files.

    Raises ArchiveRefused if there are files but no folder is configured.
    """
    rows, missing = await find_files(connection, tenant_id), list[str]()
    if rows and folder is None:
        raise ArchiveRefused(NO_FOLDER.format(count=len(rows)))
    for number, row in enumerate(rows):
        assert folder is not None
        hash = bytes(row["hash"])
        data = await asyncio.to_thread(folder.get, row["tenant_id"], row["owner_id"], hash)
        name = f"{FILES}/{row['tenant_id']}/{row['owner_id']}/{hash.hex()}"
        if data is None:
            missing.append(name)
            continue
        await asyncio.to_thread(write_file, draft, name, data)
        report("saving", number, len(rows), "files")
    if missing:
        draft.write(MISSING, "".join(f"{name}\n" for name in missing).encode())


def write_file(draft: Draft, name: str, data: bytes) -> None:
    (draft.folder / name).parent.mkdir(parents=True, exist_ok=True)
    draft.write(name, data)


def missing_files(archive: Archive) -> list[str]:
    """Return the files that were missing in the folder when the archive was written."""
    path = archive.folder / MISSING
    return path.read_text().splitlines() if path.exists() else []


async def copy_files_in(archive: Archive, folder: BlobFolder | None, report: Report) -> int:
    """Copy the files of a checked archive to the folder; return their number.

    This is done before rows are restored: a file without a row is harmless, and the next sweep deletes it.
    """
    paths = sorted((archive.folder / FILES).glob("*/*/*"))
    if paths and folder is None:
        raise ArchiveRefused(NO_FOLDER.format(count=len(paths)))
    for number, path in enumerate(paths):
        assert folder is not None
        tenant_id, owner_id = (UUID(name) for name in path.parts[-3:-1])
        data = await asyncio.to_thread(path.read_bytes)
        await asyncio.to_thread(folder.put, tenant_id, owner_id, bytes.fromhex(path.name), data)
        report("loading", number, len(paths), "files")
    return len(paths)


def absent(folder: BlobFolder | None, rows: Sequence[Any]) -> list[str]:
    """Return the files of these rows that the folder lacks."""
    return [
        f"{row['tenant_id']}/{row['owner_id']}/{bytes(row['hash']).hex()}"
        for row in rows
        if folder is None or not folder.has(row["tenant_id"], row["owner_id"], bytes(row["hash"]))
    ]
