"""Forgetting a source: its words go at once, and a job takes them out of all that was written from it."""

from dataclasses import dataclass
from uuid import UUID

from content.limits import FORGET_REASON
from db.database import Database
from db.scope import Scope
from db.sql import statements

from . import checks
from .activity import record
from .jobs import enqueue
from .permissions import Action, authorise
from .sources import NO_SOURCE
from .writer import Writer
from .writing import looking, writing_row

FORGETTING = statements("forgetting")
TRIGGER = "forget"


@dataclass(frozen=True, slots=True)
class Forgotten:
    """`versions` were erased by this call, none when all were before; `job_id` is who cleans up behind them."""

    source_id: UUID
    versions: int
    job_id: UUID | None


async def forget_source(database: Database, scope: Scope, source_id: UUID, reason: str | None = None) -> Forgotten:
    """Erase every version of a source. What stays is its kind, ref and checksum, when and by whom, and the reason."""
    reason = None if reason is None else checks.line(reason, "reason", FORGET_REASON.most)
    async with writing_row(database, scope, FORGETTING["find_owner"], source_id, NO_SOURCE, Action.MANAGE) as writer:
        rows = await writer.all(FORGETTING["find_versions"], source_id=source_id)
        ids = [row["id"] for row in rows if row["forgotten_at"] is None]
        if ids:
            actor = writer.scope.actor
            await writer.run(FORGETTING["keep_said"], ids=ids)
            await writer.run(FORGETTING["erase"], ids=ids, by=f"{actor.kind.value}:{actor.id}", reason=reason)
            await record(writer, "source.forgotten", sourceId=source_id, versions=len(ids))
        if not await writer.value(FORGETTING["is_forgetting"]):
            return Forgotten(source_id, 0, None)
        wiki = writer.scope
        job_id = await enqueue(writer, wiki.tenant_id, wiki.owner_id, TRIGGER, subject=TRIGGER)
        return Forgotten(source_id, len(ids), job_id)


async def find_repeating(database: Database, scope: Scope, job_id: UUID) -> list[str]:
    """The pages (`entity/momofuku`) which the job found to say still, as people wrote it, what is forgotten."""
    async with looking(database) as connection:
        await authorise(connection, scope, scope.owner_id, Action.MANAGE)
        rows = await Writer(connection, scope).all(FORGETTING["find_repeating"], job_id=job_id)
    return [f"{row['type']}/{row['slug']}" for row in rows]
