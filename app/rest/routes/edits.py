"""Edits of pages: replaced texts, links, other names, merges, and transfers."""

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from content.limits import CLAIM, REF, SLUG, TITLE
from db.database import Database
from resolvers.errors import BadInput, Conflict
from resolvers.model.lookup import PageAddress, locate_slug
from resolvers.pages import claims
from resolvers.pages.edits import edit_page
from resolvers.pages.merging import merge_pages
from resolvers.pages.renaming import rename_page
from resolvers.pages.transferring import transfer_page
from resolvers.proposals.gate import ReviewRequired
from resolvers.validation import UNSET

from .. import responses
from ..endpoint import WikiRoute
from ..models import VERSION_MAX, EditSummary, ExpectedVersion, Links, Moment, Page, RequestModel, SourceKind, Text
from ..operations import read_of_page, type_of, write
from ..parameters import OF_PAGE, SENT, Archived, Caller, Cursor, Expected, Limit, Slug, Type, problems, reading
from ..responses import Row, answer, answer_written_page
from .pages import page_now


class EditRequest(RequestModel):
    """The new text comes where the old text stands. Whitespace may differ; of two lines or more some words as well."""

    old_text: Annotated[Text, Field(min_length=1)]
    new_text: Text
    replace_all: Annotated[bool, Field(description="Wherever it stands, not in one place alone.")] = False
    section: Annotated[
        str | None, Field(min_length=1, max_length=SLUG.most, description="A section's slug; else the whole text.")
    ] = None
    edit_summary: EditSummary = None
    expected_version: ExpectedVersion = None


routes = APIRouter(route_class=WikiRoute, tags=["pages"])


@routes.post("/pages/{slug}/edit", operation_id="editPage", response_model=Page, responses=problems(*SENT, 404, 412))
async def edit(call: Caller, slug: Slug, given: EditRequest, type: Type = None) -> Response:
    """Replace a stretch of a page's text, or of one of its sections."""
    expected = Expected(call.request.scope, given.expected_version)

    async def work(database: Database) -> Any:
        found = await locate_slug(database, call.wiki, slug, type)
        try:
            await edit_page(
                database,
                call.wiki,
                PageAddress(page_id=found.page_id),
                old_text=given.old_text,
                new_text=given.new_text,
                replace_all=given.replace_all,
                section_slug=given.section,
                expected_version=expected.version,
                summary=given.edit_summary,
            )
        except Conflict as error:
            raise expected.refusal(error) from None
        except BadInput as error:
            if error.field == "summary":
                error.field = "editSummary"
            raise
        return await page_now(call, database, found.page_id)

    written = await write(call, work)
    return await answer_written_page(call, written.body, written.headers)


class SourceRef(RequestModel):
    """A source of the wiki; its newest version is meant."""

    kind: SourceKind
    ref: Annotated[str, Field(min_length=1, max_length=REF.most)]

    def to_ref(self) -> claims.SourceRef:
        return claims.SourceRef(self.kind.value, self.ref)


class SupersedeRequest(RequestModel):
    """A claim of a page that no longer holds, and what holds now. `fact` is quoted as the page says it."""

    fact: Annotated[str, Field(min_length=1, max_length=CLAIM.most)]
    replacement: Annotated[str, Field(min_length=1, max_length=CLAIM.most)]
    section: Annotated[
        str | None, Field(min_length=1, max_length=SLUG.most, description="A section's slug; else the whole text.")
    ] = None
    stated_by: Annotated[SourceRef | None, Field(description="The source that stated it.")] = None
    overridden_by: Annotated[SourceRef | None, Field(description="The source that says what holds now.")] = None
    superseded_on: Annotated[Moment | None, Field(description="Until when the fact held; now if left out.")] = None
    mode: Annotated[claims.Mode, Field(strict=False, description="How the text is rewritten.")] = claims.Mode.REPLACE
    edit_summary: EditSummary = None
    expected_version: ExpectedVersion = None


@routes.post(
    "/pages/{slug}/supersede", operation_id="supersedeClaim", response_model=Page, responses=problems(*SENT, 404, 412)
)
async def supersede(call: Caller, slug: Slug, given: SupersedeRequest, type: Type = None) -> Response:
    """Record that a claim of a page no longer holds, and rewrite its section to say what holds now."""
    expected = Expected(call.request.scope, given.expected_version)

    async def work(database: Database) -> Any:
        found = await locate_slug(database, call.wiki, slug, type)
        try:
            await claims.supersede_claim(
                database,
                call.wiki,
                PageAddress(page_id=found.page_id),
                fact=given.fact,
                replacement=given.replacement,
                section_slug=given.section,
                stated_by=given.stated_by.to_ref() if given.stated_by else None,
                overridden_by=given.overridden_by.to_ref() if given.overridden_by else None,
                superseded_on=given.superseded_on,
                mode=given.mode,
                expected_version=expected.version,
                summary=given.edit_summary,
            )
        except Conflict as error:
            raise expected.refusal(error) from None
        except ReviewRequired:
            raise
        except BadInput as error:
            raise BadInput(error.message, FIELDS.get(error.field or "", error.field)) from None
        return await page_now(call, database, found.page_id)

    written = await write(call, work)
    return await answer_written_page(call, written.body, written.headers)


FIELDS = {
    "summary": "edit_summary",
    "sectionSlug": "section",
    "statedBy.ref": "stated_by.ref",
    "overriddenBy.ref": "overridden_by.ref",
    "supersededOn": "superseded_on",
}


