"""What changed in the wiki, for who keeps a copy of it."""

from fastapi import APIRouter
from starlette.responses import Response

from . import shapes
from .answers import answer
from .asking import Caller, Cursor, Limit, reading
from .door import WikiRoute
from .models.changes import Changes
from .reading import read

routes = APIRouter(route_class=WikiRoute, tags=["changes"])


@routes.get("/changes", operation_id="listChanges", response_model=Changes, responses=reading())
async def list_changes(call: Caller, limit: Limit = 50, cursor: Cursor = None) -> Response:
    """Every page once, by its last change; with the `resume` of before as `cursor` those that changed since."""
    found = (await read(call, "changes", "RestChanges", first=limit, after=cursor))["found"]
    items = [shapes.change(one) for one in found["nodes"]]
    return await answer(call, shapes.listed(found, items, resume=found["pageInfo"]["endCursor"] or cursor))
