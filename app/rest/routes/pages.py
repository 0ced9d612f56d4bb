"""Pages: listing, reading, creating, archiving and restoring."""

from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import FailFast, Field
from starlette.responses import Response

from content.limits import ALIAS, ALIASES_PER_CALL, REF, RELATED, SLUG, SUMMARY, TAG, TAGS, TITLE
from db.database import Database
from resolvers.errors import BadInput, Conflict, NotFound
from resolvers.model.drafts import PageDraft
from resolvers.model.lookup import locate_slug
from resolvers.model.page_fields import NAMES, ROLE_MAX
from resolvers.pages.lifecycle import archive_page, create_page, unarchive_page, update_page
from resolvers.pages.stubs import stub_draft, write_stub
from resolvers.sources.compile_requests import rebuild_page
from resolvers.transactions.transaction import NO_PAGE
from schema.enums import WikiConfidence, WikiPageOrder, WikiPageStatus, WikiPageType, WikiSensitivity

from .. import responses
from ..endpoint import Call, WikiRoute
from ..models import (
    VERSION_MAX,
    EditSummary,
    ExpectedVersion,
    Listed,
    Moment,
    Page,
    PageItem,
    RequestModel,
    ResponseModel,
    Text,
)
from ..operations import read, read_of_page, type_of, write
from ..parameters import (
    OF_PAGE,
    SENT,
    Archived,
    Caller,
    Cursor,
    Expected,
    Limit,
    Slug,
    Tags,
    Type,
    Types,
    UpdatedSince,
    problems,
    reading,
    redirect_responses,
)
from ..responses import answer, answer_moved, answer_page, answer_write, answer_written_page

routes = APIRouter(route_class=WikiRoute, tags=["pages"])
CHANGEABLE = {"title", "summary", "tags", "aliases", "related"}
PUT_AWAY = problems(*OF_PAGE, 412)


PageType = Annotated[WikiPageType, Field(strict=False)]
PageTags = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=TAG.most)]], FailFast(), Field(max_length=TAGS.most)
]
Related = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=SLUG.most + 20)]],
    FailFast(),
    Field(max_length=RELATED.most, description="Slugs of pages of this wiki, or TYPE/SLUG where types share one."),
]


Sensitivity = Annotated[
    WikiSensitivity | None, Field(strict=False, description="How few may read it: not more than you may.")
]


class PageFields(RequestModel):
    """Fields of a page that frontmatter has, too."""

    sensitivity: Sensitivity = None
    stated_confidence: Annotated[
        WikiConfidence | None, Field(strict=False, description="What you say of it; `confidence` in frontmatter.")
    ] = None
    expires_at: Annotated[Moment | None, Field(description="From when on it is out of date.")] = None
    owner_role: Annotated[
        str | None, Field(max_length=ROLE_MAX, description="Who looks after it; `owner` in frontmatter.")
    ] = None
    supersedes: Annotated[Related, Field(description="The pages that it replaces.")] = Field([])
    contradicts: Annotated[Related, Field(description="The pages that it disagrees with.")] = Field([])

    def fields(self) -> dict[str, Any]:
        """Return what was given, by the names of the resolver."""
        return self.model_dump(mode="json", include=self.model_fields_set & NAMES.keys())


class NewPage(PageFields):
    """A page to be made."""

    title: Annotated[str, Field(min_length=1, max_length=TITLE.most, examples=["Harbour Coffee"])]
    slug: Annotated[
        str | None, Field(min_length=1, max_length=SLUG.most, description="Made from the title if left out.")
    ] = None
    type: PageType
    content: Annotated[Text, Field(description="Markdown; `## ` headings make sections.")]
    related: Related = Field([])
    tags: PageTags = Field([])
    edit_summary: EditSummary = None


