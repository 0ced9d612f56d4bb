"""The audit log: who did what to the security of a tenant, and what was refused. Events are added, and never changed.

A change is written in its own transaction, and what changes nothing, as an export, when it is done. Anybody can cause a
refusal: refusals are counted in memory, and a few lines a minute are written of them.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple
from uuid import UUID

from db.connection import Connection
from db.database import Database
from db.ids import new_id
from db.scope import Actor, ActorKind
from db.sql import statements
from observability.trace import CLIENT_ADDRESS, request_id

from .transaction import transaction
from .writer import Writer

AUDIT, KEYS = statements("access/audit"), statements("access/api_keys")
OPERATORS_LOG: Final = UUID(int=0)
"""Whose events those are that belong to no tenant: the operator's own. No tenant has this id."""
MACHINE = Actor(ActorKind.SERVICE, "cairn")
"""Who acts in a command on the server's machine."""
STORED_EVERY: Final = 60.0  # seconds
LINES_MOST: Final = 20  # of refusals, each time that they are stored
KEYS_MOST: Final = 10_000  # of which a process notes the last use between two times
REASON_MOST: Final = 120  # characters


class Event(StrEnum):
    """Every event that the log knows. What is before the first dot is what it is about."""

    SIGN_IN = "sign_in"
    CREDENTIAL = "credential"
    KEY_CREATED = "api_key.created"
    KEY_ROTATED = "api_key.rotated"
    KEY_REVOKED = "api_key.revoked"
    KEY_USED = "api_key.used"
    TOKEN_CREATED = "token.created"  # noqa: S105 - the name of an event
    TENANT_CREATED = "tenant.created"
    TENANT_COMPILING = "tenant.compiling_set"
    TENANT_RETENTION = "tenant.retention_set"
    TENANT_EXPORTED = "tenant.exported"
    TENANT_IMPORTED = "tenant.imported"
    TENANT_ERASED = "tenant.erased"
    OWNER_CREATED = "owner.created"
    OWNER_ERASED = "owner.erased"
    SOURCES_ERASED = "sources.erased"
    GRANT_SAVED = "grant.saved"
    GRANT_REMOVED = "grant.removed"
    SHARE_CREATED = "share_link.created"
    SHARE_WITHDRAWN = "share_link.withdrawn"
    PROGRAM_AUTHORIZED = "oauth.authorized"
    PROGRAM_CONNECTED = "oauth.token_issued"
    PROGRAM_WITHDRAWN = "oauth.withdrawn"
    PROGRAM_STOLEN = "oauth.secret_reused"
    WEBHOOK_CREATED = "webhook.created"
    WEBHOOK_UPDATED = "webhook.updated"
    WEBHOOK_DELETED = "webhook.deleted"
    WEBHOOK_ROTATED = "webhook.secret_rotated"
    WEBHOOK_DISABLED = "webhook.disabled"
    WEBHOOK_REDELIVERED = "webhook.redelivered"
    SETTINGS_UPDATED = "wiki.settings_updated"
    WIKI_EXPORTED = "wiki.exported"
    BACKED_UP = "backup.created"
    RESTORED = "backup.restored"


async def audit(
    connection: Connection, tenant_id: UUID, by: Actor, event: Event, subject: object = None, **detail: Any
) -> None:
    """Write what somebody does, in the transaction in which it is done. `subject` is the id of what it is done to."""
    values = line(tenant_id, event, by, subject, detail)
    await (connection.later if isinstance(connection, Writer) else connection.run)(AUDIT["add_event"], **values)


async def audit_by_itself(
    database: Database, tenant_id: UUID, by: Actor, event: Event, subject: object = None, **detail: Any
) -> None:
    """Write what somebody has done that has no transaction of its own."""
    async with transaction(database) as connection:
        await audit(connection, tenant_id, by, event, subject, **detail)


