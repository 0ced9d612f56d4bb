"""A sample of searches and their answers, by which a backup and what is restored from it are compared."""

from typing import Any
from uuid import UUID

import asyncpg

from db.connection import Connection
from db.scope import Actor, ActorKind, Role, Scope
from db.sql import statements

from ..search.query_cache import Memory
from ..search.request import SearchRequest
from ..search.search import search_wiki

INVENTORY = statements("operations/inventory")
TENANTS, PAGES, HITS = 25, 2, 10
ACTOR = Actor(ActorKind.SERVICE, "cairn")


async def take_sample(raw: asyncpg.Connection) -> list[dict[str, Any]]:
    """Search for the titles of some pages of some tenants, and return the questions with the pages that were found."""
    connection, found = Connection(raw), list[dict[str, Any]]()
    for tenant in await connection.all(INVENTORY["sample_tenants"], most=TENANTS):
        own = {"tenant_id": tenant["tenant_id"]}
        for page in await connection.all(INVENTORY["sample_pages"], most=PAGES, **own):
            asked = {"tenant": str(own["tenant_id"]), "owner": str(page["owner_id"]), "text": page["title"]}
            found.append(asked | {"hits": await search_sample(connection, asked)})
    return found


async def search_sample(connection: Connection, asked: dict[str, Any]) -> list[str]:
    """Return the pages that a question finds, the best first."""
    tenant_id, owner_id = UUID(asked["tenant"]), UUID(asked["owner"])
    scope = Scope(tenant_id, owner_id, Role.ADMIN, ACTOR, (owner_id,))
    result = await search_wiki(connection, scope, SearchRequest(asked["text"], first=HITS), Memory())
    return [str(hit.page_id) for hit in result.hits]


async def differing(raw: asyncpg.Connection, sample: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the questions of a sample that are answered otherwise now."""
    connection = Connection(raw)
    return [asked for asked in sample if await search_sample(connection, asked) != asked["hits"]]