class NewStub(RequestModel):
    """A stub: a page of a subject that was just learnt of, and the source that says so."""

    title: Annotated[str, Field(min_length=1, max_length=TITLE.most, examples=["Small batches"])]
    type: PageType
    text: Annotated[Text, Field(description="Markdown, for the first section of its type.")] = ""
    why: Annotated[Text, Field(description="The section Why; a concept needs it.")] = ""
    how_to_apply: Annotated[Text, Field(description="The section How to apply; a concept needs it.")] = ""
    source: Annotated[
        str | None,
        Field(max_length=REF.most + 20, description="KIND/REF or its id.", examples=["daily_note/2026-03-02"]),
    ] = None
    edit_summary: EditSummary = None


class PageChanges(PageFields):
    """Changes to a page. What is left out stays as it is; a list is given whole, and an empty one takes all away."""

    title: Annotated[
        str,
        Field(
            default_factory=str,
            min_length=1,
            max_length=TITLE.most,
            description="The old one stays an alias. Links that say it stay as they are: `/rename` rewrites them.",
        ),
    ]
    summary: Annotated[str | None, Field(max_length=SUMMARY.most, description="One line; null for none.")] = None
    tags: PageTags = Field([])
    aliases: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=ALIAS.most)]],
        FailFast(),
        Field(
            max_length=ALIASES_PER_CALL.most, description="All names besides the title, which always names the page."
        ),
    ] = Field([])
    related: Related = Field([])
    edit_summary: EditSummary = None
    expected_version: ExpectedVersion = None


class Pages(Listed):
    items: list[PageItem]


class Rebuild(ResponseModel):
    """The job that builds a page again."""

    job_id: UUID


@routes.get("/pages", operation_id="listPages", response_model=Pages, responses=reading())
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
    """List the pages of the wiki, those that changed last first."""
    wanted = {
        "types": capitals(types),
        "tags": tags,
        "status": status.name,
        "updatedSince": updated_since and updated_since.isoformat(),
    }
    given: dict[str, Any] = {"filter": wanted, "order": WikiPageOrder(order).name, "first": limit, "after": cursor}
    found = (await read(call, "pages", "RestPages", **given))["found"]
    return await answer(call, responses.list_body(found, [responses.lower_enums(page) for page in found["nodes"]]))


@routes.get("/pages/{slug}", operation_id="getPage", response_model=Page, responses=redirect_responses(*OF_PAGE))
async def get_page(
    call: Caller,
    slug: Slug,
    type: Type = None,
    version: Annotated[int | None, Query(ge=1, le=VERSION_MAX, description="What it said then.")] = None,
    include_archived: Archived = False,
) -> Response:
    """Get a page by its slug, or by one that it once had; one that was merged into another answers where that is."""
    found_type = await type_of(call, slug, type)
    if version is None:
        try:
            found = await read_of_page(call, "page", "RestPage", found_type, slug, include_archived)
        except NotFound:
            return await redirect_merged(call, found_type, slug)
    else:
        found = await read_of_page(call, "page", "RestPageAt", found_type, slug, include_archived, version=version)
        if found["state"] is None:
            raise NotFound(f"The page has no version {version}. Its history says which there are.")
    return await answer_page(call, responses.page(found))


async def redirect_merged(call: Call, type: str, slug: str) -> Response:
    """Redirect to the page into which an archived one was merged; raise NotFound if it was not merged."""
    where: dict[str, Any] = {"tenantId": str(call.wiki.tenant_id), "type": type.upper(), "slug": slug}
    gone = (await read(call, "page", "RestMerged", **where))["page"]
    if not gone or not gone["into"]:
        raise NotFound(NO_PAGE)
    return answer_moved(call, gone["into"])


@routes.post("/pages", operation_id="createPage", status_code=201, response_model=Page, responses=problems(*SENT))
async def add_page(call: Caller, given: NewPage) -> Response:
    """Make a page."""
    draft = PageDraft(
        type=given.type.value,
        title=given.title,
        slug=given.slug,
        body=given.content,
        tags=given.tags,
        related=given.related,
        fields=given.fields(),
        edit_summary=given.edit_summary,
    )

    async def work(database: Database) -> Any:
        saved = await create_page(database, call.wiki, draft)
        return await page_now(call, database, saved.page_id)

    written = await write(call, work)
    return await answer_written_page(call, written.body, written.headers, is_new=True)


