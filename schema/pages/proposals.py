"""Proposals, which are writes that wait for a reviewer, and the decisions on them."""

from datetime import datetime

import strawberry
from strawberry.scalars import JSON

from content.edits.differences import REST_NOT_SHOWN, difference, unified_diff, word_diff
from content.edits.merging import merge_texts
from db import relations
from db.access import BY_ID
from lib.threads import offload

from ..enums import WikiAuthorKind, WikiPageType, WikiProposalStatus, WikiSignificance
from ..fields import Connection, OlderOwner, OwnerName, column, computed, expression, relation, source
from .pages import WikiPage

proposals = relations.proposals
COMPARING = 5  # cost of comparing two texts, in rows


@strawberry.type(
    description="A proposal: a write that waits for a reviewer. It cannot be read or found until it is accepted."
)
class WikiProposal:
    id: strawberry.ID = column("Id of the proposal.")
    status: WikiProposalStatus = column("Current status.")
    operation: str = column("Operation, such as `edit_page`.")
    arguments: JSON = column("The arguments of the operation.")
    page: WikiPage | None = relation(proposals.page, "Current state of the page. Null if the proposal creates it.")
    page_type: WikiPageType | None = column("The type of the page.")
    title: str | None = column("Title of the page, or of the proposed page.")
    base_version: int | None = column("Version of the page on which it is based. Null for a new page.")
    proposed_title: str | None = column("Proposed title. Null if the operation does not change it.")
    proposed_summary: str | None = column("Proposed summary.")
    proposed_body_md: str | None = column("Proposed text of the whole page.", name="proposed_body")
    why: str | None = column("Reason given by the author.")
    evidence: list[str] = column("Evidence: sources as kind:ref, or URLs.")
    significance: WikiSignificance = column("Significance of the decision.")
    author_kind: WikiAuthorKind = column("Kind of author.")
    author_id: str = column("Id of the author, as the credential names it.")
    author_name: str = expression(proposals.author_name, "The author's display name.")
    created_at: datetime = column("Time of the proposal.")
    expires_at: datetime = column("Time at which it expires.")
    decided_at: datetime | None = column("Time at which it was decided, withdrawn or expired.")
    decider_kind: WikiAuthorKind | None = column("Kind of author that decided it.")
    decider_id: str | None = column("Id of the person or program that decided it, as the credential names it.")
    decider_name: str | None = expression(proposals.decider_name, "Display name of the reviewer.")
    reason: str | None = column("Reason for the decision.")
    accepted_version: int | None = column("Version of the page that it created.")
    is_stale: bool = expression(proposals.is_stale, "Whether the page was changed in the meantime.")

    @computed(
        "Proposed change of the text as a unified diff. Empty if the text does not change.",
        cost=COMPARING,
        base=proposals.base_body,
        proposed="proposed_body",
    )
    async def diff(base: str | None, proposed: str | None) -> str:
        return await format_difference(base, proposed, in_words=False)

    @computed(
        "Proposed change with changed words marked: `[-removed-]` and `{+added+}`.",
        cost=COMPARING,
        base=proposals.base_body,
        proposed="proposed_body",
    )
    async def word_diff(base: str | None, proposed: str | None) -> str:
        return await format_difference(base, proposed, in_words=True)

    @computed(
        "Sections that were changed differently in the meantime. It can be accepted only with an amended text.",
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
        return list((await offload(size, merge_texts, base, today, proposed)).conflicts)


async def format_difference(base: str | None, proposed: str | None, *, in_words: bool) -> str:
    """Return the difference of the proposed text from the base text, which is empty for a new page.

    If it is too long to be shown, its last line says so: a reviewer must not accept what was not shown unknowingly.
    """
    if proposed is None:
        return ""
    old = base or ""
    found = await offload(len(old) + len(proposed), difference, old, proposed)
    text = word_diff(found) if in_words else unified_diff(found, "now", "proposed")
    return text + REST_NOT_SHOWN if found.is_truncated else text


@strawberry.type
class ProposalQueries:
    @source(
        proposals.listed,
        "The proposals of a wiki, newest first. Authors are given by id. Requires write access.",
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

    @source(proposals.with_id, "A proposal. Requires write access to its wiki.", access=BY_ID)
    def wiki_proposal(proposal_id: strawberry.ID) -> WikiProposal | None: ...
