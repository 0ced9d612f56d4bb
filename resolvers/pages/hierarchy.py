"""The hierarchy of pages: the parent of a page, and the two links (`parent_of`, `child_of`) that mirror it."""

from uuid import UUID

from db.database import Database
from db.ids import new_id
from db.scope import Scope
from db.sql import statements

from ..errors import BadInput
from ..links.references import refresh_hubness
from ..model.pages import Page, Saved
from ..proposals.operations import proposable
from ..transactions.transaction import check_same_wiki, writing_page
from ..transactions.writer import Writer, record

PAGES = statements("pages/pages")
LINKS = statements("links/links")
REASON = "hierarchy"


@proposable
async def set_parent(database: Database, scope: Scope, page_id: UUID, *, parent_id: UUID | None) -> Saved:
    """Set or clear the parent of a page."""
    async with writing_page(database, scope, page_id) as (writer, page):
        placed = await place(writer, page, parent_id)
        if placed:
            await record(writer, "page.moved", page.id, parentId=parent_id, formerParentId=page.parent_id)
        return Saved(page.id, page.version, changed=placed)


async def place(writer: Writer, page: Page, parent_id: UUID | None) -> bool:
    """Write the parent of a page and both mirror links. Return false if the page has this parent already."""
    if parent_id == page.parent_id:
        return False
    if parent_id is not None:
        await check_parent(writer, page, parent_id)
    await writer.run(PAGES["set_parent"], page_id=page.id, parent_id=parent_id)
    if page.parent_id is not None:
        await writer.run(LINKS["delete_mirrors"], page_id=page.id, parent_id=page.parent_id)
    if parent_id is not None:
        await writer.run(
            LINKS["write_links"],
            ids=[new_id(), new_id()],
            from_page_ids=[parent_id, page.id],
            to_page_ids=[page.id, parent_id],
            kinds=["parent_of", "child_of"],
            reason=REASON,
        )
    refresh_hubness(writer, [page.parent_id, parent_id])
    return True


async def check_parent(writer: Writer, page: Page, parent_id: UUID) -> None:
    """Refuse a parent that is the page itself, one of its descendants, or a page of another wiki."""
    if parent_id == page.id:
        raise BadInput("A page cannot be its own parent.", "parentId")
    await check_same_wiki(writer, parent_id, "parentId")
    if await writer.value(PAGES["find_ancestor"], page_id=parent_id, ancestor_id=page.id):
        raise BadInput(
            "This page is a descendant of the page that you want to move. Choose another parent.", "parentId"
        )
