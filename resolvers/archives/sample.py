"""A sample of searches with their hits, by which a restored database is compared with the one that was backed up."""

from typing import Any
from uuid import UUID

import asyncpg

from db.connection import Connection
from db.scope import Actor, ActorKind, Role, Scope
from db.sql import statements

from ..search.query_cache import QueryCache
from ..search.request import SearchRequest
from ..search.search import search_wiki

INVENTORY = statements("operations/inventory")
TENANTS, PAGES, HITS = 25, 2, 10
ACTOR = Actor(ActorKind.SERVICE, "cairn")


async def take_sample(raw: asyncpg.Connection) -> list[dict[str, Any]]:
    """Search for the titles of some pages of some tenants, and return the queries with the ids of the pages found."""
    connection = Connection(raw)
    sample: list[dict[str, Any]] = []
    for tenant in await connection.all(INVENTORY["sample_tenants"], limit=TENANTS):
        tenant_id = tenant["tenant_id"]
        for page in await connection.all(INVENTORY["sample_pages"], limit=PAGES, tenant_id=tenant_id):
            query = {"tenant": str(tenant_id), "owner": str(page["owner_id"]), "text": page["title"]}
            sample.append(query | {"hits": await search_sample(connection, query)})
    return sample


async def search_sample(connection: Connection, query: dict[str, Any]) -> list[str]:
    """Return the ids of the pages that a query finds, the best first."""
    tenant_id, owner_id = UUID(query["tenant"]), UUID(query["owner"])
    scope = Scope(tenant_id, owner_id, Role.ADMIN, ACTOR, (owner_id,))
    result = await search_wiki(connection, scope, SearchRequest(query["text"], first=HITS), QueryCache())
    return [str(hit.page_id) for hit in result.hits]


async def differing(raw: asyncpg.Connection, sample: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the queries of a sample that find other pages now."""
    connection = Connection(raw)
    return [query for query in sample if await search_sample(connection, query) != query["hits"]]
