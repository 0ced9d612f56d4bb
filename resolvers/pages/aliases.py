"""Add and remove the aliases of a page."""

from collections.abc import Sequence
from uuid import UUID

from content.names import normalise
from db.database import Database
from db.scope import Scope
from db.sql import statements

from .. import validation
from ..errors import BadInput
from ..links.targets import resolve
from ..model.drafts import ALIAS_SOURCES
from ..model.names import Names, check_alias_count, find_names, rewrite_names
from ..model.pages import Page, Saved
from ..proposals.operations import proposable
from ..search.index import SearchEntry, index_pages
from ..transactions.transaction import writing_page
from ..transactions.writer import Writer, record
from .insert import aliases, write_aliases

ALIASES = statements("pages/aliases")


@proposable
async def add_alias(database: Database, scope: Scope, page_id: UUID, *, name: str, source: str = "manual") -> Saved:
    """Add an alias to a page. Links that use the name resolve to the page from now on."""
    name = validation.alias(name)
    validation.one_of(source, ALIAS_SOURCES, "source")
    async with writing_page(database, scope, page_id) as (writer, page):
        added = await write_aliases(writer, {page.id: aliases([name], source)})
        if added:
            check_alias_count(await record_rename(writer, page, Names(), "alias.added", name), "name")
        return Saved(page.id, page.version, changed=bool(added))


@proposable
async def remove_alias(database: Database, scope: Scope, page_id: UUID, *, name: str) -> Saved:
    """Remove an alias from a page. The title cannot be removed."""
    alias = normalise(validation.alias(name))
    async with writing_page(database, scope, page_id) as (writer, page):
        if alias == normalise(page.title):
            raise BadInput("A page always answers to its title. Change the title first.", "name")
        removed = await writer.run(ALIASES["delete_alias"], page_id=page.id, alias=alias)
        if removed:
            await record_rename(writer, page, Names(aliases=frozenset({alias})), "alias.removed", name)
        return Saved(page.id, page.version, changed=bool(removed))


async def replace_aliases(writer: Writer, page: Page, names: Sequence[str]) -> bool:
    """Make exactly these names and the title the aliases of a page. Return whether anything changed."""
    wanted = {normalise(name): name for name in names}
    stored = (await find_names(writer, page))[page.id].aliases
    gone = stored - wanted.keys() - {normalise(page.title)}
    new = [name for alias, name in wanted.items() if alias not in stored]
    if gone:
        await writer.run(ALIASES["delete_aliases"], page_id=page.id, aliases=sorted(gone))
    if new:
        await write_aliases(writer, {page.id: aliases(new, "manual")})
    if gone or new:
        check_alias_count(await refresh_names(writer, page, Names(aliases=gone)), "aliases")
    return bool(gone or new)


async def record_rename(writer: Writer, page: Page, lost: Names, action: str, name: str) -> Names:
    """Update everything that depends on the names of a page, log the action, and return the current names.

    `lost` are the names that the page no longer has.
    """
    names = await refresh_names(writer, page, lost)
    await record(writer, action, page.id, name=name)
    return names


async def refresh_names(writer: Writer, page: Page, lost: Names) -> Names:
    """Update search and the links of other pages to the names of a page. Return the current names."""
    writer.touched.add(page.id)
    names = await rewrite_names(writer, page)
    await index_pages(writer, SearchEntry(page, names))
    await resolve(writer, names | lost)
    return names
