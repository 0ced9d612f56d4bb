"""The outbox of webhooks: deliveries are queued in the transaction of the write, so they are sent if it commits.

A write holds the lock of its wiki, so the positions in a queue are in the order of commits. A write with too many
changes is queued as one RESYNC, as in the change feed. Events of proposals come after the changes of pages.
"""

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from content.sensitivity import is_stricter, level_of
from db.ids import numbered_ids
from db.sql import statements

from ..subscriptions.changes import ChangeEvent, ChangeKind

if TYPE_CHECKING:
    from .writer import Writer

OUTBOX = statements("webhooks/outbox")
RETRIED_FOR = timedelta(days=3)


class ProposalKind(StrEnum):
    """The kinds of events of a proposal. A webhook receives only the kinds that it names."""

    CREATED = "proposal.created"
    ACCEPTED = "proposal.accepted"
    DECLINED = "proposal.declined"
    WITHDRAWN = "proposal.withdrawn"
    EXPIRED = "proposal.expired"


class ProposalEvent(NamedTuple):
    """An event of a proposal as it is sent to webhooks. `level` is the sensitivity of the proposal."""

    kind: ProposalKind
    proposal_id: UUID
    page_id: UUID | None
    type: str | None
    version: int | None
    level: str
    operation: str
    significance: str
    author_kind: str
    author_id: str


async def queue_deliveries(writer: "Writer") -> None:
    """Queue the changes of a write, and after them its proposal events, for the webhooks of its tenant."""
    deliveries = [change_values(writer, change) for change in writer.changes.all()]
    deliveries += hidden_pages(writer)
    deliveries += [event._asdict() for event in writer.proposals]
    if not deliveries:
        return
    id_start, id_number = numbered_ids()
    await writer.run(
        OUTBOX["queue_deliveries"],
        changes=[{"place": place, **delivery} for place, delivery in enumerate(deliveries, 1)],
        proposal_kinds=[*ProposalKind],
        id_start=id_start,
        id_number=id_number,
        retried_for=RETRIED_FOR,
    )


def change_values(writer: "Writer", change: ChangeEvent) -> Mapping[str, Any]:
    """Return the parameters of a change. For a deleted page they include the type, slug and level that it had."""
    values: dict[str, Any] = {"kind": change.kind, "page_id": change.id, "version": change.version}
    page = change.id and writer.removed.get(change.id)
    if page:
        values |= {"type": page.type, "slug": page.slug, "level": level_of(page.metadata)}
    return values


def hidden_pages(writer: "Writer") -> list[Mapping[str, Any]]:
    """Return an event for each page that became more sensitive, for webhooks that are sent no other change of it.

    To them it reads as deleted, with the type, slug and level that it had. `hidden_level` is its level now.
    """
    return [
        {
            "kind": ChangeKind.DELETED, "page_id": before.id, "type": before.type, "slug": before.slug,
            "level": level_of(before.metadata), "hidden_level": level_of(after.metadata),
        }
        for before, after in writer.states.values()
        if before and before.id not in writer.removed and is_stricter(after.metadata, before.metadata)
    ]  # fmt: skip
