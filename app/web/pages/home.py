"""The home page of a wiki, and the list of its pages."""

from typing import Any

from starlette.responses import Response

from content.templates import TEMPLATES
from resolvers.errors import NotFound

from ..endpoint import Visit

ORDERS = ("updated", "title", "created", "hubness")


async def home(visit: Visit) -> Response:
    """Show the pages that changed last, the most central pages, the types and the tags."""
    found = await visit.query("home", "Home")
    if found["wiki"] is None:
        raise NotFound("There is no such wiki, or you cannot read it. The menu at the top of a page lists your wikis.")
    return await visit.show("home.html", **found)


async def list_pages(visit: Visit) -> Response:
    """Show the pages of a type or with a tag, or all pages."""
    type = visit.parameter("type").lower()
    tag = visit.parameter("tag")
    order = visit.parameter("order").lower()
    order = order if order in ORDERS else "title"
    filter = {
        "types": [type.upper()] if type in TEMPLATES else None,
        "tags": [tag] if tag else None,
        "status": "ARCHIVED" if visit.parameter("status") == "archived" else "ACTIVE",
    }
    after = visit.parameter("after") or None
    found = await visit.query("pages", "Pages", filter=filter, order=order.upper(), after=after)
    chosen = {"type": type if filter["types"] else "", "tag": tag, "order": order, "status": visit.parameter("status")}
    return await visit.show("pages.html", chosen=chosen, types=types_offered(found["wiki"], chosen), **found)


def types_offered(wiki: dict[str, Any] | None, chosen: dict[str, str]) -> list[str]:
    """Return the types of pages that the wiki has, and the chosen type. For archived pages, return all types."""
    if wiki is None or chosen["status"] == "archived":
        return sorted(TEMPLATES)
    return sorted({*map(str.lower, wiki["types"]), chosen["type"]} - {""})
