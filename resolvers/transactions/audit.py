"""The audit log: events that concern the security of a tenant, and refused credentials. Events are never changed.

The event of a change is written in the transaction of the change; an operation that changes nothing, such as an export,
writes its event in a transaction of its own when it is done. Anybody can cause refusals, so they are counted in memory,
and only a few rows are written each minute.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
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
from lib.deadlines import wait_for_event
from observability.trace import CLIENT_ADDRESS, request_id

from .transaction import transaction
from .writer import Writer

AUDIT, KEYS = statements("access/audit"), statements("access/api_keys")
OPERATORS_LOG: Final = UUID(int=0)
"""The tenant id of the operator's events, which belong to no tenant. No tenant has this id."""
MACHINE = Actor(ActorKind.SERVICE, "cairn")
"""The actor of commands that are run on the server's machine."""
STORE_INTERVAL: Final = 60.0  # seconds
MAX_REFUSALS: Final = 20  # different refusals between two stores
MAX_KEYS: Final = 10_000  # keys whose last use is noted between two stores
MAX_REASON_LENGTH: Final = 120  # characters


class Event(StrEnum):
    """The events of the audit log. The part before the first dot is the kind of the subject."""

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
    """Write an event in the transaction of the change. `subject` is the id of the changed object."""
    values = event_row(tenant_id, event, by, subject, detail)
    await (connection.later if isinstance(connection, Writer) else connection.run)(AUDIT["add_event"], **values)


async def audit_in_own_transaction(
    database: Database, tenant_id: UUID, by: Actor, event: Event, subject: object = None, **detail: Any
) -> None:
    """Write an event in a transaction of its own, for an operation that has none."""
    async with transaction(database) as connection:
        await audit(connection, tenant_id, by, event, subject, **detail)


def event_row(
    tenant_id: UUID, event: Event, by: Actor | None, subject: object = None, detail: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the row of an event with the outcome `done`, at the current time."""
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
    """A stored event. `times` is above 1 if refusals were counted together."""

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
    """Return the newest `limit` events with an id above `after`, the oldest first."""
    async with database.connection() as connection:
        rows = await connection.all(
            AUDIT["list_events"],
            tenant_id=tenant_id,
            after=after,
            limit=limit,
            action=action,
            outcome=outcome,
            actor_id=actor_id,
        )
    return [AuditEvent(**dict(row)) for row in reversed(rows)]


class Refusal(NamedTuple):
    """The key under which refusals are counted: reason, credential (if it is known) and address."""

    tenant_id: UUID
    event: Event
    reason: str
    subject: str | None
    address: str | None


OTHER_REFUSALS: Final = Refusal(OPERATORS_LOG, Event.CREDENTIAL, "Others, more than are told apart.", None, None)


class CredentialLog:
    """Refused credentials and the last use of API keys, collected in memory and stored once a minute.

    Neither a refused request nor the use of a key costs a statement. At most MAX_REFUSALS different refusals are told
    apart between two stores; further ones are counted together as OTHER_REFUSALS.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.refused: Counter[Refusal] = Counter()
        self.used: dict[tuple[UUID, UUID], datetime] = {}

    def refuse(
        self, reason: str, event: Event = Event.CREDENTIAL, tenant_id: UUID = OPERATORS_LOG, subject: object = None
    ) -> None:
        """Count a refusal. Without `tenant_id` it goes to the operator's log: the credential tells no tenant."""
        shown = None if subject is None else str(subject)
        self.count(Refusal(tenant_id, event, reason[:MAX_REASON_LENGTH], shown, CLIENT_ADDRESS.get()), 1)

    def count(self, refusal: Refusal, times: int) -> None:
        is_new = refusal not in self.refused
        self.refused[OTHER_REFUSALS if is_new and len(self.refused) >= MAX_REFUSALS else refusal] += times

    def use(self, tenant_id: UUID, key_id: UUID) -> None:
        """Record that a key is used now."""
        if (tenant_id, key_id) in self.used or len(self.used) < MAX_KEYS:
            self.used[tenant_id, key_id] = datetime.now(UTC)

    async def store(self) -> None:
        """Write the collected refusals and uses. If the database refuses them, they stay collected, and it raises."""
        refused, self.refused = self.refused, Counter()
        used, self.used = self.used, {}
        if not refused and not used:
            return
        lines = [
            event_row(refusal.tenant_id, refusal.event, None, refusal.subject, {"reason": refusal.reason})
            | {"outcome": "refused", "address": refusal.address, "times": times, "request_id": None}
            for refusal, times in refused.items()
        ]
        keys = [{"tenant_id": tenant_id, "id": id, "now": at} for (tenant_id, id), at in sorted(used.items())]
        try:
            async with transaction(self.database) as connection:
                await connection.each(AUDIT["add_event"], lines)
                await connection.each(KEYS["note_use"], keys)
        except BaseException:
            for refusal, times in refused.items():
                self.count(refusal, times)
            self.used = used | self.used
            raise

    @asynccontextmanager
    async def storing(self) -> AsyncIterator[None]:
        """Store the collected refusals and uses every minute, and at the end of the context."""
        ended = asyncio.Event()
        task = asyncio.create_task(self.store_until(ended))
        try:
            yield
        finally:
            ended.set()  # no cancellation: a COMMIT that is cancelled may succeed, and its refusals be stored again
            await task

    async def store_until(self, ended: asyncio.Event) -> None:
        """Store every minute, and once more when `ended` is set."""
        while not await wait_for_event(ended, STORE_INTERVAL):
            await self.try_to_store()
        await self.try_to_store()

    async def try_to_store(self) -> None:
        try:
            await self.store()
        except Exception as error:
            import structlog  # here, because commands are quicker without it

            log = structlog.get_logger(__name__)
            log.warning("refused credentials and uses of keys were not stored", reason=type(error).__name__)
