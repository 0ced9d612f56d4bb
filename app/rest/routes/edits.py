"""The paths that edit pages: edits of the text, superseded claims, renames, merges and transfers; and links."""

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from content.limits import CLAIM, REF, SLUG, TITLE
from db.database import Database
from resolvers.errors import BadInput
from resolvers.model.lookup import Located, PageAddress, locate_slug
from resolvers.pages.claims import claims
from resolvers.pages.edits import edit_page
from resolvers.pages.merging import merge_pages
from resolvers.pages.renaming import rename_page
from resolvers.pages.transferring import transfer_page
from resolvers.proposals.gate import ReviewRequired
from resolvers.validation import UNSET

from ...moments import Moment
from .. import responses
from ..endpoint import WikiRoute
from ..models import VERSION_MAX, EditSummary, ExpectedVersion, Links, Page, RequestModel, SourceKind, Text
from ..operations import find_type, read_page_data
from ..parameters import (
    BODY_STATUSES,
    PAGE_STATUSES,
    Archived,
    Caller,
    Cursor,
    Limit,
    Slug,
    Type,
    problem_responses,
    read_responses,
)
from ..responses import Row, answer
from .pages import PageType, write_page


class EditRequest(RequestModel):
    """Edit of a page: the old text is replaced by the new text. Differences in whitespace are ignored; in two or more
    lines, a few words can differ as well."""

    old_text: Annotated[Text, Field(min_length=1)]
    new_text: Text
    replace_all: Annotated[bool, Field(description="Whether to replace all occurrences.")] = False
    section: Annotated[
        str | None,
        Field(min_length=1, max_length=SLUG.maximum, description="Slug of the section. Defaults to the whole page."),
    ] = None
    edit_summary: EditSummary = None
    expected_version: ExpectedVersion = None


routes = APIRouter(route_class=WikiRoute, tags=["pages"])


@routes.post(
    "/pages/{slug}/edit",
    operation_id="editPage",
    response_model=Page,
    responses=problem_responses(*BODY_STATUSES, 404, 412),
)
async def edit(call: Caller, slug: Slug, body: EditRequest, type: Type = None) -> Response:
    """Replace text on a page or in one of its sections."""

    async def change(database: Database, page: Located, version: int | None) -> None:
        try:
            await edit_page(
                database,
                call.wiki,
                PageAddress(page_id=page.page_id),
                old_text=body.old_text,
                new_text=body.new_text,
                replace_all=body.replace_all,
                section_slug=body.section,
                expected_version=version,
                summary=body.edit_summary,
            )
        except BadInput as error:
            if error.field == "summary":
                error.field = "editSummary"
            raise

    return await write_page(call, slug, type, change, body.expected_version)


class SourceRef(RequestModel):
    """Reference to the newest version of a source."""

    kind: SourceKind
    ref: Annotated[str, Field(min_length=1, max_length=REF.maximum)]

    def to_ref(self) -> claims.SourceRef:
        return claims.SourceRef(self.kind.value, self.ref)


class SupersedeRequest(RequestModel):
    """Claim that no longer holds, and the claim that replaces it. `fact` is quoted in the words of the page."""

    fact: Annotated[str, Field(min_length=1, max_length=CLAIM.maximum)]
    replacement: Annotated[str, Field(min_length=1, max_length=CLAIM.maximum)]
    section: Annotated[
        str | None,
        Field(min_length=1, max_length=SLUG.maximum, description="Slug of the section. Defaults to the whole page."),
    ] = None
    stated_by: Annotated[SourceRef | None, Field(description="Source of the old claim.")] = None
    overridden_by: Annotated[SourceRef | None, Field(description="Source of the new claim.")] = None
    superseded_on: Annotated[
        Moment | None, Field(description="Time until which the old claim held. Defaults to now.")
    ] = None
    mode: Annotated[claims.Mode, Field(strict=False, description="Mode of changing the text.")] = claims.Mode.REPLACE
    edit_summary: EditSummary = None
    expected_version: ExpectedVersion = None


@routes.post(
    "/pages/{slug}/supersede",
    operation_id="supersedeClaim",
    response_model=Page,
    responses=problem_responses(*BODY_STATUSES, 404, 412),
)
async def supersede(call: Caller, slug: Slug, body: SupersedeRequest, type: Type = None) -> Response:
    """Supersede a claim: record that it no longer holds, and rewrite its section."""

    async def change(database: Database, page: Located, version: int | None) -> None:
        try:
            await claims.supersede_claim(
                database,
                call.wiki,
                PageAddress(page_id=page.page_id),
                fact=body.fact,
                replacement=body.replacement,
                section_slug=body.section,
                stated_by=body.stated_by.to_ref() if body.stated_by else None,
                overridden_by=body.overridden_by.to_ref() if body.overridden_by else None,
                superseded_on=body.superseded_on,
                mode=body.mode,
                expected_version=version,
                summary=body.edit_summary,
            )
        except ReviewRequired:
            raise
        except BadInput as error:
            raise BadInput(error.message, FIELDS.get(error.field or "", error.field)) from None

    return await write_page(call, slug, type, change, body.expected_version)


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
    LinkEnd, Query(description="Direction: `to` for linked pages, `from` for backlinks, `broken` for broken links.")
]


