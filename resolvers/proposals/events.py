"""Send the events of proposals to subscribers and webhooks, in the transaction in which they happen."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from content.sensitivity import FIELD, STRICTEST, find_levels, level_of, strictest
from db.connection import Row
from db.sql import statements

from ..subscriptions.changes import ChangeKind, announce_proposal
from ..transactions.outbox import OUTBOX, ProposalEvent, ProposalKind, queue_deliveries
from ..transactions.writer import Writer

PROPOSALS = statements("review/proposals")


async def announce_and_queue_events(
    writer: Writer, kind: ProposalKind, rows: Sequence[Mapping[str, Any]], version: int | None = None
) -> None:
    """Announce events of proposals and queue their deliveries, in a transaction that does not end with `finish`."""
    await announce_events(writer, kind, rows, version)
    await queue_deliveries(writer)


async def announce_events(
    writer: Writer, kind: ProposalKind, rows: Sequence[Mapping[str, Any]], version: int | None = None
) -> None:
    """Announce events of proposals to subscribers, and collect them in the writer for webhooks.

    The level of an event is the sensitivity of the proposal when it was created, or of its page now if that is higher.
    """
    change = ChangeKind.CREATED if kind is ProposalKind.CREATED else ChangeKind.UPDATED
    for row in rows:
        announce_proposal(writer, writer.scope.tenant_id, writer.scope.owner_id, row["id"], change)
    if not rows or not await writer.value(OUTBOX["wants_proposals"], kind=kind):
        return
    pages = await find_pages(writer, {row["page_id"] for row in rows if row["page_id"]})
    writer.proposals += [event_of(kind, row, pages.get(row["page_id"]), version) for row in rows]


def event_of(kind: ProposalKind, row: Mapping[str, Any], page: Row | None, version: int | None) -> ProposalEvent:
    """Return the event of a proposal. A proposal of an earlier release, without a sensitivity, counts as secret."""
    return ProposalEvent(
        kind,
        row["id"],
        row["page_id"],
        row["page_type"],
        version,
        strictest([row["sensitivity"] or STRICTEST, *(levels_of_row(page) if page else ())]),
        row["operation"],
        row["significance"],
        row["author_kind"],
        row["author_id"],
    )


async def find_pages(writer: Writer, ids: Collection[UUID]) -> dict[UUID, Row]:
    """Return the pages that exist in any wiki of the tenant, by id."""
    rows = await writer.all(PROPOSALS["find_pages"], ids=list(ids)) if ids else []
    return {row["id"]: row for row in rows}


def levels_of_row(page: Row) -> Iterator[str]:
    """Yield the sensitivity levels of a page and of its sections."""
    yield level_of({FIELD: page["level"]})
    for heading in page["marked"]:
        yield from find_levels(heading)
