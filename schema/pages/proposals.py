"""Proposals: writes that wait for a reviewer, and what became of them."""

from datetime import datetime

import strawberry
from strawberry.scalars import JSON

from content.edits.differences import difference, unified_diff, word_diff
from content.edits.merging import merge_texts
from db import relations
from db.access import BY_ID
from lib.threads import read_in_thread

from ..enums import WikiAuthorKind, WikiPageType, WikiProposalStatus, WikiSignificance
from ..fields import Connection, OlderOwner, OwnerName, column, computed, expression, relation, source
from .pages import WikiPage

proposals = relations.proposals
COMPARING = 5  # rows: what a comparison of two texts costs


@strawberry.type(description="A write that waits for a reviewer: nothing of it can be read or found before.")
class WikiProposal:
    id: strawberry.ID = column("Of the proposal.")
    status: WikiProposalStatus = column("Where it stands.")
    operation: str = column("The operation, like `edit_page`.")
    arguments: JSON = column("The arguments of the operation.")
    page: WikiPage | None = relation(
        proposals.page, "The page as it is now, with all that rests on it; null while the proposal is to make it."
    )
    page_type: WikiPageType | None = column("The type of the page.")
    title: str | None = column("The title of the page, or of the one to be made.")
    base_version: int | None = column("The version that it was made on; null for a new page.")
    proposed_title: str | None = column("The title as proposed; null where the operation is not about it.")
    proposed_summary: str | None = column("The summary as proposed.")
    proposed_body_md: str | None = column("The whole text as proposed.", name="proposed_body")
    why: str | None = column("Why, in the author's words.")
    evidence: list[str] = column("What it rests on: sources as kind:ref, or addresses.")
    significance: WikiSignificance = column("How much depends on it.")
    author_kind: WikiAuthorKind = column("Who proposes it.")
    author_id: str = column("The author as the credential named it.")
    author_name: str = expression(proposals.author_name, "The author's display name.")
    created_at: datetime = column("When it was proposed.")
    expires_at: datetime = column("When it ends by itself.")
    decided_at: datetime | None = column("When it was decided, or ended.")
    decider_kind: WikiAuthorKind | None = column("Who decided it.")
    decider_id: str | None = column("Who decided it, as the credential named them.")
    decider_name: str | None = expression(proposals.decider_name, "The display name of whoever decided it.")
    reason: str | None = column("Why it was decided so.")
    accepted_version: int | None = column("The version of the page that it made.")
    is_stale: bool = expression(proposals.is_stale, "Was the page changed since it was proposed?")

    @computed(
        "How the text would change, as `diff -u` writes it; empty where the operation changes no text.",
        cost=COMPARING,
        base=proposals.base_body,
        proposed="proposed_body",
    )
    async def diff(base: str | None, proposed: str | None) -> str:
        return await format_difference(base, proposed, in_words=False)

    @computed(
        "The same with every changed word marked: `[-went-]` and `{+came+}`.",
        cost=COMPARING,
        base=proposals.base_body,
        proposed="proposed_body",
    )
    async def word_diff(base: str | None, proposed: str | None) -> str:
        return await format_difference(base, proposed, in_words=True)

    @computed(
        "The sections that were changed otherwise since: it can be accepted only with an amended text.",
        cost=COMPARING,
        base=proposals.base_body,
        today=proposals.todays_body,
        proposed="proposed_body",
        status="status",
    )
    async def conflicts(base: str | None, today: str | None, proposed: str | None, status: str) -> list[str]:
        if base is None or today is None or proposed is None or status != "open":
            return []
        size = len(base) + len(today) + len(proposed)
        return list((await read_in_thread(size, merge_texts, base, today, proposed)).conflicts)


async def format_difference(base: str | None, proposed: str | None, *, in_words: bool) -> str:
    """Return how the proposed text differs from the one that was there, which a new page has none of."""
    if proposed is None:
        return ""
    old = base or ""
    found = await read_in_thread(len(old) + len(proposed), difference, old, proposed)
    return word_diff(found) if in_words else unified_diff(found, "now", "proposed")


@strawberry.type
class ProposalQueries:
    @source(
        proposals.listed,
        "The proposals of a wiki, the newest first, for those who may write in it. An author is named by its id.",
    )
    def wiki_proposals(
        status: WikiProposalStatus | None = None,
        page_id: strawberry.ID | None = None,
        author_id: str | None = None,
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> Connection[WikiProposal]: ...

    @source(proposals.with_id, "A proposal, for those who may write in its wiki.", access=BY_ID)
    def wiki_proposal(proposal_id: strawberry.ID) -> WikiProposal | None: ...
