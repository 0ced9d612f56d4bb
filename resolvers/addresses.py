"""A page as a caller names it: by its id, or by type and slug."""

from dataclasses import dataclass
from uuid import UUID

from content.slugs import SLUG_MAX
from db.database import Database
from db.scope import Scope
from db.sql import statements
from db.tables import PAGE_TYPES

from . import checks
from .errors import BadInput, NotFound
from .permissions import Action, authorise
from .writing import NO_PAGE, looking

PAGES = statements("pages")


@dataclass(frozen=True, slots=True)
class PageAddress:
    """The id, or type and slug in the scope's wiki; a slug that the page once had finds it too.

    With `in_wiki` a page that is named by its id must lie in the scope's wiki as well.
    """

    page_id: UUID | None = None
    type: str | None = None
    slug: str | None = None
    in_wiki: bool = False


async def locate(database: Database, scope: Scope, address: PageAddress) -> UUID:
    """The id of the page; NotFound where there is none that the caller may see."""
    by_name = address.type is not None and address.slug is not None
    if by_name == (address.page_id is not None) or (address.type is None) != (address.slug is None):
        raise BadInput("Name the page by pageId, or else by type and slug.", "pageId")
    if address.page_id is not None and not address.in_wiki:
        return address.page_id
    async with looking(database) as connection:
        await authorise(connection, scope, scope.owner_id, Action.READ)
        if address.page_id is not None:
            owner_id = await connection.value(PAGES["find_owner"], tenant_id=scope.tenant_id, id=address.page_id)
            found = address.page_id if owner_id == scope.owner_id else None
        else:
            found = await connection.value(
                PAGES["find_by_slug"],
                tenant_id=scope.tenant_id,
                owner_id=scope.owner_id,
                type=checks.one_of(address.type or "", PAGE_TYPES, "type"),
                slug=checks.text(address.slug or "", "slug", SLUG_MAX),
            )
    if found is None:
        raise NotFound(NO_PAGE)
    page_id: UUID = found
    return page_id
