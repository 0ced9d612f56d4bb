"""The paths of proposals: they are created, listed, accepted, declined and withdrawn."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field, model_validator
from starlette.responses import Response

from content.limits import EDIT_SUMMARY, REF, SLUG, SUMMARY, TITLE
from db.database import Database
from db.scope import Scope, Terms
from resolvers.errors import NotFound
from resolvers.model.drafts import PageDraft
from resolvers.model.lookup import PageAddress, locate_slug
from resolvers.pages.edits import edit_page
from resolvers.pages.lifecycle import archive_page, create_page
from resolvers.proposals import proposals
from resolvers.proposals.amending import Amendment
from resolvers.proposals.gate import EVIDENCE_MAX, Significance
from resolvers.validation import UNSET
from schema.enums import WikiPageType, WikiProposalStatus

from ...moments import Moment
from .. import responses
from ..endpoint import Call, WikiRoute
from ..models import VERSION_MAX, Listed, PageName, RequestModel, ResponseModel, Text
from ..operations import read, write
from ..parameters import BODY_STATUSES, Caller, Cursor, Limit, problem_responses, read_responses
from ..responses import Row, answer, answer_write

routes = APIRouter(route_class=WikiRoute, tags=["pages"])
State = Literal["open", "accepted", "declined", "withdrawn", "expired"]
Status = Annotated[WikiProposalStatus | None, Query(description="Only entries with this status.")]
Author = Annotated[str | None, Query(max_length=500, description="Only entries of this author (id).")]
Reason = Annotated[str | None, Field(max_length=EDIT_SUMMARY.maximum, description="Comment for the author.")]


class Proposal(ResponseModel):
    """Proposal: a change that waits for a reviewer. `page` is null if the proposal creates it."""

    id: UUID
    status: State
    operation: str
    page: PageName | None
    title: str | None
    base_version: int | None
    is_stale: bool
    conflicts: list[str]
    word_diff: str
    why: str | None
    evidence: list[str]
    significance: Literal["low", "medium", "high"]
    author: str
    created_at: datetime
    expires_at: datetime
    decider: str | None
    decided_at: datetime | None
    reason: str | None
    accepted_version: int | None


class Proposals(Listed):
    items: list[Proposal]


Ref = Annotated[str, Field(max_length=REF.maximum + 20)]


class ProposedPage(RequestModel):
    """Page to create."""

    type: Annotated[WikiPageType, Field(strict=False)]
    title: Annotated[str, Field(min_length=1, max_length=TITLE.maximum)]
    content: Text = ""


class ProposedEdit(RequestModel):
    """Edit of a page: the old text is replaced by the new text."""

    slug: Annotated[str, Field(min_length=1, max_length=SLUG.maximum)]
    old_text: Annotated[Text, Field(min_length=1)]
    new_text: Text


class ProposedChange(RequestModel):
    """Change to propose, with its reason and evidence. Other operations become proposals if the write policy requires
    a review."""

    why: Annotated[str, Field(min_length=1, max_length=EDIT_SUMMARY.maximum)]
    evidence: tuple[Ref, ...] = Field((), max_length=EVIDENCE_MAX, strict=False)
    significance: Annotated[Significance, Field(strict=False)] = Significance.MEDIUM
    expires_at: Annotated[
        Moment | None,
        Field(description="Time at which the proposal expires. Defaults to a time that depends on its significance."),
    ] = None
    create: ProposedPage | None = None
    edit: ProposedEdit | None = None
    archive: Annotated[str | None, Field(max_length=SLUG.maximum, description="Slug of the page.")] = None

    @model_validator(mode="after")
    def one(self) -> "ProposedChange":
        if sum(change is not None for change in (self.create, self.edit, self.archive)) != 1:
            raise ValueError("give one of create, edit and archive")
        return self

    def write(self, database: Database) -> Callable[[Scope], Awaitable[Any]]:
        async def run(scope: Scope) -> Any:
            if self.create:
                draft = PageDraft(self.create.type.value, self.create.title, body=self.create.content)
                return await create_page(database, scope, draft)
            found = await locate_slug(database, scope, self.edit.slug if self.edit else str(self.archive), None)
            if self.edit is None:
                return await archive_page(database, scope, found.page_id)
            old, new = self.edit.old_text, self.edit.new_text
            return await edit_page(database, scope, PageAddress(found.page_id), old_text=old, new_text=new)

        return run


class AcceptRequest(RequestModel):
    """Comment for the author, and amended texts that replace the proposed ones."""

    reason: Reason = None
    title: Annotated[str | None, Field(min_length=1, max_length=TITLE.maximum)] = None
    summary: Annotated[str | None, Field(max_length=SUMMARY.maximum)] = None
    content: Text | None = None
    content_version: Annotated[
        int | None, Field(ge=1, le=VERSION_MAX, description="Version of the page on which content is based.")
    ] = None

    def amendment(self) -> Amendment:
        texts = (self.title, self.summary, self.content)
        title, summary, content = (UNSET if text is None else text for text in texts)
        return Amendment(title, summary, content, self.content_version)


class DeclineRequest(RequestModel):
    """Reason for the author."""

    reason: Annotated[str, Field(min_length=1, max_length=EDIT_SUMMARY.maximum)]


class WithdrawRequest(RequestModel):
    """Reason, if any."""

    reason: Reason = None


@routes.get("/proposals", operation_id="listProposals", response_model=Proposals, responses=read_responses())
async def list_proposals(
    call: Caller, status: Status = None, author: Author = None, limit: Limit = 50, cursor: Cursor = None
) -> Response:
    """List proposals, newest first. Read-only credentials get an empty list."""
    variables: dict[str, Any] = {
        "status": status and status.value.upper(),
        "author": author,
        "first": limit,
        "after": cursor,
    }
    found = (await read(call, "proposals", "RestProposals", **variables))["found"]
    return await answer(call, responses.list_body(found, list(map(responses.proposal_or_question, found["nodes"]))))


@routes.get("/proposals/{id}", operation_id="getProposal", response_model=Proposal, responses=read_responses(404))
async def get_proposal(call: Caller, id: UUID) -> Response:
    """Return a proposal."""
    return await answer(call, await read_proposal(call, call.database, id))


@routes.post(
    "/proposals",
    operation_id="proposeChange",
    status_code=201,
    response_model=Proposal,
    responses=problem_responses(*BODY_STATUSES, 404),
)
async def propose(call: Caller, body: ProposedChange) -> Response:
    """Propose a change for review."""
    terms = Terms(body.why, body.evidence, body.significance.value, body.expires_at)

    async def work(database: Database) -> Any:
        proposed = await proposals.propose_change(database, call.wiki, terms, body.write(database))
        assert proposed.proposal_id is not None
        return await read_proposal(call, database, proposed.proposal_id)

    written = await write(call, work)
    return await answer_write(call, written.body, 201, written.headers)


@routes.post(
    "/proposals/{id}/accept",
    operation_id="acceptProposal",
    response_model=Proposal,
    responses=problem_responses(*BODY_STATUSES, 404),
)
async def accept(call: Caller, id: UUID, body: AcceptRequest | None = None) -> Response:
    """Accept a proposal and apply it in the name of its author. Changes made to other sections in the meantime are
    kept."""
    given = body or AcceptRequest()
    return await decide_proposal(
        call, id, lambda database: proposals.accept_proposal(database, call.wiki, id, given.amendment(), given.reason)
    )


@routes.post(
    "/proposals/{id}/decline",
    operation_id="declineProposal",
    response_model=Proposal,
    responses=problem_responses(*BODY_STATUSES, 404),
)
async def decline(call: Caller, id: UUID, body: DeclineRequest) -> Response:
    """Decline a proposal."""
    return await decide_proposal(
        call, id, lambda database: proposals.decline_proposal(database, call.wiki, id, body.reason)
    )


@routes.post(
    "/proposals/{id}/withdraw",
    operation_id="withdrawProposal",
    response_model=Proposal,
    responses=problem_responses(*BODY_STATUSES, 404),
)
async def withdraw(call: Caller, id: UUID, body: WithdrawRequest | None = None) -> Response:
    """Withdraw a proposal. Only its author can."""
    given = body or WithdrawRequest()
    return await decide_proposal(
        call, id, lambda database: proposals.withdraw_proposal(database, call.wiki, id, given.reason)
    )


async def decide_proposal(call: Call, id: UUID, decide: Callable[[Database], Awaitable[Any]]) -> Response:
    async def work(database: Database) -> Any:
        await decide(database)
        return await read_proposal(call, database, id)

    written = await write(call, work)
    return await answer_write(call, written.body, 200, written.headers)


async def read_proposal(call: Call, database: Database, id: UUID) -> Row:
    found = (await read(call, "proposals", "RestProposal", database, id=str(id)))["found"]
    if found is None:
        raise NotFound(proposals.NO_PROPOSAL)
    return responses.proposal_or_question(found)
