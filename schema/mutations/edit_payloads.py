"""Payloads of edits, renames and batches: what they answer besides the page."""

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
    """Return the ids of a batch, which is not larger than what a list shows at most."""
    return [(page_id,) for page_id in payload.page_ids]


@strawberry.type(description="The part of the text that is most like the old text of an edit.")
class WikiEditNearest:
    text: str = strawberry.field(description="What it says: 2000 characters of it at most.")
    line: int = strawberry.field(description="The line where it begins, from 1.")
    similarity: float = strawberry.field(description="How like it is, from 0 to 1.")


@strawberry.type(description="The old text of an edit was not found. Nothing was written.")
class WikiEditFailure:
    message: str = strawberry.field(description="What to do, for people and models.")
    passes_tried: list[WikiEditPass] = strawberry.field(description="How it was looked for, the strictest way first.")
    nearest: WikiEditNearest | None = strawberry.field(description="What is most like it; null in an empty text.")


@strawberry.type(description="The old text of an edit was found more than once. Nothing was written.")
class WikiEditAmbiguity:
    message: str = strawberry.field(description="What to do, for people and models.")
    count: int = strawberry.field(description="How many times it is there.")
    lines: list[int] = strawberry.field(description="The lines where it begins, from 1: the first twenty.")
    matched_by: WikiEditPass = strawberry.field(description="How it was found.")


@strawberry.type(description="A page after an edit of its text.")
class WikiEditPayload:
    page_id: strawberry.Private[UUID | None] = None
    state: strawberry.Private[tuple[UUID, int] | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Empty when it was done.")
    conflict: WikiConflict | None = strawberry.field(default=None, description="Set when expectedVersion was stale.")
    failure: WikiEditFailure | None = strawberry.field(default=None, description="Set when nothing was found.")
    ambiguity: WikiEditAmbiguity | None = strawberry.field(default=None, description="Set when too much was found.")
    changed: bool = strawberry.field(default=False, description="Did this change anything?")
    note: str | None = strawberry.field(default=None, description="Why nothing was changed, when that is no mistake.")
    matched_by: WikiEditPass | None = strawberry.field(default=None, description="How the old text was found.")
    replacements: int = strawberry.field(default=0, description="How many times it was replaced.")
    lines: list[int] = strawberry.field(
        default_factory=list, description="Where the first hundred replacements begin in the text now, from 1."
    )
    lines_removed: int = strawberry.field(default=0, description="Over how many lines went what was replaced.")
    lines_added: int = strawberry.field(default=0, description="Over how many lines goes what came.")
    page: WikiPage | None = source(
        relations.pages.by_ids, "The page as it is now.", access=BY_ID, step=private_id("page_id")
    )
    revision: WikiRevision | None = source(
        relations.revisions.written_revision,
        "The version that holds the edit: the one before it when nothing changed.",
        access=BY_ID,
        step=Step(payload_state, relations.revisions.STATE),
    )


@strawberry.type(description="A page after it got another name.")
class WikiRenamePayload:
    page_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Empty when it was done.")
    conflict: WikiConflict | None = strawberry.field(default=None, description="Set when expectedVersion was stale.")
    changed: bool = strawberry.field(default=False, description="Did this change anything?")
    pages_rewritten: int = strawberry.field(
        default=0, description="In how many pages links were spelled anew: each has a new version."
    )
    pages_left: int = strawberry.field(
        default=0,
        description="How many more call it by the old name, which leads to it: they are rewritten after this answer. "
        "WikiPage.pagesToRewrite is 0 once all are, and the same rename again goes on with them.",
    )
    page: WikiPage | None = source(
        relations.pages.by_ids, "The page as it is now.", access=BY_ID, step=private_id("page_id")
    )


@strawberry.type(description="What became of one page of a batch.")
class WikiBatchOutcome:
    position: int = strawberry.field(description="Its place in pageIds, from 0.")
    ok: bool = strawberry.field(description="Is the page now as it was wanted?")
    changed: bool = strawberry.field(description="Did this change anything?")
    error: UserError | None = strawberry.field(description="Why it is not.")


@strawberry.type(description="The pages of a batch: each was changed by itself.")
class WikiPagesPayload:
    page_ids: strawberry.Private[Sequence[UUID]] = ()
    user_errors: list[UserError] = strawberry.field(
        default_factory=list, description="What went wrong with the whole, and with single pages: [pageIds, position]."
    )
    outcomes: list[WikiBatchOutcome] = strawberry.field(
        default_factory=list, description="One for each of pageIds, in their order."
    )
    pages: list[WikiPage] = source(
        relations.pages.by_ids,
        "The pages that are as they were wanted, each once.",
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
