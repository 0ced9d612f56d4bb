"""The webhooks of a tenant: create, change and delete them, and list or repeat their deliveries. For admins."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from secrets import token_bytes
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from content.sensitivity import LEVELS, USUAL
from db.connection import Connection, Row
from db.database import Database
from db.ids import new_id
from db.scope import Actor
from db.sql import statements
from db.tables import PAGE_TYPES

from .. import validation
from ..auth.owners import lock_owners
from ..errors import BadInput, IdempotencyKeyNotAllowed, NotFound
from ..subscriptions.changes import ChangeKind
from ..tenants.tenants import list_tenants
from ..transactions.audit import MACHINE, Event, audit
from ..transactions.outbox import RETRIED_FOR, ProposalKind
from ..transactions.transaction import transaction

WEBHOOKS = statements("webhooks/webhooks")
WEBHOOKS_MAX = 20  # webhooks of one tenant, all of which are read by each write
OWNERS_MAX = 100
URL_MAX = 2_000
SECRET_BYTES, SECRET_PREFIX = 32, "whsec_"
OVERLAP, OVERLAP_MAX = timedelta(hours=24), timedelta(days=90)
REDELIVERED_MAX = 10_000
ROWS_PER_BATCH = 1_000  # rows
NO_WEBHOOK = "There is no such webhook."
KINDS = (*ChangeKind, *ProposalKind)


class DeliveryStatus(StrEnum):
    """The state of a delivery. A dead delivery is not tried again unless an admin requests it."""

    PENDING = "pending"
    DELIVERED = "delivered"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class WebhookDraft:
    """The properties of a webhook. Empty owners or types stand for all, and empty kinds for all changes of pages.

    Events of proposals are sent only to webhooks that name them in `kinds`.
    """

    url: str
    owner_ids: Sequence[UUID] = ()
    kinds: Sequence[str] = ()
    types: Sequence[str] = ()
    ceiling: str = USUAL

    def clean(self) -> "WebhookDraft":
        """Return the draft with validated values, each once. Raises BadInput."""
        return WebhookDraft(
            checked_url(self.url),
            list(dict.fromkeys(validation.check_count(self.owner_ids, OWNERS_MAX, "owners"))),
            [validation.one_of(kind, KINDS, "kinds") for kind in dict.fromkeys(self.kinds)],
            [validation.one_of(type, PAGE_TYPES, "types") for type in dict.fromkeys(self.types)],
            validation.one_of(self.ceiling, LEVELS, "ceiling"),
        )


@dataclass(frozen=True, slots=True)
class WebhookChanges:
    """The changes of a webhook. None leaves a property as it is, and an empty list stands for all."""

    url: str | None = None
    owner_ids: Sequence[UUID] | None = None
    kinds: Sequence[str] | None = None
    types: Sequence[str] | None = None
    ceiling: str | None = None
    enabled: bool | None = None


@dataclass(frozen=True, slots=True)
class IssuedSecret:
    """A new secret of a webhook, which is shown only once. `former_until` is the expiry of a former secret."""

    id: UUID
    secret: str = field(repr=False)
    former_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Webhook:
    """A webhook without its secret. `owners` are slugs."""

    id: UUID
    url: str
    owners: Sequence[str]
    kinds: Sequence[str]
    types: Sequence[str]
    ceiling: str
    created_at: datetime
    former_until: datetime | None
    failing_since: datetime | None
    disabled_at: datetime | None
    disabled_reason: str | None

    @property
    def state(self) -> str:
        """Return the state of the webhook: active, failing or disabled."""
        if self.disabled_at is not None:
            return "disabled"
        return "active" if self.failing_since is None else "failing"


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivery and its state. `owner` is a slug, and `event` the type in its body, such as page.created.

    `kind` is the kind of the change. For a proposal it is CREATED, or UPDATED for every later event.
    """

    id: UUID
    owner: str
    event: str
    kind: str
    page_id: UUID | None
    page_type: str | None
    slug: str | None
    version: int | None
    happened_at: datetime
    status: DeliveryStatus
    attempts: int
    attempted_at: datetime | None
    finished_at: datetime | None
    response_status: int | None
    error: str | None
    proposal_id: UUID | None


