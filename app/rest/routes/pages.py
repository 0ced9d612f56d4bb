"""The paths that list, read, create, update, archive, unarchive and rebuild pages."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import FailFast, Field
from starlette.responses import Response

from content.limits import ALIAS, ALIASES_PER_CALL, REF, RELATED, SLUG, SUMMARY, TAG, TAGS, TITLE
from db.database import Database
from resolvers.errors import BadInput, Conflict, NotFound
from resolvers.model.drafts import PageDraft
from resolvers.model.lookup import Located, locate_slug
from resolvers.model.page_fields import NAMES, ROLE_MAX
from resolvers.pages.lifecycle import archive_page, create_page, unarchive_page, update_page
from resolvers.pages.stubs import stub_draft, write_stub
from resolvers.sources.compile_requests import rebuild_page
from resolvers.transactions.transaction import NO_PAGE
from schema.enums import WikiConfidence, WikiPageOrder, WikiPageStatus, WikiPageType, WikiSensitivity

from ...moments import Moment
from .. import responses
from ..endpoint import Call, WikiRoute
from ..models import (
    VERSION_MAX,
    EditSummary,
    ExpectedVersion,
    Listed,
    Page,
    PageItem,
    RequestModel,
    ResponseModel,
    Text,
)
from ..operations import find_type, read, read_page_data, write
from ..parameters import (
    BODY_STATUSES,
    PAGE_STATUSES,
    Archived,
    Caller,
    Cursor,
    Limit,
    Slug,
    Tags,
    Type,
    Types,
    UpdatedSince,
    problem_responses,
    read_responses,
    redirect_responses,
)
from ..preconditions import Precondition
from ..responses import answer, answer_moved, answer_page, answer_write, answer_written_page

routes = APIRouter(route_class=WikiRoute, tags=["pages"])
CHANGEABLE = {"title", "summary", "tags", "aliases", "related"}
ARCHIVE_RESPONSES = problem_responses(*PAGE_STATUSES, 412)


PageType = Annotated[WikiPageType, Field(strict=False)]
PageTags = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=TAG.maximum)]], FailFast(), Field(max_length=TAGS.maximum)
]
Related = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=SLUG.maximum + 20)]],
    FailFast(),
    Field(
        max_length=RELATED.maximum,
        description="Slugs of pages of this wiki, or TYPE/SLUG if several types share a slug.",
    ),
]


Sensitivity = Annotated[
    WikiSensitivity | None,
    Field(strict=False, description="Sensitivity of the page. It cannot exceed what the caller can read."),
]


class PageFields(RequestModel):
    """Fields of a page that frontmatter has, too."""

    sensitivity: Sensitivity = None
    stated_confidence: Annotated[
        WikiConfidence | None,
        Field(strict=False, description="Confidence as stated by the author; `confidence` in frontmatter."),
    ] = None
    expires_at: Annotated[Moment | None, Field(description="Time from which the page is out of date.")] = None
    owner_role: Annotated[
        str | None,
        Field(max_length=ROLE_MAX, description="Role that is responsible for the page; `owner` in frontmatter."),
    ] = None
    supersedes: Annotated[Related, Field(description="Pages that this page replaces.")] = Field([])
    contradicts: Annotated[Related, Field(description="Pages that this page contradicts.")] = Field([])

    def fields(self) -> dict[str, Any]:
        """Return the fields that the request sets, by the names that resolvers use."""
        return self.model_dump(mode="json", include=self.model_fields_set & NAMES.keys())


class NewPage(PageFields):
    """Page to create."""

    title: Annotated[str, Field(min_length=1, max_length=TITLE.maximum, examples=["Harbour Coffee"])]
    slug: Annotated[
        str | None,
        Field(
            min_length=1, max_length=SLUG.maximum, description="Slug of the page. Defaults to one made from the title."
        ),
    ] = None
    type: PageType
    summary: Annotated[str | None, Field(max_length=SUMMARY.maximum, description="One-line summary.")] = None
    content: Annotated[Text, Field(description="Text in Markdown. `## ` headings start sections.")]
    related: Related = Field([])
    tags: PageTags = Field([])
    edit_summary: EditSummary = None


class NewStub(RequestModel):
    """Stub to create: a page of a new subject, and the source of its text."""

    title: Annotated[str, Field(min_length=1, max_length=TITLE.maximum, examples=["Small batches"])]
    type: PageType
    text: Annotated[Text, Field(description="Text of the first section of the type, in Markdown.")] = ""
    why: Annotated[Text, Field(description="Text of the section Why. Required for a concept.")] = ""
    how_to_apply: Annotated[Text, Field(description="Text of the section How to apply. Required for a concept.")] = ""
    source: Annotated[
        str | None,
        Field(
            max_length=REF.maximum + 20, description="KIND/REF or id of the source.", examples=["daily_note/2026-03-02"]
        ),
    ] = None
    edit_summary: EditSummary = None


class PageChanges(PageFields):
    """Changes of a page. Omitted fields are unchanged; lists are replaced, and an empty list removes all entries."""

    title: Annotated[
        str,
        Field(
            default_factory=str,
            min_length=1,
            max_length=TITLE.maximum,
            description="New title. The old one becomes an alias. Links are unchanged; `/rename` updates them.",
        ),
    ]
    summary: Annotated[
        str | None, Field(max_length=SUMMARY.maximum, description="One-line summary, or null for none.")
    ] = None
    tags: PageTags = Field([])
    aliases: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=ALIAS.maximum)]],
        FailFast(),
        Field(max_length=ALIASES_PER_CALL.maximum, description="All aliases. The title is always a name of the page."),
    ] = Field([])
    related: Related = Field([])
    edit_summary: EditSummary = None
    expected_version: ExpectedVersion = None


class Pages(Listed):
    items: list[PageItem]


class Rebuild(ResponseModel):
    """Job that rebuilds a page."""

    job_id: UUID


@routes.get("/pages", operation_id="listPages", response_model=Pages, responses=read_responses())
async def list_pages(
    call: Caller,
    types: Types = None,
    tags: Tags = None,
    status: Annotated[WikiPageStatus, Query()] = WikiPageStatus.ACTIVE,
    updated_since: UpdatedSince = None,
    order: Literal["updated", "title", "created", "hubness"] = "updated",
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List the pages of the wiki, last changed first."""
    filter = {
        "types": enum_names(types),
        "tags": tags,
        "status": status.name,
        "updatedSince": updated_since and updated_since.isoformat(),
    }
    variables: dict[str, Any] = {"filter": filter, "order": WikiPageOrder(order).name, "first": limit, "after": cursor}
    found = (await read(call, "pages", "RestPages", **variables))["found"]
    return await answer(call, responses.list_body(found, [responses.lower_enums(page) for page in found["nodes"]]))