class LinkEnd(StrEnum):
    TO = "to"
    FROM = "from"
    BROKEN = "broken"


OPERATIONS: dict[LinkEnd, tuple[str, Callable[[Row], Row]]] = {
    LinkEnd.TO: ("RestLinksTo", lambda link: responses.whole_link(link["page"])),
    LinkEnd.FROM: ("RestLinksFrom", responses.whole_link),
    LinkEnd.BROKEN: ("RestBrokenLinks", responses.broken_link),
}
Direction = Annotated[
    LinkEnd, Query(description="Pages that it links `to`, pages that it is linked `from`, or its `broken` links.")
]


@routes.get("/pages/{slug}/links", operation_id="listPageLinks", response_model=Links, responses=reading(*OF_PAGE))
async def list_links(
    call: Caller,
    slug: Slug,
    type: Type = None,
    which: Direction = LinkEnd.TO,
    limit: Limit = 50,
    cursor: Cursor = None,
    include_archived: Archived = False,
) -> Response:
    """List the references of a page, in one direction."""
    operation, shown = OPERATIONS[which]
    found_type = await type_of(call, slug, type)
    page = await read_of_page(call, "links", operation, found_type, slug, include_archived, first=limit, after=cursor)
    found = page["found"]
    return await answer(call, responses.list_body(found, [shown(one) for one in found["nodes"]]))


class NewName(RequestModel):
    """A new title, a new slug, or both. The old ones lead to the page, and links that say them are rewritten."""

    title: Annotated[str | None, Field(min_length=1, max_length=TITLE.most)] = None
    slug: Annotated[str | None, Field(min_length=1, max_length=SLUG.most)] = None
    edit_summary: EditSummary = None
    expected_version: ExpectedVersion = None


class MergeRequest(RequestModel):
    """The page that stays, by its slug, and of this one's type."""

    into: Annotated[str, Field(min_length=1, max_length=SLUG.most)]
    expected_version: Annotated[
        int | None, Field(ge=1, le=VERSION_MAX, description="Of the page that stays. If-Match is of the one that goes.")
    ] = None


PAGES = ("fromPageId", "intoPageId")  # here one is in the path, and the body names the other


@routes.post(
    "/pages/{slug}/rename", operation_id="renamePage", response_model=Page, responses=problems(*SENT, 404, 412)
)
async def rename(call: Caller, slug: Slug, given: NewName, type: Type = None) -> Response:
    """Give a page another name, also in the texts of the pages that link to it."""
    expected = Expected(call.request.scope, given.expected_version)
    if given.title is None and given.slug is None:
        raise BadInput("Give a new title, a new slug, or both.", "title")

    async def work(database: Database) -> Any:
        found = await locate_slug(database, call.wiki, slug, type)
        try:
            await rename_page(
                database,
                call.wiki,
                found.page_id,
                title=UNSET if given.title is None else given.title,
                slug=UNSET if given.slug is None else given.slug,
                expected_version=expected.version,
                summary=given.edit_summary,
            )
        except Conflict as error:
            raise expected.refusal(error) from None
        except BadInput as error:
            if error.field == "summary":
                error.field = "editSummary"
            raise
        return await page_now(call, database, found.page_id)

    written = await write(call, work)
    return await answer_written_page(call, written.body, written.headers)


@routes.post("/pages/{slug}/merge", operation_id="mergePage", response_model=Page, responses=problems(*SENT, 404, 412))
async def merge(call: Caller, slug: Slug, given: MergeRequest, type: Type = None) -> Response:
    """Put a page into another of its type, and answer with that one. What is left of the first is archived."""
    expected = Expected(call.request.scope)

    async def work(database: Database) -> Any:
        gone = await locate_slug(database, call.wiki, slug, type)
        into = await locate_slug(database, call.wiki, given.into, gone.type)
        try:
            await merge_pages(
                database,
                call.wiki,
                gone.page_id,
                into.page_id,
                expected_version=given.expected_version,
                from_expected_version=expected.version,
            )
        except Conflict as error:
            raise (expected.refusal(error) if error.page_id == gone.page_id else error) from None
        except ReviewRequired:
            raise
        except BadInput as error:
            raise BadInput(error.message, "into" if error.field in PAGES else error.field) from None
        return await page_now(call, database, into.page_id)

    written = await write(call, work)
    return await answer_written_page(call, written.body, written.headers)


class TransferRequest(RequestModel):
    """The owner whose wiki the page goes to, by slug or id."""

    to_owner: Annotated[str, Field(min_length=1, max_length=SLUG.most)]
    expected_version: ExpectedVersion = None


@routes.post(
    "/pages/{slug}/transfer", operation_id="transferPage", response_model=Page, responses=problems(*SENT, 404, 412)
)
async def transfer(call: Caller, slug: Slug, given: TransferRequest, type: Type = None) -> Response:
    """Give a page to another wiki of the tenant, with its history and evidence, and answer with it as it is there."""
    expected = Expected(call.request.scope, given.expected_version)

    async def work(database: Database) -> Any:
        found = await locate_slug(database, call.wiki, slug, type)
        try:
            saved = await transfer_page(
                database, call.wiki, found.page_id, given.to_owner, expected_version=expected.version
            )
        except Conflict as error:
            raise (expected.refusal(error) if error.page_id else error) from None
        return await page_now(call, database, saved.page_id)

    written = await write(call, work)
    return await answer_written_page(call, written.body, written.headers)
