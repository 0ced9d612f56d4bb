"""The navigation of every page: the person who is signed in, and the wikis that this person can read."""

from functools import cache
from typing import TYPE_CHECKING, Any

from resolvers.auth.owners import find_owner
from resolvers.errors import NotFound

from ..stored_queries import stored_query

if TYPE_CHECKING:
    from .endpoint import Visit


@cache
def with_shell(document: str) -> str:
    """Return a stored document, with the definition of the fragment Shell if the document uses it."""
    text = stored_query("web", document)
    return text + (stored_query("web", "shell") if "...Shell" in text else "")


async def add_shown_wiki(visit: "Visit", viewer: dict[str, Any]) -> None:
    """Add the wiki that the path names, or else that of this person, to the first hundred if it is a later one."""
    wikis, shown = viewer["scopes"], visit.owner or viewer["owner"]["slug"]
    if not wikis["pageInfo"]["hasNextPage"] or any(wiki["slug"] == shown for wiki in wikis["nodes"]):
        return
    try:
        owner = await find_owner(visit.web.database, visit.wiki.tenant_id, shown)
    except NotFound:
        return
    if found := (await visit.query("wiki", id=str(owner.id)))["wiki"]:
        wikis["nodes"].append(found)
