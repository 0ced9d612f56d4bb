"""Payloads of edits, renames and batches, which return more than the page."""

from collections.abc import Awaitable, Sequence
from typing import Any
from uuid import UUID

import strawberry

from db import relations
from db.access import BY_ID
from resolvers.errors import BadInput, CairnError, Conflict
from resolvers.pages.batches import BatchOutcome
from resolvers.pages.edits import EditAmbiguous, EditFailed, SavedEdit
from resolvers.pages.renaming import Renamed
from resolvers.proposals.gate import ReviewRequired
from selection import Step

from ..enums import WikiEditPass
from ..fields import source
from ..pages.pages import WikiPage
from ..pages.revisions import WikiRevision
from .payloads import IDS, UserError, WikiConflict, private_id, shown_id, user_error


async def payload_state(context: Any, payload: Any, wanted: frozenset[str]) -> list[tuple[Any, ...]]:
    return [] if payload.state is None else [payload.state]


async def payload_pages(
    context: Any, payload: Any, wanted: frozenset[str], limit: int | None = None
) -> list[tuple[Any, ...]]:
    """Return the ids of the pages of a batch. A batch is never larger than the limit of the list."""
    return [(page_id,) for page_id in payload.page_ids]


@strawberry.type(description="The part of the text that is most similar to the old text of an edit.")
class WikiEditNearest:
    text: str = strawberry.field(description="Text, 2000 characters at most.")
    line: int = strawberry.field(description="Line where it begins, counted from 1.")
    similarity: float = strawberry.field(description="Similarity, from 0 to 1.")


@strawberry.type(description="The old text of an edit was not found. Nothing was written.")
class WikiEditFailure:
    message: str = strawberry.field(description="Error message with advice, for people and models.")
    passes_tried: list[WikiEditPass] = strawberry.field(description="Strategies that were tried, strictest first.")
    nearest: WikiEditNearest | None = strawberry.field(
        description="Most similar part of the text. Null for an empty text."
    )


@strawberry.type(description="The old text of an edit was found more than once. Nothing was written.")
class WikiEditAmbiguity:
    message: str = strawberry.field(description="Error message with advice, for people and models.")
    count: int = strawberry.field(description="Number of occurrences.")
    lines: list[int] = strawberry.field(description="Lines of the first twenty occurrences, counted from 1.")
    matched_by: WikiEditPass = strawberry.field(description="Strategy that found the text.")


