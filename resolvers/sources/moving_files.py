"""Move the bytes of blobs between Postgres and the folder of attachments, in one transaction for each blob.

The row of a blob says where its bytes are. They are written to the new place first, and deleted from the old place
last. A move that was killed can be started again and moves the remaining files.
"""

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic
from typing import NamedTuple
from uuid import UUID

from db.blob_folder import BlobFolder
from db.connection import Row
from db.database import Database
from db.scope import Role, Scope
from db.sql import statements

from ..errors import BadInput
from ..transactions.transaction import writing
from .blob_files import ACTOR, drop_files, folder_of

BLOBS = statements("import_export/blobs")
FILES_PER_BATCH = 500
BEGINNING = b""
Report = Callable[[str, int, int, str], None]


class Moved(NamedTuple):
    """The summary of a move. `missing` has the SHA-256 of files that are missing from the folder."""

    files: int
    bytes: int
    missing: tuple[str, ...]
    seconds: float


async def move_files(database: Database, tenant_ids: Sequence[UUID], report: Report, *, to_folder: bool) -> Moved:
    """Move the files of all wikis of these tenants from Postgres to the folder, or back."""
    folder, began = folder_of(database), monotonic()
    if folder is None:
        raise BadInput("There is no folder of attachments: let CAIRN_ATTACHMENTS_DIR name it.")
    scopes, total = [], 0
    for tenant_id in tenant_ids:
        async with database.connection() as connection:
            for row in await connection.all(BLOBS["count_elsewhere"], tenant_id=tenant_id, is_in_folder=to_folder):
                total += row["files"]
                owner_id = row["owner_id"]
                scopes.append(Scope(tenant_id, owner_id, Role.ADMIN, ACTOR, (owner_id,)))
    moved = size = 0
    missing: list[str] = []
    report("moving", 0, total, "")
    for scope in scopes:
        last = BEGINNING
        while files := await list_elsewhere(database, scope, last, to_folder):
            left: list[bytes] = []
            for file in files:
                last = bytes(file["hash"])
                is_moved = await move_file(database, scope, folder, last, to_folder)
                if is_moved:
                    moved, size = moved + 1, size + file["size"]
                    left.append(last)
                elif is_moved is False:
                    missing.append(last.hex())
                report("moving", moved + len(missing), total, last.hex())
            if not to_folder:
                await drop_files(database, scope, left)
    return Moved(moved, size, tuple(missing), round(monotonic() - began, 2))


async def list_elsewhere(database: Database, scope: Scope, after: bytes, to_folder: bool) -> list[Row]:
    """Return the next batch of files of a wiki that have to be moved, in the order of their hashes."""
    own = scope.wiki_values
    async with database.connection() as connection:
        return await connection.all(
            BLOBS["list_elsewhere"], **own, after=after, is_in_folder=to_folder, size=FILES_PER_BATCH
        )


async def move_file(database: Database, scope: Scope, folder: BlobFolder, hash: bytes, to_folder: bool) -> bool | None:
    """Move a file of a wiki, and return true.

    Return false if the file is missing from the folder, and None if it was deleted or moved meanwhile.
    """
    async with writing(database, scope) as writer:
        row = await writer.one(BLOBS["find_elsewhere"], hash=hash, is_in_folder=to_folder)
        if row is None:
            return None
        data: bytes | None = b""
        if to_folder:
            await asyncio.to_thread(write_whole, folder, scope, hash, bytes(row["data"]))
        else:
            data = await asyncio.to_thread(folder.get, *wiki_ids(scope), hash)
        if data is None:
            return False
        await writer.run(BLOBS["move"], hash=hash, data=data, is_in_folder=to_folder)
    return True


def write_whole(folder: BlobFolder, scope: Scope, hash: bytes, data: bytes) -> None:
    """Write a file to the folder. A damaged file with the same hash is replaced."""
    if folder.get(*wiki_ids(scope), hash) is None:
        folder.drop(*wiki_ids(scope), hash)
        folder.put(*wiki_ids(scope), hash, data)


def wiki_ids(scope: Scope) -> tuple[UUID, UUID]:
    return scope.tenant_id, scope.owner_id
