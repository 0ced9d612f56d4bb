"""Helpers that create proposals in a reviewed wiki and read the events that are queued for them."""

from typing import Any
from uuid import UUID

import pytest

from db.database import Database
from db.scope import Scope
from resolvers.model.lookup import PageAddress
from resolvers.pages.edits import edit_page
from resolvers.proposals.gate import Policy, PolicyRule, ReviewRequired, WriterRole
from resolvers.proposals.proposals import decline_proposal, expire_proposals
from resolvers.transactions.outbox import ProposalKind
from tests.wiki import Wiki

EVENTS = [*ProposalKind]
BODY = "Ada keeps the harbour.\n\n## Tides\n\nLow at six."
REVIEW = PolicyRule(WriterRole.MEMBER, Policy.REVIEW)


async def proposal_id_of(write: Any) -> UUID:
    """Return the id of the proposal that a reviewed write creates."""
    with pytest.raises(ReviewRequired) as caught:
        await write
    assert caught.value.proposal_id is not None
    return caught.value.proposal_id


async def propose_edit(wiki: Wiki, ada: Scope, page_id: UUID, new: str = "seven", old: str = "six") -> UUID:
    return await proposal_id_of(edit_page(wiki.database, ada, PageAddress(page_id), old_text=old, new_text=new))


async def expire_proposals_now(wiki: Wiki, *proposal_ids: UUID) -> int:
    await wiki.connection.execute("UPDATE proposals SET expires_at = now() WHERE id = ANY($1)", [*proposal_ids])
    return await expire_proposals(wiki.database)


async def queued_kinds(wiki: Wiki, webhook_id: UUID) -> list[str]:
    """Return the kinds of the queued deliveries in order, and check that their positions are consecutive."""
    rows = await wiki.rows("webhook_deliveries", "position", webhook_id=webhook_id)
    assert [row["position"] for row in rows] == [*range(1, len(rows) + 1)]
    return [row["kind"] for row in rows]


async def decline(database: Database, scope: Scope, proposal_id: UUID) -> None:
    await decline_proposal(database, scope, proposal_id, "No.")
