"""Commands that work on a page by its name, as a member of its wiki."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .reading import page_name

if TYPE_CHECKING:
    from uuid import UUID

    from db.database import Database
    from db.scope import Scope

PageName = Annotated[str, typer.Argument(callback=page_name, metavar="TYPE/SLUG", help="Like entity/austin-texas.")]
ExpectedVersion = Annotated[
    int | None, typer.Option("--expect", metavar="N", help="Refuse if the page has another version.")
]
Summary = Annotated[str | None, typer.Option(metavar="TEXT", help="What to say of it in the history.")]

Work = Callable[["Database", "Scope", "UUID"], Awaitable[Any]]


def on_page(name: str, tenant: str, owner: str, work: Work) -> Any:
    """What the work makes of the page."""
    from .session import session
    from .wikis import find_wiki

    async def run(database: "Database") -> Any:
        from db.scope import Role

        scope = (await find_wiki(database, tenant, owner)).scope(Role.MEMBER)
        return await work(database, scope, await find_page_id(database, scope, name))

    return session(run)


async def find_page_id(database: "Database", scope: "Scope", name: str) -> "UUID":
    """Of TYPE/SLUG, archived or not."""
    from resolvers.errors import NotFound
    from resolvers.model.lookup import PageAddress, locate

    type, _, slug = name.partition("/")
    try:
        return await locate(database, scope, PageAddress(type=type.lower(), slug=slug))
    except NotFound:
        raise NotFound(f"There is no page {name} in this wiki. Find others with: cairn search") from None


async def find_each(
    database: "Database", scope: "Scope", names: Sequence[str]
) -> "tuple[dict[str, UUID], dict[str, str]]":
    """The ids of those that there are, and what is wrong with the others."""
    from resolvers.errors import BadInput, NotFound

    found: dict[str, UUID] = {}
    missing: dict[str, str] = {}
    for name in names:
        try:
            found[name] = await find_page_id(database, scope, name)
        except (BadInput, NotFound) as error:
            missing[name] = error.message
    return found, missing


def each_page(names: Sequence[str], tenant: str, owner: str, *, back: bool) -> list[dict[str, Any]]:
    """Archive pages or bring them back; what became of each."""
    from .session import session
    from .wikis import find_wiki

    wanted = list(dict.fromkeys(map(page_name, names)))

    async def run(database: "Database") -> list[dict[str, Any]]:
        from db.scope import Role
        from resolvers.pages.batches import archive_pages, unarchive_pages

        scope = (await find_wiki(database, tenant, owner)).scope(Role.MEMBER)
        found, missing = await find_each(database, scope, wanted)
        outcomes = await (unarchive_pages if back else archive_pages)(database, scope, list(found.values()))
        names = list(found)
        changed = {names[one.position]: one.saved is not None and one.saved.changed for one in outcomes}
        errors = missing | {names[one.position]: one.error.message for one in outcomes if one.error}
        return [{"page": name, "changed": changed.get(name, False), "error": errors.get(name)} for name in wanted]

    return session(run)
