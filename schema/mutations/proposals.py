"""Mutations that make, accept, decline and withdraw proposals."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any
from uuid import UUID

import strawberry

from db import relations
from db.access import BY_ID
from db.scope import Scope, Terms
from resolvers.errors import BadInput, Conflict
from resolvers.pages import edits, lifecycle, merging, renaming, transferring
from resolvers.pages.claims import claims
from resolvers.proposals import proposals
from resolvers.proposals.amending import Amendment
from resolvers.proposals.proposals import Decided, Decision

from ..enums import WikiProposalDecision, WikiSignificance, WikiSupersessionMode
from ..fields import source
from ..pages.pages import WikiPage
from ..pages.proposals import WikiProposal
from .claims import SupersedeWikiClaimInput
from .edit_payloads import WikiBatchOutcome, batch_error, conflict
from .edits import AppendToWikiPageInput, EditWikiPageInput
from .names import MergeWikiPagesInput, RenameWikiPageInput, TransferWikiPageInput
from .pages import CreateWikiPageInput, UpdateWikiPageInput, WikiPageIdInput, changes
from .payloads import UserError, WikiConflict, private_id, user_error
from .scoping import InWiki, Request, id_of, non_null, nullable, scope_in

Write = Callable[[Scope], Awaitable[Any]]


@strawberry.input(description="Change to propose: one operation, the reason, and the evidence for it.")
class ProposeWikiChangeInput:
    why: str = strawberry.field(description="Reason for the reviewer.")
    evidence: list[str] = strawberry.field(
        default_factory=list, description="Evidence, 50 entries at most: sources as kind:ref, or URLs."
    )
    significance: WikiSignificance = strawberry.field(
        default=WikiSignificance.MEDIUM, description="Significance of the decision."
    )
    expires_at: datetime | None = strawberry.field(
        default=None,
        description=(
            "Time at which the proposal expires, within a year. Defaults to a time that depends on its significance."
        ),
    )
    create: CreateWikiPageInput | None = strawberry.field(default=None, description="Create a page.")
    update: UpdateWikiPageInput | None = strawberry.field(default=None, description="Update a page.")
    edit: EditWikiPageInput | None = strawberry.field(default=None, description="Replace text.")
    append: AppendToWikiPageInput | None = strawberry.field(default=None, description="Append text.")
    rename: RenameWikiPageInput | None = strawberry.field(default=None, description="Rename a page.")
    merge: MergeWikiPagesInput | None = strawberry.field(default=None, description="Merge pages.")
    transfer: TransferWikiPageInput | None = strawberry.field(
        default=None, description="Move a page to another wiki in which the caller can write."
    )
    supersede: SupersedeWikiClaimInput | None = strawberry.field(default=None, description="Supersede a claim.")
    archive: WikiPageIdInput | None = strawberry.field(default=None, description="Archive a page.")

    def terms(self) -> Terms:
        return Terms(self.why, tuple(self.evidence), WikiSignificance(self.significance).value, self.expires_at)

    def operation(self) -> Any:
        """Return the operation of the input. Raises BadInput unless there is exactly one."""
        operations = (
            self.create, self.update, self.edit, self.append, self.rename, self.merge, self.transfer, self.supersede,
            self.archive,
        )  # fmt: skip
        present = [operation for operation in operations if operation is not None]
        if len(present) != 1:
            raise BadInput(
                "Give one operation: create, update, edit, append, rename, merge, transfer, supersede or archive."
            )
        return present[0]


@strawberry.input(description="Input for accepting a proposal, optionally with amended texts.")
class AcceptWikiProposalInput:
    proposal_id: strawberry.ID = strawberry.field(description="The proposal.")
    title: strawberry.Maybe[str | None] = strawberry.field(description="Amended title that replaces the proposed one.")
    summary: strawberry.Maybe[str | None] = strawberry.field(description="Amended summary, or null for none.")
    body_md: strawberry.Maybe[str | None] = strawberry.field(description="Amended text that replaces the proposed one.")
    body_version: int | None = strawberry.field(
        default=None,
        description="Version of the page on which bodyMd is based. Defaults to the base version of the proposal.",
    )
    reason: str | None = strawberry.field(default=None, description="Comment for the author.")

    def amendment(self) -> Amendment:
        summary = nullable(self.summary, None)
        return Amendment(non_null(self.title, "title"), summary, non_null(self.body_md, "bodyMd"), self.body_version)


@strawberry.input(description="Proposal to decline.")
class DeclineWikiProposalInput:
    proposal_id: strawberry.ID = strawberry.field(description="The proposal.")
    reason: str = strawberry.field(description="Reason for the author.")


@strawberry.input(description="Proposal to withdraw.")
class WithdrawWikiProposalInput:
    proposal_id: strawberry.ID = strawberry.field(description="The proposal.")
    reason: str | None = strawberry.field(default=None, description="Reason.")


@strawberry.input(description="Proposals to decide in the same way, 50 at most.")
class DecideWikiProposalsInput:
    proposal_ids: list[strawberry.ID] = strawberry.field(description="The proposals.")
    decision: WikiProposalDecision = strawberry.field(description="Decision for all of these proposals.")
    reason: str | None = strawberry.field(default=None, description="Reason. Required to decline.")


@strawberry.type(description="Payload with the proposal.")
class WikiProposalPayload:
    proposal_id: strawberry.Private[UUID | None] = None
    page_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Errors. Empty on success.")
    conflict: WikiConflict | None = strawberry.field(
        default=None,
        description="Set if the proposal was already decided, or if the page was changed differently in the meantime.",
    )
    created: bool = strawberry.field(default=False, description="False if the same proposal was already open.")
    proposal: WikiProposal | None = source(
        relations.proposals.by_ids, "The proposal.", access=BY_ID, step=private_id("proposal_id")
    )
    page: WikiPage | None = source(
        relations.pages.by_ids, "Current state of the page.", access=BY_ID, step=private_id("page_id")
    )


@strawberry.type(description="Payload of deciding several proposals.")
class WikiProposalsPayload:
    user_errors: list[UserError] = strawberry.field(
        default_factory=list,
        description="Errors of the whole request, and of single proposals with the path [proposalIds, position].",
    )
    outcomes: list[WikiBatchOutcome] = strawberry.field(
        default_factory=list, description="Results for proposalIds, in the same order."
    )


async def write_of(info: Request, input: ProposeWikiChangeInput) -> tuple[Scope, Write]:
    """Return the scope for the proposal, and a function that does the proposed operation in a scope."""
    database, operation = info.context.database, input.operation()
    scope = await scope_in(info, operation) if isinstance(operation, InWiki) else info.context.scope

    async def write(scope: Scope) -> Any:
        values: dict[str, Any]
        match operation:
            case CreateWikiPageInput():
                return await lifecycle.create_page(database, scope, operation.draft())
            case UpdateWikiPageInput():
                values = {"edit_summary": operation.edit_summary, "expected_version": operation.expected_version}
                values |= {"type": operation.type.value} if operation.type else {}
                return await lifecycle.update_page(
                    database, scope, id_of(operation.page_id), **changes(operation), **values
                )
            case WikiPageIdInput():
                return await lifecycle.archive_page(database, scope, id_of(operation.page_id))
            case EditWikiPageInput():
                values = {
                    "old_text": operation.old_text,
                    "new_text": operation.new_text,
                    "replace_all": operation.replace_all,
                }
                return await edits.edit_page(database, scope, operation.address(), **values, **operation.common())
            case AppendToWikiPageInput():
                values = {"text": operation.text, "as_paragraph": operation.as_paragraph}
                return await edits.append_to_page(database, scope, operation.address(), **values, **operation.common())
            case RenameWikiPageInput():
                values = {"title": non_null(operation.title, "title"), "slug": non_null(operation.slug, "slug")}
                values |= {"summary": operation.summary, "expected_version": operation.expected_version}
                return await renaming.rename_page(database, scope, id_of(operation.page_id), **values)
            case MergeWikiPagesInput():
                return await merge(database, scope, operation)
            case TransferWikiPageInput():
                page_id, values = id_of(operation.page_id), {"expected_version": operation.expected_version}
                return await transferring.transfer_page(database, scope, page_id, operation.to_owner, **values)
            case SupersedeWikiClaimInput():
                mode = claims.Mode(str(WikiSupersessionMode(operation.mode).value))
                return await claims.supersede_claim(
                    database,
                    scope,
                    operation.address(),
                    fact=operation.fact,
                    replacement=operation.replacement,
                    stated_by=operation.stated_by.to_ref() if operation.stated_by else None,
                    overridden_by=operation.overridden_by.to_ref() if operation.overridden_by else None,
                    superseded_on=operation.superseded_on,
                    mode=mode,
                    **operation.common(),
                )

    return scope, write


async def merge(database: Any, scope: Scope, input: MergeWikiPagesInput) -> Any:
    page_ids = [*(input.from_page_ids or ()), *filter(None, [input.from_page_id])]
    into_id, ids = id_of(input.into_page_id), [id_of(page_id) for page_id in page_ids[: merging.MAX_MERGED + 1]]
    return await merging.merge_many(database, scope, ids, into_id, expected_version=input.expected_version)


async def decision_payload(deciding: Awaitable[Decided]) -> WikiProposalPayload:
    try:
        done = await deciding
    except BadInput as error:
        return WikiProposalPayload(user_errors=[user_error(error)])
    except Conflict as error:
        return WikiProposalPayload(conflict=conflict(error))
    return WikiProposalPayload(proposal_id=done.proposal_id, page_id=done.page_id)


@strawberry.type
class ProposalMutations:
    @strawberry.mutation(description="Propose a change for review, even if the caller could make it directly.")
    async def propose_wiki_change(self, info: Request, input: ProposeWikiChangeInput) -> WikiProposalPayload:
        try:
            scope, write = await write_of(info, input)
            proposed = await proposals.propose_change(info.context.database, scope, input.terms(), write)
        except BadInput as error:
            return WikiProposalPayload(user_errors=[user_error(error)])
        except Conflict as error:
            return WikiProposalPayload(conflict=conflict(error))
        return WikiProposalPayload(proposal_id=proposed.proposal_id, created=proposed.is_new)

    @strawberry.mutation(
        description=(
            "Accept a proposal and apply it in the name of its author. Changes made to other sections "
            "in the meantime are kept. For admins of the wiki."
        )
    )
    async def accept_wiki_proposal(self, info: Request, input: AcceptWikiProposalInput) -> WikiProposalPayload:
        async def deciding() -> Decided:
            database, scope = info.context.database, info.context.scope
            return await proposals.accept_proposal(
                database, scope, id_of(input.proposal_id), input.amendment(), input.reason
            )

        return await decision_payload(deciding())

    @strawberry.mutation(description="Decline a proposal. For admins of the wiki.")
    async def decline_wiki_proposal(self, info: Request, input: DeclineWikiProposalInput) -> WikiProposalPayload:
        database, scope = info.context.database, info.context.scope
        return await decision_payload(
            proposals.decline_proposal(database, scope, id_of(input.proposal_id), input.reason)
        )

    @strawberry.mutation(description="Withdraw a proposal. Only its author can.")
    async def withdraw_wiki_proposal(self, info: Request, input: WithdrawWikiProposalInput) -> WikiProposalPayload:
        database, scope = info.context.database, info.context.scope
        return await decision_payload(
            proposals.withdraw_proposal(database, scope, id_of(input.proposal_id), input.reason)
        )

    @strawberry.mutation(description="Decide several proposals in the same way, each in its own transaction.")
    async def decide_wiki_proposals(self, info: Request, input: DecideWikiProposalsInput) -> WikiProposalsPayload:
        ids = [id_of(proposal_id) for proposal_id in input.proposal_ids]
        decision = Decision(str(WikiProposalDecision(input.decision).value))
        try:
            outcomes = await proposals.decide_proposals(
                info.context.database, info.context.scope, ids, decision, input.reason
            )
        except BadInput as error:
            return WikiProposalsPayload(user_errors=[user_error(error)])
        shown = [
            WikiBatchOutcome(
                position=outcome.position,
                ok=outcome.error is None,
                changed=outcome.error is None,
                error=None if outcome.error is None else batch_error(outcome.error, outcome.position, "proposalIds"),
            )
            for outcome in outcomes
        ]
        return WikiProposalsPayload(user_errors=[outcome.error for outcome in shown if outcome.error], outcomes=shown)
