"""Backfill the sections of links: pages saved by earlier releases do not have stored which sections link where.

Workers do it in batches.
"""

from uuid import UUID

from db.database import Database
from db.scope import Actor, ActorKind, Role, Scope
from db.sql import statements
from lib.threads import offload

from ..auth.owners import list_owners
from ..model import outline
from ..model.pages import find_pages
from ..transactions.transaction import read_connection, writing
from ..transactions.writer import Writer
from .insert import find_targets

TARGETS = statements("links/targets")
ACTOR = Actor(ActorKind.SERVICE, "links")
PAGES_PER_BATCH = 50  # the wiki is locked for one batch at a time


async def place_links(database: Database, tenant_id: UUID) -> int:
    """Store the missing sections of links in all wikis of a tenant. Return the number of pages."""
    placed = 0
    for owner in await list_owners(database, tenant_id):
        scope = Scope(tenant_id, owner.id, Role.ADMIN, ACTOR, (owner.id,))
        while count := await place_batch(database, scope):
            placed += count
    return placed


async def place_batch(database: Database, scope: Scope) -> int:
    async with read_connection(database) as connection:
        if not await Writer(connection, scope).all(TARGETS["find_unplaced"], size=1):
            return 0
    async with writing(database, scope) as writer:
        ids = [row["id"] for row in await writer.all(TARGETS["find_unplaced"], size=PAGES_PER_BATCH)]
        rows = [
            (page.id, target)
            for page in (await find_pages(writer, ids)).values()
            for target in await offload(outline.size(page.sections), find_targets, page.body, page.sections)
        ]
        await writer.run(
            TARGETS["place_targets"],
            ids=ids,
            page_ids=[page_id for page_id, _ in rows],
            targets=[target.target for _, target in rows],
            sections=[" ".join(target.sections) for _, target in rows],
        )
    return len(ids)
