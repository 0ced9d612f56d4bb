"""Pages under other names: renamed, and merged into one."""

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from db.database import Database
from resolvers.errors import BadInput, Conflict
from resolvers.model.lookup import locate_slug
from resolvers.pages.merging import merge_pages
from resolvers.pages.renaming import rename_page
from resolvers.validation import UNSET

from .answers import answer_written_page
from .asking import SENT, Caller, Slug, Type, problems
from .conditions import Expected
from .door import WikiRoute
from .models.names import Merger, NewName
from .models.pages import Page
from .pages import page_now
from .writing import write

PAGES = ("fromPageId", "intoPageId")  # here one is in the path, and the body names the other
routes = APIRouter(route_class=WikiRoute, tags=["pages"])


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
async def merge(call: Caller, slug: Slug, given: Merger, type: Type = None) -> Response:
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
        except BadInput as error:
            raise BadInput(error.message, "into" if error.field in PAGES else error.field) from None
        return await page_now(call, database, into.page_id)

    written = await write(call, work)
    return await answer_written_page(call, written.body, written.headers)