@strawberry.type(description="Payload of an edit.")
class WikiEditPayload:
    page_id: strawberry.Private[UUID | None] = None
    state: strawberry.Private[tuple[UUID, int] | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Errors. Empty on success.")
    conflict: WikiConflict | None = strawberry.field(
        default=None, description="Set if the page no longer has the expectedVersion."
    )
    failure: WikiEditFailure | None = strawberry.field(default=None, description="Set if the old text was not found.")
    ambiguity: WikiEditAmbiguity | None = strawberry.field(
        default=None, description="Set if the old text was found more than once."
    )
    changed: bool = strawberry.field(default=False, description="Whether anything was changed.")
    note: str | None = strawberry.field(
        default=None, description="Reason why nothing was changed, if that is not an error."
    )
    matched_by: WikiEditPass | None = strawberry.field(default=None, description="Strategy that found the old text.")
    replacements: int = strawberry.field(default=0, description="Number of replacements.")
    lines: list[int] = strawberry.field(
        default_factory=list, description="Lines where the first hundred replacements begin, counted from 1."
    )
    lines_removed: int = strawberry.field(default=0, description="Number of lines of the replaced text.")
    lines_added: int = strawberry.field(default=0, description="Number of lines of the new text.")
    page: WikiPage | None = source(
        relations.pages.by_ids, "Current state of the page.", access=BY_ID, step=private_id("page_id")
    )
    revision: WikiRevision | None = source(
        relations.revisions.written_revision,
        "Version with the edit, or the present version if nothing changed.",
        access=BY_ID,
        step=Step(payload_state, relations.revisions.STATE),
    )


@strawberry.type(description="Payload of a rename.")
class WikiRenamePayload:
    page_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Errors. Empty on success.")
    conflict: WikiConflict | None = strawberry.field(
        default=None, description="Set if the page no longer has the expectedVersion."
    )
    changed: bool = strawberry.field(default=False, description="Whether anything was changed.")
    pages_rewritten: int = strawberry.field(
        default=0, description="Number of pages whose links were updated, each in a new version."
    )
    pages_left: int = strawberry.field(
        default=0,
        description=(
            "Number of pages that are updated after this response. WikiPage.pagesToRewrite is 0 once "
            "all are; the same rename continues with them. Until then the old name resolves."
        ),
    )
    page: WikiPage | None = source(
        relations.pages.by_ids, "Current state of the page.", access=BY_ID, step=private_id("page_id")
    )


@strawberry.type(description="Result for one page of a batch.")
class WikiBatchOutcome:
    position: int = strawberry.field(description="Position in pageIds, from 0.")
    ok: bool = strawberry.field(description="Whether the page is in the requested state.")
    changed: bool = strawberry.field(description="Whether anything was changed.")
    error: UserError | None = strawberry.field(description="Error, if it failed.")


@strawberry.type(description="Payload of a batch. Each page was changed in its own transaction.")
class WikiPagesPayload:
    page_ids: strawberry.Private[Sequence[UUID]] = ()
    user_errors: list[UserError] = strawberry.field(
        default_factory=list,
        description="Errors of the whole request, and of single pages with the path [pageIds, position].",
    )
    outcomes: list[WikiBatchOutcome] = strawberry.field(
        default_factory=list, description="Results for pageIds, in the same order."
    )
    pages: list[WikiPage] = source(
        relations.pages.by_ids,
        "Pages that are in the requested state.",
        access=BY_ID,
        step=Step(payload_pages, IDS),
        limit=100,
    )


async def edit_payload(saving: Awaitable[SavedEdit]) -> WikiEditPayload:
    try:
        done = await saving
    except BadInput as error:
        return WikiEditPayload(user_errors=[user_error(error)])
    except Conflict as error:
        return WikiEditPayload(conflict=conflict(error))
    except EditFailed as error:
        return WikiEditPayload(failure=failure(error))
    except EditAmbiguous as error:
        return WikiEditPayload(ambiguity=ambiguity(error))
    payload = WikiEditPayload(
        page_id=done.saved.page_id,
        state=(done.saved.page_id, done.saved.version),
        changed=done.saved.changed,
        note=done.note,
    )
    if done.edited:
        payload.matched_by = WikiEditPass(done.edited.matched_by)
        payload.replacements, payload.lines = len(done.edited.lines), list(done.edited.lines[:100])
        payload.lines_removed, payload.lines_added = done.edited.lines_removed, done.edited.lines_added
    return payload


async def rename_payload(saving: Awaitable[Renamed]) -> WikiRenamePayload:
    try:
        done = await saving
    except BadInput as error:
        return WikiRenamePayload(user_errors=[user_error(error)])
    except Conflict as error:
        return WikiRenamePayload(conflict=conflict(error))
    return WikiRenamePayload(
        page_id=done.saved.page_id,
        changed=done.saved.changed,
        pages_rewritten=len(done.rewritten),
        pages_left=done.left,
    )


async def pages_payload(saving: Awaitable[list[BatchOutcome]]) -> WikiPagesPayload:
    try:
        outcomes = await saving
    except BadInput as error:
        return WikiPagesPayload(user_errors=[user_error(error)])
    shown = [outcome_of(outcome) for outcome in outcomes]
    return WikiPagesPayload(
        page_ids=list(dict.fromkeys(outcome.saved.page_id for outcome in outcomes if outcome.saved)),
        user_errors=[outcome.error for outcome in shown if outcome.error],
        outcomes=shown,
    )


def outcome_of(outcome: BatchOutcome) -> WikiBatchOutcome:
    return WikiBatchOutcome(
        position=outcome.position,
        ok=outcome.saved is not None,
        changed=outcome.saved is not None and outcome.saved.changed,
        error=batch_error(outcome.error, outcome.position) if outcome.error else None,
    )


def batch_error(error: CairnError, position: int, among: str = "pageIds") -> UserError:
    named = error.proposal_id if isinstance(error, ReviewRequired) else None
    return UserError(message=error.message, code=error.code, field=[among, str(position)], proposal_id=shown_id(named))


def conflict(error: Conflict) -> WikiConflict:
    return WikiConflict(page_id=error.page_id, message=error.message, current_version=error.current_version)


def failure(error: EditFailed) -> WikiEditFailure:
    nearest = WikiEditNearest(**error.nearest._asdict()) if error.nearest else None
    passes = [WikiEditPass(name) for name in error.passes]
    return WikiEditFailure(message=error.message, passes_tried=passes, nearest=nearest)


def ambiguity(error: EditAmbiguous) -> WikiEditAmbiguity:
    return WikiEditAmbiguity(
        message=error.message,
        count=error.count,
        lines=list(error.lines),
        matched_by=WikiEditPass(error.matched_by),
    )
