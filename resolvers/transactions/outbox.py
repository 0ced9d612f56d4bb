"""The outbox of webhooks: changes of a write are queued in its own transaction, and so sent if that is committed.

A write holds the lock of its wiki, so the positions in a queue are in the order of commits. More changes than are told
apart are queued as one RESYNC, as followers hear it.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from content.sensitivity import level_of
from db.ids import numbered_ids
from db.sql import statements

from ..subscriptions.changes import ChangeEvent

if TYPE_CHECKING:
    from .writer import Writer

OUTBOX = statements("webhook_outbox")
RETRIED_FOR = timedelta(days=3)


async def queue_deliveries(writer: "Writer") -> None:
    """Queue the changes of a write for the webhooks of its tenant, in the order in which they happened."""
    changes = writer.changes.all()
    if not changes:
        return
    id_start, id_number = numbered_ids()
    await writer.run(
        OUTBOX["queue_deliveries"],
        changes=[described(writer, place, change) for place, change in enumerate(changes, 1)],
        id_start=id_start,
        id_number=id_number,
        retried_for=RETRIED_FOR,
    )


def described(writer: "Writer", place: int, change: ChangeEvent) -> Mapping[str, Any]:
    """Return a change as the statement takes it; a page that was removed with what was known of it."""
    told: dict[str, Any] = {"place": place, "kind": change.kind, "page_id": change.id, "version": change.version}
    page = change.id and writer.removed.get(change.id)
    if page:
        told |= {"type": page.type, "slug": page.slug, "level": level_of(page.metadata)}
    return told
