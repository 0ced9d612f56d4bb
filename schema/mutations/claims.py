"""Claims that no longer hold, and claims that cannot both hold."""

from collections.abc import Awaitable
from datetime import datetime
from uuid import UUID

import strawberry

from db import relations
from db.access import BY_ID
from resolvers.errors import BadInput, Conflict
from resolvers.model.lookup import PageAddress
from resolvers.pages import claims, contradictions
from resolvers.pages.claims import Mode, SourceRef, SupersededClaim
from resolvers.pages.contradictions import Claimed, Resolution, SavedContradiction
from resolvers.pages.edits import EditAmbiguous, EditFailed

from ..enums import WikiContradictionResolution, WikiEditPass, WikiSourceKind, WikiSupersessionMode
from ..fields import source
from ..pages.claims import WikiContradiction, WikiSupersededClaim
from ..pages.pages import WikiPage
from .edit_payloads import WikiEditAmbiguity, WikiEditFailure, ambiguity, conflict, failure
from .edits import WikiPageInWikiInput
from .payloads import UserError, WikiConflict, private_id, user_error
from .scoping import Request, id_of, scope_in


@strawberry.input(description="A source of the wiki; its newest version is meant.")
class WikiSourceRefInput:
    kind: WikiSourceKind = strawberry.field(description="What kind of evidence it is.")
    ref: str = strawberry.field(description="Its name where it came from.")

    def to_ref(self) -> SourceRef:
        return SourceRef(self.kind.value, self.ref)


@strawberry.input(description="A claim of a page that no longer holds, and what holds now.")
class SupersedeWikiClaimInput(WikiPageInWikiInput):
    fact: str = strawberry.field(
        description="What no longer holds, as the page says it: whitespace may differ, of two lines or more some words "
        "as well."
    )
    replacement: str = strawberry.field(description="What holds now, as markdown.")
    stated_by: WikiSourceRefInput | None = strawberry.field(default=None, description="The source that stated it.")
    overridden_by: WikiSourceRefInput | None = strawberry.field(
        default=None, description="The source that says what holds now. The section that is rewritten cites it."
    )
    superseded_on: datetime | None = strawberry.field(
        default=None,
        description="Until when the fact held: when the overriding source was captured, or else now, if left out.",
    )
    mode: WikiSupersessionMode = strawberry.field(
        default=WikiSupersessionMode.REPLACE, description="How the text is rewritten."
    )


@strawberry.input(description="A superseded claim.")
class WithdrawWikiSupersededClaimInput:
    claim_id: strawberry.ID = strawberry.field(description="The claim.")


@strawberry.type(description="A page after one of its claims was superseded.")
class WikiSupersessionPayload:
    page_id: strawberry.Private[UUID | None] = None
    claim_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Empty when it was done.")
    conflict: WikiConflict | None = strawberry.field(default=None, description="Set when expectedVersion was stale.")
    failure: WikiEditFailure | None = strawberry.field(
        default=None, description="Set when the page does not say the fact."
    )
    ambiguity: WikiEditAmbiguity | None = strawberry.field(
        default=None, description="Set when it says the fact more than once: name the section, or quote more of it."
    )
    changed: bool = strawberry.field(
        default=False, description="False when the page had this claim already, from the same overriding source."
    )
    matched_by: WikiEditPass | None = strawberry.field(default=None, description="How the fact was found in the text.")
    claim: WikiSupersededClaim | None = source(
        relations.claims.by_ids, "The claim.", access=BY_ID, step=private_id("claim_id")
    )
    page: WikiPage | None = source(
        relations.pages.by_ids, "The page as it is now.", access=BY_ID, step=private_id("page_id")
    )


@strawberry.input(description="One of two claims that contradict each other.")
class WikiClaimInput:
    claim: str = strawberry.field(description="The claim, as the page or its source says it.")
    section_slug: str | None = strawberry.field(
        default=None, description="The section that states it; the only one that says it, if left out."
    )
    source: WikiSourceRefInput | None = strawberry.field(default=None, description="The source that states it.")
    on: datetime | None = strawberry.field(
        default=None, description="When it was stated: when its source was captured, or else now, if left out."
    )

    def to_claim(self) -> Claimed:
        return Claimed(self.claim, self.section_slug, self.source.to_ref() if self.source else None, self.on)


@strawberry.input(description="Two claims of a page that cannot both hold.")
class RecordWikiContradictionInput:
    page_id: strawberry.ID = strawberry.field(description="The page that makes both claims.")
    older: WikiClaimInput = strawberry.field(description="The older claim.")
    newer: WikiClaimInput = strawberry.field(description="The newer claim.")


@strawberry.input(description="A decision of a contradiction.")
class ResolveWikiContradictionInput:
    contradiction_id: strawberry.ID = strawberry.field(description="The contradiction.")
    resolution: WikiContradictionResolution = strawberry.field(description="What holds.")
    reason: str = strawberry.field(description="Why, for those who read it later.")


@strawberry.type(description="A contradiction after it was recorded or decided.")
class WikiContradictionPayload:
    contradiction_id: strawberry.Private[UUID | None] = None
    page_id: strawberry.Private[UUID | None] = None
    claim_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Empty when it was done.")
    changed: bool = strawberry.field(
        default=False, description="False when it was recorded, or decided in this way, already."
    )
    contradiction: WikiContradiction | None = source(
        relations.contradictions.by_ids, "The contradiction.", access=BY_ID, step=private_id("contradiction_id")
    )
    claim: WikiSupersededClaim | None = source(
        relations.claims.by_ids, "The claim that the decision superseded.", access=BY_ID, step=private_id("claim_id")
    )
    page: WikiPage | None = source(
        relations.pages.by_ids, "The page as it is now.", access=BY_ID, step=private_id("page_id")
    )


@strawberry.type
class ClaimMutations:
    @strawberry.mutation(
        description="Record that a claim of a page no longer holds, and rewrite its section to say what holds now. The "
        "same fact from the same overriding source is recorded once."
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
        description="Take back that a claim was superseded: readers are no longer told of it, and the compiler does "
        "not record it again. The text stays: restoreWikiRevision brings an earlier one back."
    )
    async def withdraw_wiki_superseded_claim(
        self, info: Request, input: WithdrawWikiSupersededClaimInput
    ) -> WikiSupersessionPayload:
        saving = claims.withdraw_claim(info.context.database, info.context.scope, id_of(input.claim_id))
        return await supersession_payload(saving)

    @strawberry.mutation(
        description="Record that two claims of a page contradict each other. Nothing is rewritten; the same pair is "
        "recorded once."
    )
    async def record_wiki_contradiction(
        self, info: Request, input: RecordWikiContradictionInput
    ) -> WikiContradictionPayload:
        database, scope, address = info.context.database, info.context.scope, PageAddress(id_of(input.page_id))
        older, newer = input.older.to_claim(), input.newer.to_claim()
        return await contradiction_payload(contradictions.record_contradiction(database, scope, address, older, newer))

    @strawberry.mutation(
        description="Decide a contradiction. The claim that is not kept is superseded by the other one and leaves the "
        "text of the page."
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