@routes.get("/pages/{slug}", operation_id="getPage", response_model=Page, responses=redirect_responses(*PAGE_STATUSES))
async def get_page(
    call: Caller,
    slug: Slug,
    type: Type = None,
    version: Annotated[int | None, Query(ge=1, le=VERSION_MAX, description="Version of the page to return.")] = None,
    include_archived: Archived = False,
) -> Response:
    """Get a page by its slug or a former slug. A merged page redirects to the page into which it was merged."""
    found_type = await find_type(call, slug, type)
    if version is None:
        try:
            found = await read_page_data(call, "page", "RestPage", found_type, slug, include_archived)
        except NotFound:
            return await redirect_merged(call, found_type, slug)
    else:
        found = await read_page_data(call, "page", "RestPageAt", found_type, slug, include_archived, version=version)
        if found["state"] is None:
            raise NotFound(f"The page has no version {version}. Its history says which there are.")
    return await answer_page(call, responses.page(found))


async def redirect_merged(call: Call, type: str, slug: str) -> Response:
    """Return a redirect to the page into which an archived page was merged. Raises NotFound if it was not merged."""
    address: dict[str, Any] = {"tenantId": str(call.wiki.tenant_id), "type": type.upper(), "slug": slug}
    archived = (await read(call, "page", "RestMerged", **address))["page"]
    if not archived or not archived["into"]:
        raise NotFound(NO_PAGE)
    return answer_moved(call, archived["into"])


@routes.post(
    "/pages",
    operation_id="createPage",
    status_code=201,
    response_model=Page,
    responses=problem_responses(*BODY_STATUSES),
)
async def add_page(call: Caller, body: NewPage) -> Response:
    """Create a page."""
    draft = PageDraft(
        type=body.type.value,
        title=body.title,
        slug=body.slug,
        summary=body.summary,
        body=body.content,
        tags=body.tags,
        related=body.related,
        fields=body.fields(),
        edit_summary=body.edit_summary,
    )

    async def work(database: Database) -> Any:
        saved = await create_page(database, call.wiki, draft)
        return await read_page(call, database, saved.page_id)

    written = await write(call, work)
    return await answer_written_page(call, written.body, written.headers, is_new=True)


