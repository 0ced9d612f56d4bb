"""The paths of a page's versions: they are listed, compared and restored."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from db.database import Database
from resolvers.errors import NotFound
from resolvers.model.lookup import Located, locate_slug
from resolvers.pages.history import restore_state
from resolvers.transactions.transaction import NO_PAGE

from .. import responses
from ..endpoint import WikiRoute
from ..models import VERSION_MAX, ExpectedVersion, Listed, Page, RequestModel, ResponseModel
from ..operations import find_type, read, read_page_data
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
from ..responses import answer
from .pages import write_page

Version = Annotated[int, Field(ge=1, le=VERSION_MAX)]


class RestoreRequest(RequestModel):
    """Version whose title, summary, text, tags and metadata to restore as a new version."""

    version: Version
    expected_version: ExpectedVersion = None


class Revision(ResponseModel):
    """A version of a page."""

    version: int
    title: str
    edit_summary: str | None
    author_type: Literal["agent", "user", "compiler", "service"]
    author_id: str
    author_name: str
    created_at: datetime


class History(Listed):
    items: list[Revision]


class Difference(ResponseModel):
    """Unified diff of two versions of a page."""

    from_version: int
    to_version: int
    unified: str
    lines_added: int
    lines_removed: int
    is_truncated: bool


routes = APIRouter(route_class=WikiRoute, tags=["history"])
NO_VERSIONS = "The page lacks one of these versions. Its history says which there are."
From = Annotated[int, Query(alias="from", ge=1, le=VERSION_MAX)]
To = Annotated[int, Query(ge=1, le=VERSION_MAX)]


@routes.get(
    "/pages/{slug}/history",
    operation_id="listPageVersions",
    response_model=History,
    responses=read_responses(*PAGE_STATUSES),
)
async def list_versions(
    call: Caller,
    slug: Slug,
    type: Type = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    include_archived: Archived = False,
) -> Response:
    """List the versions of a page, newest first."""
    found_type = await find_type(call, slug, type)
    page = await read_page_data(
        call, "history", "RestHistory", found_type, slug, include_archived, first=limit, after=cursor
    )
    found = page["found"]
    return await answer(call, responses.list_body(found, [responses.lower_enums(node) for node in found["nodes"]]))


@routes.get(
    "/pages/{slug}/diff",
    operation_id="comparePageVersions",
    response_model=Difference,
    responses=read_responses(*PAGE_STATUSES),
)
async def compare(
    call: Caller, slug: Slug, old: From, to: To, type: Type = None, include_archived: Archived = False
) -> Response:
    """Compare two versions of a page, in either order."""
    page = await locate_slug(call.database, call.wiki, slug, type)
    if page.is_archived and not include_archived:
        raise NotFound(NO_PAGE)
    variables: dict[str, Any] = {"pageId": str(page.page_id), "from": old, "to": to}
    found = (await read(call, "diff", "RestDiff", **variables))["difference"]
    if found is None:
        raise NotFound(NO_VERSIONS)
    return await answer(call, {"from_version": old, "to_version": to} | found)


@routes.post(
    "/pages/{slug}/restore",
    operation_id="restorePageVersion",
    response_model=Page,
    responses=problem_responses(*BODY_STATUSES, 404, 412),
)
async def restore(call: Caller, slug: Slug, body: RestoreRequest, type: Type = None) -> Response:
    """Restore an earlier version of a page as a new version."""

    async def change(database: Database, page: Located, version: int | None) -> None:
        await restore_state(database, call.wiki, page.page_id, body.version, expected_version=version)

    return await write_page(call, slug, type, change, body.expected_version)
