"""Find the page that a caller names by its id, by type and slug, or by a slug alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from content.limits import SLUG
from content.names import compose, is_slug
from db.connection import Connection, Row
from db.database import Database
from db.scope import Scope
from db.sql import statements
from db.tables import PAGE_TYPES

from .. import validation
from ..errors import BadInput, Conflict, NotFound
from ..permissions import Action, authorise
from ..transactions.transaction import NO_PAGE, read_connection

PAGES = statements("pages/pages")


@dataclass(frozen=True, slots=True)
class PageAddress:
    """The address of a page: its id, or its type and slug in the scope's wiki. Former slugs find the page, too.

    With `in_wiki`, a page that is named by its id must be in the scope's wiki as well.
    """

    page_id: UUID | None = None
    type: str | None = None
    slug: str | None = None
    in_wiki: bool = False


async def locate(database: Database, scope: Scope, address: PageAddress) -> UUID:
    """Return the id of the page. Raises NotFound if there is none, or the caller may not read the wiki.

    An id without `in_wiki` is returned unchecked.
    """
    by_name = address.type is not None and address.slug is not None
    if by_name == (address.page_id is not None) or (address.type is None) != (address.slug is None):
        raise BadInput("Name the page by pageId, or else by type and slug.", "pageId")
    if address.page_id is not None and not address.in_wiki:
        return address.page_id
    async with read_connection(database) as connection:
        await authorise(connection, scope, scope.owner_id, Action.READ)
        if address.page_id is not None:
            owner_id = await connection.value(PAGES["find_owner"], tenant_id=scope.tenant_id, id=address.page_id)
            found = address.page_id if owner_id == scope.owner_id else None
        else:
            found = await connection.value(
                PAGES["find_by_slug"],
                tenant_id=scope.tenant_id,
                owner_id=scope.owner_id,
                type=validation.one_of(address.type or "", PAGE_TYPES, "type"),
                slug=validation.text(compose(address.slug or "", SLUG), "slug", SLUG.maximum),
            )
    if found is None:
        raise NotFound(NO_PAGE)
    page_id: UUID = found
    return page_id


class SharedSlug(Conflict):
    """Pages of several `types` have the slug."""

    def __init__(self, slug: str, types: Sequence[str]) -> None:
        super().__init__(f'Pages of several types have the slug "{slug}": {", ".join(types)}. Say which type is meant.')
        self.types = tuple(types)

    @property
    def extensions(self) -> dict[str, Any]:
        return {"code": self.code, "types": list(self.types)}


@dataclass(frozen=True, slots=True)
class Located:
    """A page that was found by a slug that it has or had."""

    page_id: UUID
    type: str
    is_archived: bool = False


async def locate_slug(database: Database, scope: Scope, slug: str, type: str | None = None) -> Located:
    """Return the page with a slug, of the given type or of any type. Raises NotFound, SharedSlug."""
    slug = compose(slug, SLUG)
    if not is_slug(slug) or len(slug) > SLUG.maximum:
        raise NotFound(NO_PAGE)
    async with read_connection(database) as connection:
        await authorise(connection, scope, scope.owner_id, Action.READ)
        rows = await find_slugs(connection, scope, [slug])
    found = best_match(rows, slug, type)
    if found is None:
        raise NotFound(NO_PAGE)
    return found


async def find_slugs(connection: Connection, scope: Scope, slugs: Sequence[str]) -> list[Row]:
    """Return the pages of the scope's wiki that have or had one of these slugs."""
    wanted = [slug for slug in slugs if len(slug) <= SLUG.maximum and is_slug(slug)]
    return await connection.all(
        PAGES["find_by_slugs"],
        tenant_id=scope.tenant_id,
        owner_id=scope.owner_id,
        types=list(PAGE_TYPES),
        slugs=wanted,
    )


def best_match(rows: Sequence[Row], slug: str, type: str | None) -> Located | None:
    """Return the best page for a slug: active before archived, then its current slug before a former one, as in links.

    Raises SharedSlug if pages of several types are equally good.
    """
    fitting = [row for row in rows if row["slug"] == slug and type in (None, row["type"])]
    if not fitting:
        return None
    best = min(map(rank, fitting))
    first, *others = sorted(
        (row for row in fitting if rank(row) == best), key=lambda row: PAGE_TYPES.index(row["type"])
    )
    if others:
        raise SharedSlug(slug, [first["type"], *(row["type"] for row in others)])
    return Located(first["id"], first["type"], first["status"] != "active")


def rank(row: Row) -> tuple[bool, bool]:
    return row["status"] != "active", row["is_former"]