def checked_url(text: str) -> str:
    """Return a valid URL of a webhook. Its host is resolved and checked when a delivery is sent. Raises BadInput."""
    url = validation.line(text, "url", URL_MAX)
    try:
        parts = urlsplit(url)
        is_known = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        is_known = False
    if not is_known or " " in url or not url.isascii() or not is_parsed(url):
        raise BadInput("This is not a URL. Write it as https://app.example.org/hooks/cairn", "url")
    if parts.username is not None or parts.password is not None:
        raise BadInput("The URL must not contain a name or a password. Receivers verify the signature instead.", "url")
    if parts.fragment:
        raise BadInput("The URL must not contain a fragment (#…).", "url")
    return url


def is_parsed(url: str) -> bool:
    """Return whether the HTTP client can parse a URL. It refuses an impossible IP address, for example."""
    import httpx  # here, because few commands need an HTTP client

    try:
        httpx.URL(url)
    except (httpx.InvalidURL, ValueError):
        return False
    return True


def new_secret() -> str:
    return SECRET_PREFIX + b64encode(token_bytes(SECRET_BYTES)).decode()


def check_is_not_stored(database: Database) -> None:
    if database.stores_answers:
        raise IdempotencyKeyNotAllowed(
            "An answer that shows the secret of a webhook is not stored, so it cannot be repeated. Send this without "
            "Idempotency-Key; if the answer is lost, rotate the secret."
        )


async def create_webhook(
    database: Database, tenant_id: UUID, draft: WebhookDraft, *, by: Actor = MACHINE
) -> IssuedSecret:
    """Create a webhook, which gets deliveries for writes from now on. Raises BadInput."""
    check_is_not_stored(database)
    draft, issued = draft.clean(), IssuedSecret(new_id(), new_secret())
    async with transaction(database) as connection:
        await lock_owners(connection, tenant_id, draft.owner_ids)
        is_added = await connection.run(
            WEBHOOKS["add_webhook"], tenant_id=tenant_id, id=issued.id, secret=issued.secret, limit=WEBHOOKS_MAX,
            **values_of(draft),
        )  # fmt: skip
        if not is_added:
            raise BadInput(f"A tenant has {WEBHOOKS_MAX} webhooks at most. Delete one that nobody needs.", "url")
        await audit(connection, tenant_id, by, Event.WEBHOOK_CREATED, issued.id, host=host_of(draft.url))
    return issued


async def update_webhook(
    database: Database, tenant_id: UUID, webhook_id: UUID, changes: WebhookChanges, *, by: Actor = MACHINE
) -> Webhook:
    """Change a webhook. Changes apply to writes from now on, but pending deliveries are sent to the new URL.

    While a webhook is disabled, nothing is queued for it, and its pending deliveries stay.
    """
    async with transaction(database) as connection:
        row = await lock_webhook(connection, tenant_id, webhook_id)
        stored = WebhookDraft(row["url"], row["owner_ids"], row["kinds"], row["types"], row["ceiling"])
        changed = {
            name: value
            for name in ("url", "owner_ids", "kinds", "types", "ceiling")
            if (value := getattr(changes, name)) is not None
        }
        draft = replace(stored, **changed).clean()
        await lock_owners(connection, tenant_id, draft.owner_ids)
        disabled_at = row["disabled_at"]
        if changes.enabled is not None:
            disabled_at = None if changes.enabled else disabled_at or datetime.now(UTC)
        where = {"tenant_id": tenant_id, "id": webhook_id}
        await connection.run(WEBHOOKS["update_webhook"], **where, **values_of(draft), disabled_at=disabled_at)
        about_queues = "wake_queues" if disabled_at is None else "rest_queues"
        await connection.run(WEBHOOKS[about_queues], tenant_id=tenant_id, webhook_id=webhook_id)
        details = {"host": host_of(draft.url) if changes.url else None, "enabled": changes.enabled}
        await audit(
            connection, tenant_id, by, Event.WEBHOOK_UPDATED, webhook_id, fields=sorted(changed) or None, **details
        )
    return await find_webhook(database, tenant_id, webhook_id)


