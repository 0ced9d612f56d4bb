"""Blobs: files that a wiki stores byte for byte, each once, by the SHA-256 of its bytes, while a row refers to it.

A table that refers to blobs has a foreign key on `blobs`, and a line in the statement `drop_unused`.
"""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple
from uuid import UUID

from content.ingest.flags import Flag
from content.limits import ORIGINAL
from db.database import Database
from db.scope import Scope
from db.sql import statements
from lib.threads import offload

from ..errors import BadInput, NotFound
from ..permissions import Action
from ..transactions.transaction import NO_WIKI, find_owner_of, read_connection
from ..transactions.writer import Writer
from .blob_files import data_of, folder_of

BLOBS = statements("import_export/blobs")
FORGETTING = statements("sources/forgetting")
NO_ORIGINAL = "There is no original of this source in this wiki: it was not made from a file."


@dataclass(frozen=True, slots=True)
class Original:
    """The file that a source was read from, with its bytes."""

    source: str
    sha256: str
    media_type: str
    address: str
    data: bytes


@dataclass(frozen=True, slots=True)
class OriginalDraft:
    """The file that a new source was read from: its bytes, its media type, and its address."""

    data: bytes
    media_type: str
    address: str


class CheckedOriginal(NamedTuple):
    """A validated original, with the sentences of its text that are addressed to agents as `flags`."""

    data: bytes
    hash: bytes
    media_type: str
    address: str
    flags: Sequence[Flag] = ()


async def hash_of(data: bytes, field: str = "content", *, restored: bool = False) -> bytes:
    """Return the SHA-256 of a file. Raises BadInput for a file that is too large or empty."""
    max_size = ORIGINAL.limit(restored=restored)
    if len(data) > max_size:
        raise BadInput(f"The file has {len(data):,} bytes; at most {max_size:,} are kept.", field)
    if not data:
        raise BadInput("The file is empty.", field)
    return (await offload(len(data), sha256, data)).digest()


async def keep_blob(database: Database, writer: Writer, hash: bytes, data: bytes) -> None:
    """Store a blob in the writer's wiki, unless it is stored already. The caller writes the row that refers to it."""
    folder, scope = folder_of(database), writer.scope
    if folder is not None:
        await asyncio.to_thread(folder.put, scope.tenant_id, scope.owner_id, hash, data)
    await writer.run(BLOBS["keep"], hash=hash, size=len(data), data=b"" if folder else data, is_in_folder=bool(folder))


async def drop_unused_blobs(writer: Writer, hashes: Collection[bytes]) -> set[bytes]:
    """Delete the rows of those blobs that nothing in the wiki refers to. Return their hashes.

    The caller passes the hashes to `drop_files` after the commit.
    """
    if not hashes:
        return set()
    return {bytes(row["hash"]) for row in await writer.all(BLOBS["drop_unused"], hashes=list(hashes))}


async def keep_original(database: Database, writer: Writer, source_id: UUID, original: CheckedOriginal) -> None:
    """Store the file that a new source was read from."""
    await keep_blob(database, writer, original.hash, original.data)
    await writer.run(
        BLOBS["attach"],
        source_id=source_id,
        hash=original.hash,
        media_type=original.media_type,
        address=original.address,
        flags=[flag._asdict() for flag in original.flags],
    )


async def drop_originals(writer: Writer, source_ids: Collection[UUID]) -> set[bytes]:
    """Delete the originals of sources. Return the hashes of deleted blobs, as `drop_unused_blobs` does."""
    rows = await writer.all(BLOBS["detach"], source_ids=list(source_ids))
    return await drop_unused_blobs(writer, {row["hash"] for row in rows})


async def read_original(database: Database, scope: Scope, source_id: UUID) -> Original:
    """Return the file that a source was read from. Raises NotFound, FileMissing."""
    owner_id = await find_owner_of(database, scope, FORGETTING["find_owner"], source_id, NO_WIKI, Action.READ)
    own: dict[str, Any] = {"tenant_id": scope.tenant_id, "owner_id": owner_id, "source_id": source_id}
    async with read_connection(database) as connection:
        row = await connection.one(BLOBS["find_original"], **own)
    if row is None:
        raise NotFound(NO_ORIGINAL)
    data = await data_of(database, own, row)
    return Original(f"{row['kind']}/{row['ref']}", row["hash"].hex(), row["media_type"], row["address"], data)
