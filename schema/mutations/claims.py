"""Mutations of superseded claims and of contradictions between claims."""

from collections.abc import Awaitable
from datetime import datetime
from uuid import UUID

import strawberry

from db import relations
from db.access import BY_ID
from resolvers.errors import BadInput, Conflict
from resolvers.model.lookup import PageAddress
from resolvers.pages.claims import claims, contradictions
from resolvers.pages.claims.claims import Mode, SourceRef, SupersededClaim
from resolvers.pages.claims.contradictions import Claimed, Resolution, SavedContradiction
from resolvers.pages.edits import EditAmbiguous, EditFailed

from ..enums import WikiContradictionResolution, WikiEditPass, WikiSourceKind, WikiSupersessionMode
from ..fields import source
from ..pages.claims import WikiContradiction, WikiSupersededClaim
from ..pages.pages import WikiPage
from .edit_payloads import WikiEditAmbiguity, WikiEditFailure, ambiguity, conflict, failure
from .edits import WikiPageInWikiInput
from .payloads import UserError, WikiConflict, private_id, user_error
from .scoping import Request, id_of, scope_in


@strawberry.input(description="Reference to the newest version of a source.")
class WikiSourceRefInput:
    kind: WikiSourceKind = strawberry.field(description="Kind of the source.")
    ref: str = strawberry.field(description="Name of the source in the system that it comes from.")

    def to_ref(self) -> SourceRef:
        return SourceRef(self.kind.value, self.ref)


@strawberry.input(description="Claim that no longer holds, and the claim that replaces it.")
class SupersedeWikiClaimInput(WikiPageInWikiInput):
    fact: str = strawberry.field(
        description=(
            "Claim that no longer holds, in the words of the page. Differences in whitespace are "
            "ignored; in two or more lines, a few words can differ as well."
        )
    )
    replacement: str = strawberry.field(description="Claim that holds now, in Markdown.")
    stated_by: WikiSourceRefInput | None = strawberry.field(default=None, description="Source of the old claim.")
    overridden_by: WikiSourceRefInput | None = strawberry.field(
        default=None, description="Source of the new claim. The rewritten section cites it."
    )
    superseded_on: datetime | None = strawberry.field(
        default=None,
        description=(
            "Time until which the old claim held. Defaults to the capture time of the overriding "
            "source, or else to now."
        ),
    )
    mode: WikiSupersessionMode = strawberry.field(
        default=WikiSupersessionMode.REPLACE, description="Mode of changing the text."
    )


@strawberry.input(description="A superseded claim.")
class WithdrawWikiSupersededClaimInput:
    claim_id: strawberry.ID = strawberry.field(description="The claim.")


@strawberry.type(description="Payload of superseding a claim.")
class WikiSupersessionPayload:
    page_id: strawberry.Private[UUID | None] = None
    claim_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Errors. Empty on success.")
    conflict: WikiConflict | None = strawberry.field(
        default=None, description="Set if the page no longer has the expectedVersion."
    )
    failure: WikiEditFailure | None = strawberry.field(
        default=None, description="Set if the page does not contain the claim."
    )
    ambiguity: WikiEditAmbiguity | None = strawberry.field(
        default=None,
        description="Set if the page contains the claim more than once. Give the section, or quote more text.",
    )
    changed: bool = strawberry.field(
        default=False, description="False if the claim was already recorded with the same overriding source."
    )
    matched_by: WikiEditPass | None = strawberry.field(default=None, description="Strategy that found the claim.")
    claim: WikiSupersededClaim | None = source(
        relations.claims.by_ids, "The claim.", access=BY_ID, step=private_id("claim_id")
    )
    page: WikiPage | None = source(
        relations.pages.by_ids, "Current state of the page.", access=BY_ID, step=private_id("page_id")
    )


@strawberry.input(description="One of two contradicting claims.")
class WikiClaimInput:
    claim: str = strawberry.field(description="Claim in the words of the page or of its source.")
    section_slug: str | None = strawberry.field(
        default=None, description="Slug of the section with the claim. Defaults to the only one that contains it."
    )
    source: WikiSourceRefInput | None = strawberry.field(default=None, description="Source of the claim.")
    on: datetime | None = strawberry.field(
        default=None, description="Time of the claim. Defaults to the capture time of its source, or else to now."
    )

    def to_claim(self) -> Claimed:
        return Claimed(self.claim, self.section_slug, self.source.to_ref() if self.source else None, self.on)


@strawberry.input(description="Two claims of a page that cannot both hold.")
class RecordWikiContradictionInput:
    page_id: strawberry.ID = strawberry.field(description="Page with both claims.")
    older: WikiClaimInput = strawberry.field(description="The older claim.")
    newer: WikiClaimInput = strawberry.field(description="The newer claim.")


