"""Search: the page of results, and the suggestions while a person types."""

from typing import Any

from starlette.responses import Response

from content.templates import TEMPLATES

from ..endpoint import Visit
from .read import may_write

QUERY_MAX = 500  # characters


async def results(visit: Visit) -> Response:
    """Show the results of a search, with their number by type and tag."""
    query = visit.parameter("q")[:QUERY_MAX]
    type = visit.parameter("type").lower()
    tag = visit.parameter("tag")
    filter = {"types": [type.upper()] if type in TEMPLATES else None, "tags": [tag] if tag else None}
    chosen = {"q": query, "type": type if filter["types"] else "", "tag": tag}
    if not query:
        return await visit.show("search.html", chosen=chosen, found=None, **await visit.query("search", "Nothing"))
    found = await visit.query("search", "Search", query=query, filter=filter, after=visit.parameter("after") or None)
    return await visit.show("search.html", chosen=chosen, may_write=may_write(visit, found["viewer"]), **found)


async def suggest(visit: Visit) -> Response:
    """Show up to eight pages that match a query, as options of a list: matches of names first, then of texts.

    Pages whose title begins with the query come before all others.
    """
    query = visit.parameter("q")[:QUERY_MAX]
    found = await visit.query("search", "Suggest", query=query) if query else {"named": [], "found": []}
    hits: dict[tuple[str, str], dict[str, Any]] = {}
    for hit in [*found["named"], *found["found"]]:
        hits.setdefault((hit["page"]["type"], hit["page"]["slug"]), {"snippet": None, "matchedAlias": None} | hit)
    typed = query.casefold()
    first = sorted(hits.values(), key=lambda hit: not hit["page"]["title"].casefold().startswith(typed))
    return await visit.show("suggestions.html", viewer=None, query=query, hits=first[:8])
