"""Share links: anybody with the link reads one page without a credential."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from db.database import Database
from db.ids import new_id
from db.scope import Actor, ActorKind, Role, Scope
from db.sql import statements

from .. import validation
from ..auth.secrets import hash_secret, new_secret, tenant_of
from ..errors import BadInput, IdempotencyKeyNotAllowed, NotFound
from ..permissions import Action
from ..transactions.audit import Event, audit
from ..transactions.transaction import read_connection, writing_page, writing_row
from ..transactions.writer import LogLine, Writer

LINKS = statements("access/share_links")
DEFAULT_LIFETIME = timedelta(days=30)
MAX_LIFETIME = timedelta(days=366)
NO_LINK = "There is no such share link, or none that you may see."
ENDED = "This link leads to no page: it is not complete, or it has ended. Ask whoever gave it to you for another one."


@dataclass(frozen=True, slots=True)
class IssuedLink:
    """A new share link. Its token is returned only here and cannot be read again."""

    id: UUID
    token: str = field(repr=False)


async def share_page(
    database: Database, scope: Scope, page_id: UUID, *, expires_at: datetime | None = None
) -> IssuedLink:
    """Create a share link to a page. Needs MANAGE. Without `expires_at` it expires after 30 days."""
    if database.stores_answers:
        raise IdempotencyKeyNotAllowed(
            "An answer that shows a new share link is not stored, so it cannot be repeated. Send this without "
            "Idempotency-Key; if the answer is lost, withdraw the link by its id and make another."
        )
    if expires_at is not None:
        now, expires_at = datetime.now(UTC), validation.timestamp(expires_at, "expiresAt")
        if not now < expires_at <= now + MAX_LIFETIME:
            raise BadInput("This must be a time in the future, within a year.", "expiresAt")
    token = new_secret(scope.tenant_id)
    async with writing_page(database, scope, page_id, Action.MANAGE) as (writer, page):
        if page.status != "active":
            raise BadInput("This page is archived. Unarchive it before you share it.", "pageId")
        issued = IssuedLink(new_id(), token)
        author: dict[str, Any] = {"author_kind": scope.actor.kind.value, "author_id": scope.actor.id}
        ends: datetime = await writer.value(
            LINKS["add_link"],
            id=issued.id,
            page_id=page.id,
            token_hash=hash_secret(token),
            **author,
            expires_at=expires_at,
            usual=DEFAULT_LIFETIME,
        )
        log(writer, "page.shared", page.id, issued.id)
        detail = {"pageId": str(page.id), "expiresAt": ends}
        await audit(writer, scope.tenant_id, scope.actor, Event.SHARE_CREATED, issued.id, **detail)
    return issued


async def withdraw_share_link(database: Database, scope: Scope, link_id: UUID) -> bool:
    """Withdraw a share link. Needs MANAGE. Return false if it was withdrawn before."""
    async with writing_row(database, scope, LINKS["find_owner"], link_id, NO_LINK, Action.MANAGE) as writer:
        page_id: UUID | None = await writer.value(LINKS["withdraw"], id=link_id)
        if page_id is not None:
            log(writer, "page.share_withdrawn", page_id, link_id)
            await audit(writer, scope.tenant_id, scope.actor, Event.SHARE_WITHDRAWN, link_id, pageId=str(page_id))
        return page_id is not None


def log(writer: Writer, action: str, page_id: UUID, link_id: UUID) -> None:
    """Add a line to the activity log only: the page does not change, so no change is announced or reviewed."""
    writer.lines.append(LogLine(new_id(), action, page_id, {"shareLinkId": str(link_id)}))


async def find_shared(database: Database, token: str) -> tuple[Scope, UUID]:
    """Return a scope to read the page of a share link in, and the page's id.

    Raises NotFound with the same message for malformed, unknown, expired and withdrawn links.
    """
    if (tenant_id := tenant_of(token)) is None:
        raise NotFound(ENDED)
    async with read_connection(database) as connection:
        found = await connection.one(LINKS["find_link"], tenant_id=tenant_id, token_hash=hash_secret(token))
    if found is None:
        raise NotFound(ENDED)
    reader = Actor(ActorKind.SERVICE, str(found["id"]))
    return Scope(tenant_id, found["owner_id"], Role.READER, reader, (found["owner_id"],)), found["page_id"]
