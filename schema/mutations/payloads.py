"""Payloads of mutations: the thing as it is now, or the errors that the client has to fix first."""

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
    """The id that the payload keeps in a private field."""

    async def run(context: Any, payload: Any, wanted: frozenset[str]) -> list[tuple[Any, ...]]:
        id = getattr(payload, name)
        return [] if id is None else [(id,)]

    return Step(run, IDS)


CITED = {"section_id": Uuid(), "source_id": Uuid()}


async def payload_citation(
    context: Any, payload: "WikiCitationPayload", wanted: frozenset[str]
) -> list[tuple[Any, ...]]:
    return [] if payload.cited is None else [payload.cited]


@strawberry.type(description="Why the input was not accepted, and which part of it to fix.")
class UserError:
    message: str = strawberry.field(description="What is wrong and what to do, for people.")
    code: str = strawberry.field(description="What is wrong, for programs.")
    field: list[str] = strawberry.field(description="The path to it in the input, such as [sections, 0, bodyMd].")
    proposal_id: strawberry.ID | None = strawberry.field(
        default=None, description="With the code REVIEW_REQUIRED: the proposal that waits instead of the write."
    )


@strawberry.type(description="Somebody else changed the page first. Nothing was written.")
class WikiConflict:
    page_id: strawberry.Private[UUID | None]
    message: str = strawberry.field(description="What happened, for people.")
    current_version: int | None = strawberry.field(description="The version to look at before trying again.")
    page: WikiPage | None = source(
        relations.pages.by_ids, "The page as it is now.", access=BY_ID, step=private_id("page_id")
    )


@strawberry.type(description="A page after a change of it.")
class WikiPagePayload:
    page_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Empty when it was done.")
    conflict: WikiConflict | None = strawberry.field(default=None, description="Set when expectedVersion was stale.")
    created: bool = strawberry.field(default=False, description="Was the page made by this?")
    changed: bool = strawberry.field(default=False, description="Did this change anything?")
    page: WikiPage | None = source(
        relations.pages.by_ids, "The page as it is now.", access=BY_ID, step=private_id("page_id")
    )


@strawberry.type(description="A source after it was retained.")
class WikiSourcePayload:
    source_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Empty when it was done.")
    created: bool = strawberry.field(default=False, description="False when this very evidence was here already.")
    source: WikiSource | None = source(
        relations.sources.by_ids, "The source.", access=BY_ID, step=private_id("source_id")
    )


@strawberry.type(description="A citation after it was written.")
class WikiCitationPayload:
    cited: strawberry.Private[tuple[UUID, UUID] | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Empty when it was done.")
    citation: WikiCitation | None = source(
        relations.sources.one_citation, "The citation.", access=BY_ID, step=Step(payload_citation, CITED)
    )


@strawberry.type(description="A mention after it was seen or judged.")
class WikiMentionPayload:
    mention_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Empty when it was done.")
    mention: WikiMention | None = source(
        relations.mentions.by_ids, "The mention.", access=BY_ID, step=private_id("mention_id")
    )


@strawberry.type(description="What became of a whole wiki.")
class WikiScopePayload:
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Empty when it was done.")
    pages_archived: int = strawberry.field(default=0, description="How many pages were active and are archived now.")


@strawberry.type(description="A page that is gone for good.")
class WikiDeletionPayload:
    deleted_page_id: strawberry.ID = strawberry.field(description="The id that it had.")
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Empty when it was done.")


def user_error(error: BadInput) -> UserError:
    named = error.proposal_id if isinstance(error, ReviewRequired) else None
    field = error.field.split(".") if error.field else []
    return UserError(message=error.message, code=error.code, field=field, proposal_id=shown_id(named))


def shown_id(id: UUID | None) -> strawberry.ID | None:
    return None if id is None else strawberry.ID(str(id))


async def page_payload(saving: Awaitable[Any]) -> WikiPagePayload:
    """The payload of a write of one page."""
    try:
        saved = await saving
    except BadInput as error:
        return WikiPagePayload(user_errors=[user_error(error)])
    except Conflict as error:
        shown = WikiConflict(page_id=error.page_id, message=error.message, current_version=error.current_version)
        return WikiPagePayload(conflict=shown)
    return WikiPagePayload(page_id=saved.page_id, created=saved.created, changed=saved.changed)
