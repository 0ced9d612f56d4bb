"""Where a page leads, what leads there, and what it points at that nobody answers to."""

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from . import shapes
from .answers import answer
from .asking import OF_PAGE, Archived, Caller, Cursor, Limit, Slug, Type, reading
from .door import WikiRoute
from .models.links import Links
from .reading import read_of_page, type_of
from .shapes import Row

routes = APIRouter(route_class=WikiRoute, tags=["pages"])


class Which(StrEnum):
    TO = "to"
    FROM = "from"
    BROKEN = "broken"


OPERATIONS: dict[Which, tuple[str, Callable[[Row], Row]]] = {
    Which.TO: ("RestLinksTo", lambda link: shapes.whole_link(link["page"])),
    Which.FROM: ("RestLinksFrom", shapes.whole_link),
    Which.BROKEN: ("RestBrokenLinks", shapes.broken_link),
}
Shown = Annotated[
    Which, Query(description="Pages that it links `to`, pages that it is linked `from`, or its `broken` links.")
]


@routes.get("/pages/{slug}/links", operation_id="listPageLinks", response_model=Links, responses=reading(*OF_PAGE))
async def list_links(
    call: Caller,
    slug: Slug,
    type: Type = None,
    which: Shown = Which.TO,
    limit: Limit = 50,
    cursor: Cursor = None,
    include_archived: Archived = False,
) -> Response:
    """The references of a page, in one direction."""
    operation, shown = OPERATIONS[which]
    found_type = await type_of(call, slug, type)
    page = await read_of_page(call, "links", operation, found_type, slug, include_archived, first=limit, after=cursor)
    found = page["found"]
    return await answer(call, shapes.listed(found, [shown(one) for one in found["nodes"]]))
