"""Payloads of mutations: the current state of the object, or the errors that the client has to fix."""

from collections.abc import Awaitable
from typing import Any
from uuid import UUID

import strawberry
from sqlalchemy import Uuid

from db import relations
from db.access import BY_ID
from resolvers.errors import BadInput, Conflict
from resolvers.proposals.gate import ReviewRequired
from selection import Step

from ..fields import source
from ..pages.mentions import WikiMention
from ..pages.pages import WikiPage
from ..sources import WikiCitation, WikiSource

IDS = {"id": Uuid()}


def private_id(name: str) -> Step:
    """Return a step that yields the id in a private field of the payload, if there is one."""

    async def run(context: Any, payload: Any, wanted: frozenset[str]) -> list[tuple[Any, ...]]:
        id = getattr(payload, name)
        return [] if id is None else [(id,)]

    return Step(run, IDS)


CITED = {"section_id": Uuid(), "source_id": Uuid()}


async def payload_citation(
    context: Any, payload: "WikiCitationPayload", wanted: frozenset[str]
) -> list[tuple[Any, ...]]:
    return [] if payload.cited is None else [payload.cited]


@strawberry.type(description="An error in the input, with the path of the field to fix.")
class UserError:
    message: str = strawberry.field(description="Error message for people, with advice.")
    code: str = strawberry.field(description="Error code for programs.")
    field: list[str] = strawberry.field(description="Path of the field in the input, such as [sections, 0, bodyMd].")
    proposal_id: strawberry.ID | None = strawberry.field(
        default=None, description="Id of the proposal that was created instead, with the code REVIEW_REQUIRED."
    )


@strawberry.type(description="A conflict: the page was changed in the meantime. Nothing was written.")
class WikiConflict:
    page_id: strawberry.Private[UUID | None]
    message: str = strawberry.field(description="Error message for people.")
    current_version: int | None = strawberry.field(
        description="Current version of the page. Read it before you try again."
    )
    page: WikiPage | None = source(
        relations.pages.by_ids, "Current state of the page.", access=BY_ID, step=private_id("page_id")
    )


@strawberry.type(description="Payload with the page.")
class WikiPagePayload:
    page_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Errors. Empty on success.")
    conflict: WikiConflict | None = strawberry.field(
        default=None, description="Set if the page no longer has the expectedVersion."
    )
    created: bool = strawberry.field(default=False, description="Whether the page was created.")
    changed: bool = strawberry.field(default=False, description="Whether anything was changed.")
    page: WikiPage | None = source(
        relations.pages.by_ids, "Current state of the page.", access=BY_ID, step=private_id("page_id")
    )


@strawberry.type(description="Payload with the source.")
class WikiSourcePayload:
    source_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Errors. Empty on success.")
    created: bool = strawberry.field(default=False, description="False if the same source was already stored.")
    source: WikiSource | None = source(
        relations.sources.by_ids, "The source.", access=BY_ID, step=private_id("source_id")
    )


@strawberry.type(description="Payload with the citation.")
class WikiCitationPayload:
    cited: strawberry.Private[tuple[UUID, UUID] | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Errors. Empty on success.")
    citation: WikiCitation | None = source(
        relations.sources.one_citation, "The citation.", access=BY_ID, step=Step(payload_citation, CITED)
    )


@strawberry.type(description="Payload with the mention.")
class WikiMentionPayload:
    mention_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Errors. Empty on success.")
    mention: WikiMention | None = source(
        relations.mentions.by_ids, "The mention.", access=BY_ID, step=private_id("mention_id")
    )


@strawberry.type(description="Payload of archiving a whole wiki.")
class WikiScopePayload:
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Errors. Empty on success.")
    pages_archived: int = strawberry.field(default=0, description="Number of archived pages.")


@strawberry.type(description="Payload of a permanent deletion.")
class WikiDeletionPayload:
    deleted_page_id: strawberry.ID = strawberry.field(description="Id of the deleted page.")
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Errors. Empty on success.")


def user_error(error: BadInput) -> UserError:
    named = error.proposal_id if isinstance(error, ReviewRequired) else None
    field = error.field.split(".") if error.field else []
    return UserError(message=error.message, code=error.code, field=field, proposal_id=shown_id(named))


def shown_id(id: UUID | None) -> strawberry.ID | None:
    return None if id is None else strawberry.ID(str(id))


async def page_payload(saving: Awaitable[Any]) -> WikiPagePayload:
    """Return the payload of a write of one page, with its errors or its conflict."""
    try:
        saved = await saving
    except BadInput as error:
        return WikiPagePayload(user_errors=[user_error(error)])
    except Conflict as error:
        shown = WikiConflict(page_id=error.page_id, message=error.message, current_version=error.current_version)
        return WikiPagePayload(conflict=shown)
    return WikiPagePayload(page_id=saved.page_id, created=saved.created, changed=saved.changed)