@routes.post("/stubs", operation_id="createStub", status_code=201, response_model=Page, responses=problems(*SENT, 404))
async def add_stub(call: Caller, given: NewStub) -> Response:
    """Make a page with the sections of its type, which rests on one source; both or nothing.

    Refused with PAGE_EXISTS where a page of the type is called so already.
    """
    draft = stub_draft(
        given.type.value,
        given.title,
        given.text,
        why=given.why,
        how_to_apply=given.how_to_apply,
        edit_summary=given.edit_summary,
    )

    async def work(database: Database) -> Any:
        saved = await write_stub(database, call.wiki, draft, given.source)
        return await page_now(call, database, saved.page_id)

    written = await write(call, work)
    return await answer_written_page(call, written.body, written.headers, is_new=True)


@routes.patch("/pages/{slug}", operation_id="updatePage", response_model=Page, responses=problems(*SENT, 404, 412))
async def change_page(call: Caller, slug: Slug, given: PageChanges, type: Type = None) -> Response:
    """Change the title, summary, tags, aliases, related pages or other fields of a page; its text stays."""
    expected = Expected(call.request.scope, given.expected_version)
    changes = given.model_dump(include=given.model_fields_set & CHANGEABLE)
    fields = given.fields()
    if not changes and not fields:
        raise BadInput(f"Give at least one of {', '.join(sorted([*CHANGEABLE, *NAMES]))}.", "title")

    async def work(database: Database) -> Any:
        found = await locate_slug(database, call.wiki, slug, type)
        try:
            await update_page(
                database,
                call.wiki,
                found.page_id,
                expected_version=expected.version,
                edit_summary=given.edit_summary,
                fields=fields,
                **changes,
            )
        except Conflict as error:
            raise expected.refusal(error) from None
        return await page_now(call, database, found.page_id)

    written = await write(call, work)
    return await answer_written_page(call, written.body, written.headers)


@routes.post("/pages/{slug}/archive", operation_id="archivePage", response_model=Page, responses=PUT_AWAY)
@routes.delete("/pages/{slug}", operation_id="deletePage", response_model=Page, responses=PUT_AWAY)
async def archive(call: Caller, slug: Slug, type: Type = None) -> Response:
    """Archive a page: out of sight, with everything it owns. It can come back."""
    return await change_status(call, slug, type, archive_page)


@routes.post("/pages/{slug}/unarchive", operation_id="unarchivePage", response_model=Page, responses=PUT_AWAY)
async def unarchive(call: Caller, slug: Slug, type: Type = None) -> Response:
    """Bring an archived page back."""
    return await change_status(call, slug, type, unarchive_page)


@routes.post(
    "/pages/{slug}/rebuild",
    operation_id="rebuildPage",
    status_code=202,
    response_model=Rebuild,
    responses=problems(*OF_PAGE),
)
async def rebuild(call: Caller, slug: Slug, type: Type = None) -> Response:
    """Write every section of a page anew that cites sources, from those alone; by a job."""

    async def work(database: Database) -> Any:
        found = await locate_slug(database, call.wiki, slug, type)
        return {"job_id": str(await rebuild_page(database, call.wiki, found.page_id))}

    written = await write(call, work)
    return await answer_write(call, written.body, 202, written.headers)


async def change_status(call: Call, slug: str, type: str | None, change: Any) -> Response:
    expected = Expected(call.request.scope)

    async def work(database: Database) -> Any:
        found = await locate_slug(database, call.wiki, slug, type)
        try:
            await change(database, call.wiki, found.page_id, expected_version=expected.version)
        except Conflict as error:
            raise expected.refusal(error) from None
        return await page_now(call, database, found.page_id)

    written = await write(call, work)
    return await answer_written_page(call, written.body, written.headers)


async def page_now(call: Call, database: Database, page_id: UUID) -> dict[str, Any]:
    """Return the page as the write left it."""
    found = (await read(call, "page", "RestPageById", database, id=str(page_id)))["page"]
    if found is None:
        raise NotFound(NO_PAGE)
    return responses.page(found)


def capitals(values: Any) -> list[str] | None:
    return None if values is None else [value.name for value in values]