@strawberry.input(description="Resolution of a contradiction.")
class ResolveWikiContradictionInput:
    contradiction_id: strawberry.ID = strawberry.field(description="The contradiction.")
    resolution: WikiContradictionResolution = strawberry.field(description="Claim that holds.")
    reason: str = strawberry.field(description="Reason for the decision.")


@strawberry.type(description="Payload with the contradiction.")
class WikiContradictionPayload:
    contradiction_id: strawberry.Private[UUID | None] = None
    page_id: strawberry.Private[UUID | None] = None
    claim_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Errors. Empty on success.")
    changed: bool = strawberry.field(
        default=False, description="False if it was already recorded, or decided in this way."
    )
    contradiction: WikiContradiction | None = source(
        relations.contradictions.by_ids, "The contradiction.", access=BY_ID, step=private_id("contradiction_id")
    )
    claim: WikiSupersededClaim | None = source(
        relations.claims.by_ids, "Claim that the decision superseded.", access=BY_ID, step=private_id("claim_id")
    )
    page: WikiPage | None = source(
        relations.pages.by_ids, "Current state of the page.", access=BY_ID, step=private_id("page_id")
    )


@strawberry.type
class ClaimMutations:
    @strawberry.mutation(
        description=(
            "Supersede a claim: record that it no longer holds, and rewrite its section. The same "
            "claim and overriding source are recorded only once."
        )
    )
    async def supersede_wiki_claim(self, info: Request, input: SupersedeWikiClaimInput) -> WikiSupersessionPayload:
        saving = claims.supersede_claim(
            info.context.database,
            await scope_in(info, input),
            input.address(),
            fact=input.fact,
            replacement=input.replacement,
            section_slug=input.section_slug,
            stated_by=input.stated_by.to_ref() if input.stated_by else None,
            overridden_by=input.overridden_by.to_ref() if input.overridden_by else None,
            superseded_on=input.superseded_on,
            mode=Mode(str(WikiSupersessionMode(input.mode).value)),
            expected_version=input.expected_version,
            summary=input.summary,
        )
        return await supersession_payload(saving)

    @strawberry.mutation(
        description=(
            "Withdraw a superseded claim. It is no longer shown, and the compiler does not record it "
            "again. The text is unchanged; use restoreWikiRevision to restore an earlier one."
        )
    )
    async def withdraw_wiki_superseded_claim(
        self, info: Request, input: WithdrawWikiSupersededClaimInput
    ) -> WikiSupersessionPayload:
        saving = claims.withdraw_claim(info.context.database, info.context.scope, id_of(input.claim_id))
        return await supersession_payload(saving)

    @strawberry.mutation(
        description=(
            "Record that two claims of a page contradict each other. The text is unchanged, and the "
            "same pair is recorded only once."
        )
    )
    async def record_wiki_contradiction(
        self, info: Request, input: RecordWikiContradictionInput
    ) -> WikiContradictionPayload:
        database, scope, address = info.context.database, info.context.scope, PageAddress(id_of(input.page_id))
        older, newer = input.older.to_claim(), input.newer.to_claim()
        return await contradiction_payload(contradictions.record_contradiction(database, scope, address, older, newer))

    @strawberry.mutation(
        description=(
            "Resolve a contradiction. The claim that is not kept is superseded and removed from the text of the page."
        )
    )
    async def resolve_wiki_contradiction(
        self, info: Request, input: ResolveWikiContradictionInput
    ) -> WikiContradictionPayload:
        database, scope = info.context.database, info.context.scope
        resolution = Resolution(str(WikiContradictionResolution(input.resolution).value))
        return await contradiction_payload(
            contradictions.resolve_contradiction(
                database, scope, id_of(input.contradiction_id), resolution, input.reason
            )
        )


async def contradiction_payload(saving: Awaitable[SavedContradiction]) -> WikiContradictionPayload:
    try:
        done = await saving
    except BadInput as error:
        return WikiContradictionPayload(user_errors=[user_error(error)])
    return WikiContradictionPayload(
        contradiction_id=done.id, page_id=done.saved.page_id, claim_id=done.claim_id, changed=done.saved.changed
    )


async def supersession_payload(saving: Awaitable[SupersededClaim]) -> WikiSupersessionPayload:
    try:
        done = await saving
    except BadInput as error:
        return WikiSupersessionPayload(user_errors=[user_error(error)])
    except Conflict as error:
        return WikiSupersessionPayload(conflict=conflict(error))
    except EditFailed as error:
        return WikiSupersessionPayload(failure=failure(error))
    except EditAmbiguous as error:
        return WikiSupersessionPayload(ambiguity=ambiguity(error))
    return WikiSupersessionPayload(
        page_id=done.saved.page_id,
        claim_id=done.claim_id,
        changed=done.saved.changed,
        matched_by=WikiEditPass(done.edited.matched_by) if done.edited else None,
    )