@routes.post(
    "/stubs",
    operation_id="createStub",
    status_code=201,
    response_model=Page,
    responses=problem_responses(*BODY_STATUSES, 404),
)
async def add_stub(call: Caller, body: NewStub) -> Response:
    """Create a page with the sections of its type and one source.

    Fails with PAGE_EXISTS if a page of this type and name exists.
    """
    draft = stub_draft(
        body.type.value,
        body.title,
        body.text,
        why=body.why,
        how_to_apply=body.how_to_apply,
        edit_summary=body.edit_summary,
    )

    async def work(database: Database) -> Any:
        saved = await write_stub(database, call.wiki, draft, body.source)
        return await read_page(call, database, saved.page_id)

    written = await write(call, work)
    return await answer_written_page(call, written.body, written.headers, is_new=True)


@routes.patch(
    "/pages/{slug}",
    operation_id="updatePage",
    response_model=Page,
    responses=problem_responses(*BODY_STATUSES, 404, 412),
)
async def change_page(call: Caller, slug: Slug, body: PageChanges, type: Type = None) -> Response:
    """Update the title, summary, tags, aliases, related pages or other fields of a page, but not its text."""
    changes = body.model_dump(include=body.model_fields_set & CHANGEABLE)
    fields = body.fields()
    if not changes and not fields:
        raise BadInput(f"Give at least one of {', '.join(sorted([*CHANGEABLE, *NAMES]))}.", "title")

    async def change(database: Database, page: Located, version: int | None) -> None:
        await update_page(
            database,
            call.wiki,
            page.page_id,
            expected_version=version,
            edit_summary=body.edit_summary,
            fields=fields,
            **changes,
        )

    return await write_page(call, slug, type, change, body.expected_version)


@routes.post("/pages/{slug}/archive", operation_id="archivePage", response_model=Page, responses=ARCHIVE_RESPONSES)
@routes.delete("/pages/{slug}", operation_id="deletePage", response_model=Page, responses=ARCHIVE_RESPONSES)
async def archive(call: Caller, slug: Slug, type: Type = None) -> Response:
    """Archive a page with its sections, aliases and links. It can be unarchived."""
    return await change_status(call, slug, type, archive_page)


@routes.post("/pages/{slug}/unarchive", operation_id="unarchivePage", response_model=Page, responses=ARCHIVE_RESPONSES)
async def unarchive(call: Caller, slug: Slug, type: Type = None) -> Response:
    """Unarchive a page."""
    return await change_status(call, slug, type, unarchive_page)


@routes.post(
    "/pages/{slug}/rebuild",
    operation_id="rebuildPage",
    status_code=202,
    response_model=Rebuild,
    responses=problem_responses(*PAGE_STATUSES),
)
async def rebuild(call: Caller, slug: Slug, type: Type = None) -> Response:
    """Queue a job that rewrites the sections of a page that cite sources, from these sources alone."""

    async def work(database: Database) -> Any:
        found = await locate_slug(database, call.wiki, slug, type)
        return {"job_id": str(await rebuild_page(database, call.wiki, found.page_id))}

    written = await write(call, work)
    return await answer_write(call, written.body, 202, written.headers)


async def change_status(call: Call, slug: str, type: str | None, change_to: Any) -> Response:
    async def change(database: Database, page: Located, version: int | None) -> None:
        await change_to(database, call.wiki, page.page_id, expected_version=version)

    return await write_page(call, slug, type, change)


Change = Callable[[Database, Located, int | None], Awaitable[UUID | None]]
"""A function that changes a page if it has the expected version. It returns the id of another page to respond with."""


async def write_page(
    call: Call, slug: str, type: str | None, change: Change, expected_version: int | None = None
) -> Response:
    """Change the page with this slug, and return the response with the page after the write.

    `expected_version` is the version in the request body, which must not differ from the version in If-Match.
    """
    expected = Precondition(call.request.scope, expected_version)

    async def work(database: Database) -> Any:
        found = await locate_slug(database, call.wiki, slug, type)
        try:
            changed = await change(database, found, expected.version)
        except Conflict as error:
            raise (expected.error_for(error) if error.page_id == found.page_id else error) from None
        return await read_page(call, database, changed or found.page_id)

    written = await write(call, work)
    return await answer_written_page(call, written.body, written.headers)


async def read_page(call: Call, database: Database, page_id: UUID) -> dict[str, Any]:
    """Return the page after a write, in the form of `models.Page`. Raises NotFound."""
    found = (await read(call, "page", "RestPageById", database, id=str(page_id)))["page"]
    if found is None:
        raise NotFound(NO_PAGE)
    return responses.page(found)


def enum_names(values: Any) -> list[str] | None:
    return None if values is None else [value.name for value in values]
