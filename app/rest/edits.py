"""Edits told as old words and new ones."""

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from db.database import Database
from resolvers.errors import BadInput, Conflict
from resolvers.model.lookup import PageAddress, locate_slug
from resolvers.pages.edits import edit_page

from .answers import answer_written_page
from .asking import SENT, Caller, Slug, Type, problems
from .conditions import Expected
from .door import WikiRoute
from .models.edits import Edit
from .models.pages import Page
from .pages import page_now
from .writing import write

routes = APIRouter(route_class=WikiRoute, tags=["pages"])


@routes.post("/pages/{slug}/edit", operation_id="editPage", response_model=Page, responses=problems(*SENT, 404, 412))
async def edit(call: Caller, slug: Slug, given: Edit, type: Type = None) -> Response:
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