@routes.get(
    "/pages/{slug}/links", operation_id="listPageLinks", response_model=Links, responses=read_responses(*PAGE_STATUSES)
)
async def list_links(
    call: Caller,
    slug: Slug,
    type: Type = None,
    which: Direction = LinkEnd.TO,
    limit: Limit = 50,
    cursor: Cursor = None,
    include_archived: Archived = False,
) -> Response:
    """List the links of a page in one direction."""
    operation, convert = OPERATIONS[which]
    found_type = await find_type(call, slug, type)
    page = await read_page_data(call, "links", operation, found_type, slug, include_archived, first=limit, after=cursor)
    found = page["found"]
    return await answer(call, responses.list_body(found, [convert(node) for node in found["nodes"]]))


class NewName(RequestModel):
    """New title, new slug, or both. The old ones still resolve to the page, and links are updated."""

    title: Annotated[str | None, Field(min_length=1, max_length=TITLE.maximum)] = None
    slug: Annotated[str | None, Field(min_length=1, max_length=SLUG.maximum)] = None
    edit_summary: EditSummary = None
    expected_version: ExpectedVersion = None


class MergeRequest(RequestModel):
    """Remaining page, by its slug and type. It keeps its type."""

    into: Annotated[str, Field(min_length=1, max_length=SLUG.maximum)]
    into_type: Annotated[
        PageType | None, Field(description="Type of the remaining page. Defaults to that of the merged page.")
    ] = None
    expected_version: Annotated[
        int | None,
        Field(ge=1, le=VERSION_MAX, description="Version of the remaining page. If-Match has that of the merged page."),
    ] = None


PAGES = ("fromPageId", "intoPageId")  # resolvers' fields; in REST the path names the first, and `into` the second


@routes.post(
    "/pages/{slug}/rename",
    operation_id="renamePage",
    response_model=Page,
    responses=problem_responses(*BODY_STATUSES, 404, 412),
)
async def rename(call: Caller, slug: Slug, body: NewName, type: Type = None) -> Response:
    """Rename a page and update the links to it on other pages."""
    if body.title is None and body.slug is None:
        raise BadInput("Give a new title, a new slug, or both.", "title")

    async def change(database: Database, page: Located, version: int | None) -> None:
        try:
            await rename_page(
                database,
                call.wiki,
                page.page_id,
                title=UNSET if body.title is None else body.title,
                slug=UNSET if body.slug is None else body.slug,
                expected_version=version,
                summary=body.edit_summary,
            )
        except BadInput as error:
            if error.field == "summary":
                error.field = "editSummary"
            raise

    return await write_page(call, slug, type, change, body.expected_version)


@routes.post(
    "/pages/{slug}/merge",
    operation_id="mergePage",
    response_model=Page,
    responses=problem_responses(*BODY_STATUSES, 404, 412),
)
async def merge(call: Caller, slug: Slug, body: MergeRequest, type: Type = None) -> Response:
    """Merge a page into another one, and return that page. The merged page is archived."""

    async def change(database: Database, page: Located, version: int | None) -> UUID:
        into = await locate_slug(database, call.wiki, body.into, body.into_type or page.type)
        try:
            await merge_pages(
                database,
                call.wiki,
                page.page_id,
                into.page_id,
                expected_version=body.expected_version,
                from_expected_version=version,
            )
        except ReviewRequired:
            raise
        except BadInput as error:
            raise BadInput(error.message, "into" if error.field in PAGES else error.field) from None
        return into.page_id

    return await write_page(call, slug, type, change)


class TransferRequest(RequestModel):
    """Slug or id of the new owner of the page."""

    to_owner: Annotated[str, Field(min_length=1, max_length=SLUG.maximum)]
    expected_version: ExpectedVersion = None


@routes.post(
    "/pages/{slug}/transfer",
    operation_id="transferPage",
    response_model=Page,
    responses=problem_responses(*BODY_STATUSES, 404, 412),
)
async def transfer(call: Caller, slug: Slug, body: TransferRequest, type: Type = None) -> Response:
    """Move a page to another wiki of the tenant, with its history and sources, and return the moved page."""

    async def change(database: Database, page: Located, version: int | None) -> UUID:
        saved = await transfer_page(database, call.wiki, page.page_id, body.to_owner, expected_version=version)
        return saved.page_id

    return await write_page(call, slug, type, change, body.expected_version)
