"""Other names of a page."""

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
from ..model.names import Names, check_number, find_names, renew_names
from ..model.pages import Page, Saved
from ..proposals.operations import proposable
from ..search.index import Findable, write_search
from ..transactions.transaction import writing_page
from ..transactions.writer import Writer, record
from .insert import aliases, write_aliases

ALIASES = statements("pages/aliases")


@proposable
async def add_alias(database: Database, scope: Scope, page_id: UUID, *, name: str, source: str = "manual") -> Saved:
    """Let a page answer to another name; links that mean it find the page from now on."""
    name = validation.alias(name)
    validation.one_of(source, ALIAS_SOURCES, "source")
    async with writing_page(database, scope, page_id) as (writer, page):
        added = await write_aliases(writer, {page.id: aliases([name], source)})
        if added:
            check_number(await record_rename(writer, page, Names(), "alias.added", name), "name")
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
    """Let a page answer to exactly these names and its title; whether that changes anything."""
    wanted = {normalise(name): name for name in names}
    standing = (await find_names(writer, page))[page.id].aliases
    gone = standing - wanted.keys() - {normalise(page.title)}
    new = [name for alias, name in wanted.items() if alias not in standing]
    if gone:
        await writer.run(ALIASES["delete_aliases"], page_id=page.id, aliases=sorted(gone))
    if new:
        await write_aliases(writer, {page.id: aliases(new, "manual")})
    if gone or new:
        check_number(await findable(writer, page, Names(aliases=gone)), "aliases")
    return bool(gone or new)


async def record_rename(writer: Writer, page: Page, lost: Names, action: str, name: str) -> Names:
    """Everything that depends on what a page is called; its names now."""
    names = await findable(writer, page, lost)
    await record(writer, action, page.id, name=name)
    return names


async def findable(writer: Writer, page: Page, lost: Names) -> Names:
    """Bring search and the links of others in step with the names of a page; these names."""
    writer.touched.add(page.id)
    names = await renew_names(writer, page)
    await write_search(writer, Findable(page, names))
    await resolve(writer, names | lost)
    return names
