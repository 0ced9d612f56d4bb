"""Retention: for how long a tenant keeps its activity and audit logs, finished jobs, states of pages, and sources."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from db.database import Database
from db.ids import first_id
from db.scope import Actor, ActorKind, Role, Scope
from db.sql import statements

from ..errors import BadInput
from ..sources.sources import forget_source
from ..transactions.audit import MACHINE, Event, audit
from ..transactions.transaction import transaction

PRUNING, ERASING = statements("operations/pruning"), statements("operations/erasing")
KINDS = ("activity", "audit", "jobs", "revisions", "sources")
REFUSED_KEPT = timedelta(days=30)
"""The longest time for which refused credentials stay in the audit log, because anybody can cause such entries."""
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
DAYS_MAX = 36_500
ROWS_PER_BATCH = 1_000  # rows
ACTOR = Actor(ActorKind.SERVICE, "retention")


async def find_retention(database: Database, tenant_id: UUID) -> dict[str, int]:
    """Return the days for which a tenant keeps each kind. 0 means for ever; a missing kind has the server's setting."""
    async with database.connection() as connection:
        found: dict[str, int] | None = await connection.value(PRUNING["find_retention"], tenant_id=tenant_id)
    return found or {}


async def set_retention(
    database: Database, tenant_id: UUID, days: Mapping[str, int | None], *, by: Actor = MACHINE
) -> dict[str, int]:
    """Set the days for which a tenant keeps the given kinds; None restores the setting of the server."""
    for kind, number in days.items():
        if kind not in KINDS or (number is not None and not 0 <= number <= DAYS_MAX):
            raise BadInput(f"This must lie between 0 and {DAYS_MAX:,} days.", kind)
    async with transaction(database) as connection:
        settings = await connection.value(PRUNING["set_retention"], tenant_id=tenant_id, days=dict(days)) or {}
        chosen: dict[str, int] = settings.get("retention", {})
        await audit(connection, tenant_id, by, Event.TENANT_RETENTION, **chosen)
    return chosen


async def find_moment(database: Database) -> datetime:
    """Return the time of Postgres, so that processes whose clocks differ delete the same rows."""
    async with database.connection() as connection:
        moment: datetime = await connection.value(PRUNING["find_moment"])
    return moment


async def prune(database: Database, tenant_id: UUID, retention: Mapping[str, int], now: datetime) -> dict[str, int]:
    """Delete the rows whose retention is over, in batches; return the number of each kind."""
    gone: dict[str, int] = {}
    for kind, days in retention.items():
        if not days and kind != "audit":
            continue
        ended_before = max(BEGINNING, now - timedelta(days=days)) if days else BEGINNING
        where: dict[str, Any] = {"tenant_id": tenant_id, "before": first_id(ended_before), "size": ROWS_PER_BATCH}
        if kind == "audit":
            where["refused_before"] = first_id(max(ended_before, now - REFUSED_KEPT))
        gone[kind] = 0
        while rows := await prune_batch(database, kind, where, ended_before):
            gone[kind] += rows
    return gone


async def prune_batch(database: Database, kind: str, where: Mapping[str, Any], ended_before: datetime) -> int:
    if kind == "sources":
        return await forget_stale(database, where)
    async with transaction(database) as connection:
        if kind == "jobs":
            return await connection.run(PRUNING["prune_jobs"], **where, ended_before=ended_before)
        if kind == "revisions":  # lock out writers, so that no new version is stored as a delta of a deleted one
            await connection.all(ERASING["hold_owners_of_tenant"], tenant_id=where["tenant_id"])
        return await connection.run(PRUNING[f"prune_{kind}"], **where)


async def prune_authorizations(database: Database, tenant_id: UUID) -> int:
    """Delete the OAuth authorizations that have ended, even if their owner does nothing any more."""
    async with transaction(database) as connection:
        return await connection.run(PRUNING["prune_authorizations"], tenant_id=tenant_id)


async def forget_stale(database: Database, where: Mapping[str, Any]) -> int:
    """Forget a batch of old sources; a job removes from the pages what was written from them."""
    async with database.connection() as connection:
        rows = await connection.all(PRUNING["find_stale_sources"], **where)
    for row in rows:
        owner_id = row["owner_id"]
        scope = Scope(where["tenant_id"], owner_id, Role.ADMIN, ACTOR, (owner_id,))
        await forget_source(database, scope, row["id"], "Its time of retention is over.")
    return len(rows)