async def rotate_webhook_secret(
    database: Database, tenant_id: UUID, webhook_id: UUID, overlap: timedelta = OVERLAP, *, by: Actor = MACHINE
) -> IssuedSecret:
    """Give a webhook a new secret. During the overlap deliveries have a signature by each of the two secrets."""
    check_is_not_stored(database)
    if not timedelta() <= overlap <= OVERLAP_MAX:
        raise BadInput(f"The former secret may be used for {OVERLAP_MAX.days} days at most.", "overlapSeconds")
    secret, where = new_secret(), {"tenant_id": tenant_id, "id": webhook_id}
    async with transaction(database) as connection:
        until: datetime | None = await connection.value(
            WEBHOOKS["rotate_secret"], **where, secret=secret, overlap=overlap
        )
        if until is None:
            raise NotFound(NO_WEBHOOK)
        await audit(connection, tenant_id, by, Event.WEBHOOK_ROTATED, webhook_id, formerUntil=until)
    return IssuedSecret(webhook_id, secret, until)


async def delete_webhook(database: Database, tenant_id: UUID, webhook_id: UUID, *, by: Actor = MACHINE) -> None:
    """Delete a webhook with its deliveries. A killed deletion leaves it disabled, and can be repeated."""
    where = {"tenant_id": tenant_id, "id": webhook_id}
    async with transaction(database) as connection:
        await lock_webhook(connection, tenant_id, webhook_id)
        await connection.run(WEBHOOKS["disable"], **where, reason="It is being deleted.", url=None)
    while True:
        async with transaction(database) as connection:
            if not await connection.run(WEBHOOKS["delete_deliveries"], **where, size=ROWS_PER_BATCH):
                break
    async with transaction(database) as connection:
        if await connection.run(WEBHOOKS["delete_webhook"], **where):
            await audit(connection, tenant_id, by, Event.WEBHOOK_DELETED, webhook_id)


async def list_webhooks(
    database: Database, tenant_id: UUID, *, after: UUID | None = None, limit: int | None = None, id: UUID | None = None
) -> list[Webhook]:
    """Return the webhooks of a tenant, or the one with this id, the oldest first: those after the id `after`."""
    async with database.connection() as connection:
        rows = await connection.all(WEBHOOKS["list_webhooks"], tenant_id=tenant_id, id=id, after=after, limit=limit)
    return [Webhook(**dict(row)) for row in rows]


async def find_webhook(database: Database, tenant_id: UUID, webhook_id: UUID) -> Webhook:
    """Return a webhook. Raises NotFound."""
    found = await list_webhooks(database, tenant_id, id=webhook_id)
    if not found:
        raise NotFound(NO_WEBHOOK)
    return found[0]


async def list_deliveries(
    database: Database,
    tenant_id: UUID,
    webhook_id: UUID,
    *,
    status: DeliveryStatus | None = None,
    before: UUID | None = None,
    limit: int = 50,
) -> list[Delivery]:
    """Return the newest deliveries of a webhook, optionally with one status, before the id `before`."""
    await find_webhook(database, tenant_id, webhook_id)
    where = {"tenant_id": tenant_id, "webhook_id": webhook_id}
    async with database.connection() as connection:
        rows = await connection.all(WEBHOOKS["list_deliveries"], **where, status=status, before=before, limit=limit)
    return [delivery_of(row) for row in rows]