def line(
    tenant_id: UUID, event: Event, by: Actor | None, subject: object = None, detail: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the row of an event that was done, now."""
    return {
        "tenant_id": tenant_id,
        "id": new_id(),
        "at": datetime.now(UTC),
        "action": event.value,
        "outcome": "done",
        "actor_kind": by and by.kind.value,
        "actor_id": by and by.id,
        "subject": None if subject is None else str(subject),
        "address": CLIENT_ADDRESS.get(),
        "request_id": request_id(),
        "detail": {name: value for name, value in (detail or {}).items() if value is not None},
        "times": 1,
    }


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """An event as the log has it. `times` is how often it happened, where refusals were counted."""

    id: UUID
    at: datetime
    action: str
    outcome: str
    actor_kind: str | None
    actor_id: str | None
    subject: str | None
    address: str | None
    request_id: str | None
    detail: Mapping[str, Any]
    times: int


async def list_events(
    database: Database,
    tenant_id: UUID,
    *,
    after: UUID = OPERATORS_LOG,
    limit: int = 100,
    action: str | None = None,
    outcome: str | None = None,
    actor_id: str | None = None,
) -> Sequence[AuditEvent]:
    """Return the newest events that have an id above `after`, the oldest of them first."""
    async with database.connection() as connection:
        rows = await connection.all(
            AUDIT["list_events"],
            tenant_id=tenant_id,
            after=after,
            most=limit,
            action=action,
            outcome=outcome,
            actor_id=actor_id,
        )
    return [AuditEvent(**dict(row)) for row in reversed(rows)]


class Refusal(NamedTuple):
    """A refusal for one reason, of one credential where that is known, from one address: such are counted together."""

    tenant_id: UUID
    event: Event
    reason: str
    subject: str | None
    address: str | None


OTHERS: Final = Refusal(OPERATORS_LOG, Event.CREDENTIAL, "Others, more than are told apart.", None, None)


class CredentialLog:
    """Refused credentials, and when keys were last used: noted in memory, and stored once a minute.

    A request with a refused credential writes nothing, and however many there are, LINES_MOST lines a time are kept of
    them besides the number of all others. The use of a key costs its request no statement.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.refused: Counter[Refusal] = Counter()
        self.used: dict[tuple[UUID, UUID], datetime] = {}

    def refuse(
        self, reason: str, event: Event = Event.CREDENTIAL, tenant_id: UUID = OPERATORS_LOG, subject: object = None
    ) -> None:
        """Count a refusal. The tenant is not known where nothing of the credential is."""
        shown = None if subject is None else str(subject)
        self.count(Refusal(tenant_id, event, reason[:REASON_MOST], shown, CLIENT_ADDRESS.get()), 1)

    def count(self, refusal: Refusal, times: int) -> None:
        is_new = refusal not in self.refused
        self.refused[OTHERS if is_new and len(self.refused) >= LINES_MOST else refusal] += times

    def use(self, tenant_id: UUID, key_id: UUID) -> None:
        """Note that a key was used now."""
        if (tenant_id, key_id) in self.used or len(self.used) < KEYS_MOST:
            self.used[tenant_id, key_id] = datetime.now(UTC)

    async def store(self) -> None:
        """Write what was noted; where the database cannot take it, it is noted still."""
        refused, self.refused = self.refused, Counter()
        used, self.used = self.used, {}
        if not refused and not used:
            return
        lines = [
            line(one.tenant_id, one.event, None, one.subject, {"reason": one.reason})
            | {"outcome": "refused", "address": one.address, "times": times, "request_id": None}
            for one, times in refused.items()
        ]
        keys = [{"tenant_id": tenant_id, "id": id, "now": at} for (tenant_id, id), at in sorted(used.items())]
        try:
            async with transaction(self.database) as connection:
                await connection.each(AUDIT["add_event"], lines)
                await connection.each(KEYS["note_use"], keys)
        except BaseException:
            for one, times in refused.items():
                self.count(one, times)
            self.used = used | self.used
            raise

    @asynccontextmanager
    async def storing(self) -> AsyncIterator[None]:
        """Store what was noted every minute, and at the end."""
        task = asyncio.create_task(self.look())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            await self.try_to_store()

    async def look(self) -> None:
        while True:
            await asyncio.sleep(STORED_EVERY)
            await self.try_to_store()

    async def try_to_store(self) -> None:
        try:
            await self.store()
        except Exception as error:
            import structlog  # here, because commands are quicker without it

            log = structlog.get_logger(__name__)
            log.warning("refused credentials and uses of keys were not stored", reason=type(error).__name__)
