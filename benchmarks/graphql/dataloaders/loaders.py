"""A dataloader for each relation of a page. Each batch is one statement."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, TypeAlias
from uuid import UUID

import asyncpg
from strawberry.dataloader import DataLoader

Row: TypeAlias = Any  # an asyncpg.Record
PAGE = "p.id, p.title, p.slug, p.summary, p.parent_page_id, p.hubness_score"
PAGES = f"SELECT {PAGE} FROM pages AS p WHERE p.tenant_id = $1 AND p.id = ANY($2) AND p.status = 'active'"
SECTIONS = """
    SELECT s.page_id AS key, s.section_slug, s.heading, s.body_md FROM sections AS s
    WHERE s.tenant_id = $1 AND s.page_id = ANY($2) ORDER BY s.position"""
ALIASES = "SELECT a.page_id AS key, a.alias FROM aliases AS a WHERE a.tenant_id = $1 AND a.page_id = ANY($2) ORDER BY 2"
CHILDREN = f"""
    SELECT p.parent_page_id AS key, {PAGE} FROM pages AS p
    WHERE p.tenant_id = $1 AND p.parent_page_id = ANY($2) AND p.status = 'active' ORDER BY p.title, p.id"""
BACKLINKS = f"""
    SELECT l.to_page_id AS key, {PAGE}
    FROM (SELECT DISTINCT to_page_id, from_page_id FROM links WHERE tenant_id = $1 AND to_page_id = ANY($2)) AS l
    JOIN pages AS p ON p.tenant_id = $1 AND p.id = l.from_page_id AND p.status = 'active'
    ORDER BY p.hubness_score DESC, p.id DESC"""
LINKS = """
    SELECT l.from_page_id AS key, l.kind, l.to_page_id FROM links AS l
    JOIN pages AS p ON p.tenant_id = $1 AND p.id = l.to_page_id AND p.status = 'active'
    WHERE l.tenant_id = $1 AND l.from_page_id = ANY($2) ORDER BY l.id"""
EDGE_COUNTS = """
    SELECT l.here AS id, count(DISTINCT l.there) AS count
    FROM (
        SELECT from_page_id AS here, to_page_id AS there FROM links WHERE tenant_id = $1 AND from_page_id = ANY($2)
        UNION ALL
        SELECT to_page_id, from_page_id FROM links WHERE tenant_id = $1 AND to_page_id = ANY($2)) AS l
    JOIN pages AS p ON p.tenant_id = $1 AND p.id = l.there AND p.status = 'active' GROUP BY l.here"""


class Loaders:
    """The dataloaders of one request."""

    def __init__(self, pool: asyncpg.Pool, tenant: UUID) -> None:
        self.pool, self.tenant = pool, tenant
        self.pages = self.of_one(PAGES)
        self.edge_counts = self.of_one(EDGE_COUNTS)
        self.sections = self.of_many(SECTIONS)
        self.aliases = self.of_many(ALIASES)
        self.children = self.of_many(CHILDREN)
        self.backlinks = self.of_many(BACKLINKS)
        self.links = self.of_many(LINKS)

    def of_one(self, sql: str) -> DataLoader[UUID, Row | None]:
        async def load(keys: list[UUID]) -> list[Row | None]:
            rows = {row["id"]: row for row in await self.fetch(sql, keys)}
            return [rows.get(key) for key in keys]

        return DataLoader(load)

    def of_many(self, sql: str) -> DataLoader[UUID, list[Row]]:
        async def load(keys: list[UUID]) -> list[list[Row]]:
            found: dict[UUID, list[Row]] = defaultdict(list)
            for row in await self.fetch(sql, keys):
                found[row["key"]].append(row)
            return [found[key] for key in keys]

        return DataLoader(load)

    async def fetch(self, sql: str, keys: Sequence[UUID]) -> list[Any]:
        async with self.pool.acquire() as connection:
            found: list[Any] = await connection.fetch(sql, self.tenant, keys)
            return found
