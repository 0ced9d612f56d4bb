"""Lists the attachments that are stored in the blob folder, of one tenant or of all, from the database."""

from typing import Any
from uuid import UUID

import asyncpg

IN_FOLDER = "SELECT tenant_id, owner_id, hash FROM blobs WHERE is_in_folder"
HAS_COLUMN = """SELECT EXISTS (
    SELECT FROM pg_attribute WHERE attrelid = to_regclass('blobs') AND attname = 'is_in_folder'
)"""
ORDERED = " ORDER BY tenant_id, owner_id, hash"
OF_ALL_TENANTS = IN_FOLDER + ORDERED


async def find_files(connection: asyncpg.Connection, tenant_id: UUID | None = None) -> list[Any]:
    """Return the tenant, the owner and the hash of every file in the blob folder, of one tenant or of all."""
    if not await connection.fetchval(HAS_COLUMN):  # a database of an older release
        return []
    found: list[Any] = await (
        connection.fetch(OF_ALL_TENANTS)
        if tenant_id is None
        else connection.fetch(f"{IN_FOLDER} AND tenant_id = $1{ORDERED}", tenant_id)
    )
    return found
