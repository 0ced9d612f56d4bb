"""The changes of the wiki, for clients that keep a copy of it."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from . import responses
from .endpoint import WikiRoute
from .models import Listed, PageItem, ResponseModel
from .operations import read
from .parameters import Caller, Cursor, Limit, reading
from .responses import answer


class Change(ResponseModel):
    """The last change of a page; `page` as it is now, archived ones too."""

    position: int
    page_id: UUID
    state: Literal["active", "archived", "deleted"]
    changed_at: datetime
    page: PageItem | None


class Changes(Listed):
    """`resume` is the `cursor` with which to ask later for what has changed since."""

    items: list[Change]
    resume: str | None


routes = APIRouter(route_class=WikiRoute, tags=["changes"])


@routes.get("/changes", operation_id="listChanges", response_model=Changes, responses=reading(410))
async def list_changes(call: Caller, limit: Limit = 50, cursor: Cursor = None) -> Response:
    """List every page once, by its last change; with the `resume` of before as `cursor`, those that changed since.

    410 `CURSOR_EXPIRED` means that a backup was restored: start again without a cursor.
    """
    found = (await read(call, "changes", "RestChanges", first=limit, after=cursor))["found"]
    items = [responses.change(one) for one in found["nodes"]]
    return await answer(call, responses.listed(found, items, resume=found["pageInfo"]["endCursor"] or cursor))
