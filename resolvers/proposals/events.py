"""Events of proposals, told to subscribers and to webhooks in the transaction in which they happen."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from content.sensitivity import FIELD, MOST, find_levels, level_of, strictest
from db.connection import Row
from db.sql import statements

from ..subscriptions.changes import ChangeKind, announce_proposal
from ..transactions.outbox import OUTBOX, ProposalEvent, ProposalKind, queue_deliveries
from ..transactions.writer import Writer

PROPOSALS = statements("review/proposals")


async def tell(
    writer: Writer, kind: ProposalKind, rows: Sequence[Mapping[str, Any]], version: int | None = None
) -> None:
    """Tell what became of proposals, and queue it: nothing else is written by this transaction."""
    await note(writer, kind, rows, version)
    await queue_deliveries(writer)


async def note(
    writer: Writer, kind: ProposalKind, rows: Sequence[Mapping[str, Any]], version: int | None = None
) -> None:
    """Tell what became of proposals; for webhooks it is queued with all that the transaction has written.

    A proposal is as sensitive as it was when it was made, or as its page is now where that is more.
    """
    change = ChangeKind.CREATED if kind is ProposalKind.CREATED else ChangeKind.UPDATED
    for row in rows:
        announce_proposal(writer, writer.scope.tenant_id, writer.scope.owner_id, row["id"], change)
    if not rows or not await writer.value(OUTBOX["wants_proposals"], kind=kind):
        return
    pages = await find_pages(writer, {row["page_id"] for row in rows if row["page_id"]})
    writer.proposals += [event_of(kind, row, pages.get(row["page_id"]), version) for row in rows]


def event_of(kind: ProposalKind, row: Mapping[str, Any], page: Row | None, version: int | None) -> ProposalEvent:
    """Return an event. A proposal of an older release does not say how sensitive it is, and so counts as secret."""
    return ProposalEvent(
        kind,
        row["id"],
        row["page_id"],
        row["page_type"],
        version,
        strictest([row["sensitivity"] or MOST, *(levels_of_row(page) if page else ())]),
        row["operation"],
        row["significance"],
        row["author_kind"],
        row["author_id"],
    )


async def find_pages(writer: Writer, ids: Collection[UUID]) -> dict[UUID, Row]:
    """Return those of the pages that are there, in whichever wiki of the tenant."""
    rows = await writer.all(PROPOSALS["find_pages"], ids=list(ids)) if ids else []
    return {row["id"]: row for row in rows}


def levels_of_row(page: Row) -> Iterator[str]:
    """Return the levels of a page and of its sections."""
    yield level_of({FIELD: page["level"]})
    for heading in page["marked"]:
        yield from find_levels(heading)