def delivery_of(row: Row) -> Delivery:
    kind, event = row["kind"], event_of(row["kind"], row["page_id"])
    if row["proposal_id"]:
        kind = ChangeKind.CREATED.value if kind == ProposalKind.CREATED else ChangeKind.UPDATED.value
    return Delivery(**dict(row) | {"event": event, "kind": kind, "status": DeliveryStatus(row["status"])})


def event_of(kind: str, page_id: UUID | None) -> str:
    """Return the name of the event of a stored kind: the kind itself for a proposal, else such as `page.created`."""
    return kind if "." in kind else f"{'wiki' if page_id is None else 'page'}.{kind}"


async def redeliver(
    database: Database, tenant_id: UUID, webhook_id: UUID, delivery_id: UUID | None = None, *, by: Actor = MACHINE
) -> int:
    """Queue one delivery, or all dead ones, 10,000 at most, to be sent again; return their number.

    They keep their ids and their order among each other, and are tried for another three days. Raises NotFound, or
    BadInput for a disabled webhook.
    """
    where = {"tenant_id": tenant_id, "webhook_id": webhook_id}
    async with transaction(database) as connection:
        row = await lock_webhook(connection, tenant_id, webhook_id)
        if row["disabled_at"] is not None:
            raise BadInput("This webhook is disabled. Enable it first.", "id")
        await connection.run(WEBHOOKS["lock_queues"], **where)
        number = await connection.run(
            WEBHOOKS["redeliver"], **where, id=delivery_id, limit=REDELIVERED_MAX, retried_for=RETRIED_FOR
        )
        if delivery_id is not None and not number:
            raise NotFound("There is no such delivery of this webhook.")
        if number:
            await connection.run(WEBHOOKS["wake_queues"], **where)
            await audit(connection, tenant_id, by, Event.WEBHOOK_REDELIVERED, webhook_id, deliveries=number)
    return number


async def prune_deliveries(database: Database, tenant_id: UUID, now: datetime) -> int:
    """Delete what was delivered more than a week ago, and what has been dead for 30 days; return the number."""
    gone = 0
    before = {"delivered_before": now - timedelta(days=7), "dead_before": now - timedelta(days=30)}
    while True:
        async with transaction(database) as connection:
            rows = await connection.run(
                WEBHOOKS["prune_deliveries"], tenant_id=tenant_id, size=ROWS_PER_BATCH, **before
            )
        gone += rows
        if rows < ROWS_PER_BATCH:
            return gone


@dataclass(frozen=True, slots=True)
class OpenDeliveries:
    """Counts of deliveries over all tenants.

    `oldest` is the age in seconds of the oldest pending delivery whose webhook is not failing.
    """

    pending: int
    dead: int
    oldest: float


async def count_open_deliveries(database: Database) -> OpenDeliveries:
    """Count pending and dead deliveries, by a small statement per tenant, all in one round trip."""
    wanted = [{"tenant_id": tenant.id} for tenant in await list_tenants(database)]
    async with database.connection() as connection:
        rows = await connection.all_of_each(WEBHOOKS["count_deliveries"], wanted)
    pending, dead = (sum(row[name] for row in rows) for name in ("pending", "dead"))
    return OpenDeliveries(pending, dead, float(max((row["oldest"] or 0 for row in rows), default=0)))


async def lock_webhook(connection: Connection, tenant_id: UUID, webhook_id: UUID) -> Any:
    row = await connection.one(WEBHOOKS["lock_webhook"], tenant_id=tenant_id, id=webhook_id)
    if row is None:
        raise NotFound(NO_WEBHOOK)
    return row


def values_of(draft: WebhookDraft) -> dict[str, Any]:
    return {
        "url": draft.url,
        "owner_ids": list(draft.owner_ids),
        "kinds": list(draft.kinds),
        "types": list(draft.types),
        "ceiling": draft.ceiling,
    }


def host_of(url: str) -> str:
    """Return the host of a URL for the log. The rest of the URL may be a secret."""
    return urlsplit(url).netloc
