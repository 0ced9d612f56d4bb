"""Read, copy and delete the files of blobs whose bytes are stored in a folder instead of in Postgres.

A row of `blobs` says whether its bytes are in the folder that `CAIRN_ATTACHMENTS_DIR` names. The setting only affects
blobs that are stored after it is set; `moving_files` moves the older ones.
"""

import asyncio
from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from db.blob_folder import BlobFolder
from db.connection import Row
from db.database import Database
from db.scope import Actor, ActorKind, Role, Scope
from db.sensitivity import pooled, unrestricted
from db.sql import statements

from ..errors import CairnError
from ..transactions.transaction import writing

BLOBS = statements("import_export/blobs")
ACTOR = Actor(ActorKind.SERVICE, "retention")
FILES_PER_BATCH = 500  # files


class FileMissing(CairnError):
    """The bytes of a blob are missing from the folder, or were changed there."""

    code = "FILE_MISSING"

    def __init__(self, hash: bytes) -> None:
        super().__init__(
            f"The file {hash.hex()} is missing from the folder of attachments (`CAIRN_ATTACHMENTS_DIR`), or was "
            "changed there. Ask whoever runs this service to restore it; `cairn doctor` lists what is missing."
        )


def folder_of(database: Database) -> BlobFolder | None:
    """Return the folder for the bytes of new blobs, or None if they are stored in Postgres."""
    return pooled(database).blob_folder


async def data_of(database: Database, own: Mapping[str, Any], row: Row) -> bytes:
    """Return the bytes of a row of `blobs`. `own` has the tenant_id and owner_id of its wiki. Raises FileMissing."""
    if not row["is_in_folder"]:
        return bytes(row["data"])
    folder = folder_of(database)
    data = None
    if folder is not None:
        data = await asyncio.to_thread(folder.get, own["tenant_id"], own["owner_id"], bytes(row["hash"]))
    if data is None:
        raise FileMissing(bytes(row["hash"]))
    return data


async def copy_files(database: Database, scope: Scope, to_owner_id: UUID, hashes: Collection[bytes]) -> None:
    """Copy files of a wiki to another wiki. The caller has locked both wikis. Raises FileMissing."""
    folder = folder_of(database)
    for hash in hashes:
        if folder is None or not await asyncio.to_thread(
            folder.copy, scope.tenant_id, scope.owner_id, to_owner_id, hash
        ):
            raise FileMissing(hash)


async def drop_files(database: Database, scope: Scope, hashes: Collection[bytes]) -> int:
    """Delete the files of which no row of `blobs` says that they are in the folder. Return how many there were.

    Inside a larger transaction nothing is deleted, because that transaction may be rolled back: `sweep_files` deletes
    the files later.
    """
    folder = folder_of(database)
    if folder is None or not hashes or pooled(database) is not unrestricted(database):
        return 0
    async with writing(unrestricted(database), scope) as writer:
        rows = await writer.all(BLOBS["find_kept"], hashes=list(hashes))
        gone = set(hashes) - {bytes(row["hash"]) for row in rows}
        for hash in gone:
            await asyncio.to_thread(folder.drop, scope.tenant_id, scope.owner_id, hash)
        await asyncio.to_thread(folder.drop_partial, scope.tenant_id, scope.owner_id)
    return len(gone)


# -- orphaned files


async def sweep_files(database: Database, tenant_id: UUID) -> int:
    """Delete the files of a tenant of which no row of `blobs` says that they are in the folder.

    Return how many there were.

    Transactions that were rolled back and processes that were killed, such as a move, leave such files.
    """
    folder = folder_of(database)
    if folder is None:
        return 0
    swept = 0
    async with database.connection() as connection:
        owners = [row["id"] for row in await connection.all(BLOBS["list_owners"], tenant_id=tenant_id)]
    for owner_id in owners:
        swept += await sweep_wiki(database, folder, tenant_id, owner_id)
    return swept


async def sweep_wiki(database: Database, folder: BlobFolder, tenant_id: UUID, owner_id: UUID) -> int:
    files = await asyncio.to_thread(lambda: sorted(folder.list_files(tenant_id, owner_id)))
    scope = Scope(tenant_id, owner_id, Role.ADMIN, ACTOR, (owner_id,))
    unknown: set[bytes] = set()
    for start in range(0, len(files), FILES_PER_BATCH):
        batch = files[start : start + FILES_PER_BATCH]
        own: dict[str, Any] = {"tenant_id": tenant_id, "owner_id": owner_id}
        async with database.connection() as connection:
            rows = await connection.all(BLOBS["find_kept"], **own, hashes=batch)
        unknown |= set(batch) - {bytes(row["hash"]) for row in rows}
    return await drop_files(database, scope, unknown)
