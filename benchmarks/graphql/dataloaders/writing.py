"""Writes the same rows as Cairn when two pages are linked: the link, the page's time of change, the target's hubness
score, and an activity log entry."""

from uuid import UUID

import asyncpg
import orjson

LOCK = "SELECT id FROM owners WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE"
LINK = """
    INSERT INTO links (tenant_id, owner_id, id, from_page_id, to_page_id, kind, reasons)
    VALUES ($1, $2, uuidv7(), $3, $4, 'reference', '{manual}') ON CONFLICT DO NOTHING"""
UNLINK = """
    DELETE FROM links
    WHERE tenant_id = $1 AND owner_id = $2 AND from_page_id = $3 AND to_page_id = $4 AND kind = 'reference'"""
TOUCH = "UPDATE pages SET updated_at = now() WHERE tenant_id = $1 AND id = $2"
HUBNESS = """
    UPDATE pages AS p SET hubness_score = (
        SELECT count(*) FROM links AS l
        JOIN pages AS f ON f.tenant_id = $1 AND f.id = l.from_page_id AND f.status = 'active'
        WHERE l.tenant_id = $1 AND l.to_page_id = $2 AND l.kind = 'reference'
    ) + 2 * (
        SELECT count(*) FROM pages AS c WHERE c.tenant_id = $1 AND c.parent_page_id = $2 AND c.status = 'active')
    WHERE p.tenant_id = $1 AND p.id = $2"""
RECORD = """
    INSERT INTO activity (tenant_id, owner_id, id, at, actor_kind, actor_id, action, page_id, detail)
    VALUES ($1, $2, uuidv7(), now(), 'user', 'benchmark', $3, $4, $5)"""


async def relink(
    connection: asyncpg.Connection, tenant: UUID, owner: UUID, start: UUID, end: UUID, statement: str, action: str
) -> None:
    """Add or remove a link in one transaction that holds the wiki's write lock."""
    async with connection.transaction():
        await connection.execute(LOCK, tenant, owner)
        await connection.execute(statement, tenant, owner, start, end)
        await connection.execute(TOUCH, tenant, start)
        await connection.execute(HUBNESS, tenant, end)
        detail = orjson.dumps({"toPageId": str(end), "reasons": ["manual"]}).decode()
        await connection.execute(RECORD, tenant, owner, action, start, detail)
