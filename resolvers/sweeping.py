"""The sweep: names that were seen often enough are to become pages, though no new source comes in."""

from datetime import date
from uuid import UUID

from db.database import Database
from db.scope import Actor, ActorKind, Role, Scope
from db.sql import statements

from .errors import Unavailable
from .jobs import enqueue
from .tenants import is_compiling, list_tenants
from .writer import Writer
from .writing import looking, writing

SWEEPS = statements("sweeps")
TRIGGER = "sweep"
EARNED_LEAST = 3
"""So many sources have to say a name before it is worth a look whether it has earned a page."""
SWEEPER = Actor(ActorKind.COMPILER, "cairn")


async def sweep(database: Database, scope: Scope) -> UUID | None:
    """The job that promotes what has earned a page; none when nothing has."""
    async with writing(database, scope) as writer:
        return await ask(writer)


async def ask(writer: Writer) -> UUID | None:
    if not await writer.all(SWEEPS["find_earned"], after="", size=1):
        return None
    return await enqueue(writer, writer.scope.tenant_id, writer.scope.owner_id, TRIGGER, subject=TRIGGER)


async def ask_for(writer: Writer, mention_id: UUID) -> UUID | None:
    """The same for one name, by whoever recorded that a source says it; none where only admins ask for jobs."""
    wiki = writer.scope
    if not await writer.value(SWEEPS["has_earned"], mention_id=mention_id) or not await is_compiling(
        writer, wiki.tenant_id
    ):
        return None
    return await enqueue(writer, wiki.tenant_id, wiki.owner_id, TRIGGER, subject=TRIGGER)


async def sweep_all(database: Database, today: date) -> bool:
    """Every wiki that nobody has swept on this day, each in a transaction of its own; false when one was too busy."""
    wanted = [{"tenant_id": tenant.id, "today": today} for tenant in await list_tenants(database)]
    async with looking(database) as connection:
        rows = await connection.all_of_each(SWEEPS["find_unswept"], wanted)
    done = [await sweep_once(database, row["tenant_id"], row["owner_id"], today) for row in rows]
    return all(done)


async def sweep_once(database: Database, tenant_id: UUID, owner_id: UUID, today: date) -> bool:
    scope = Scope(tenant_id, owner_id, Role.SERVICE, SWEEPER, (owner_id,))
    try:
        async with writing(database, scope) as writer:
            if await writer.run(SWEEPS["claim_day"], today=today):
                await ask(writer)
    except Unavailable:
        return False
    return True
