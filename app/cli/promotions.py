"""`cairn suppress`: a section that lists pages stays where it is."""

from typing import TYPE_CHECKING, Annotated

import typer

from .options import AsJson, Owner, Tenant
from .output import say, show
from .pages import PageName, find_page_id

if TYPE_CHECKING:
    from db.database import Database
    from resolvers.model.pages import Saved


def add_to(parent: typer.Typer) -> None:
    parent.command("suppress", epilog="Example: cairn suppress topic/austin activities --tenant acme --owner mara")(
        suppress
    )


def suppress(
    name: PageName,
    section: Annotated[str, typer.Argument(metavar="SECTION", help="The section's slug.")],
    tenant: Tenant,
    owner: Owner,
    lift: Annotated[bool, typer.Option("--lift", help="Let it grow again.")] = False,
    as_json: AsJson = False,
) -> None:
    """Keep a section that lists pages from growing into a page of its own, whatever comes."""
    from .session import session
    from .wikis import find_wiki

    async def work(database: "Database") -> "Saved":
        from db.scope import Role
        from resolvers.pages.sections import suppress_promotion

        scope = (await find_wiki(database, tenant, owner)).scope(Role.ADMIN)
        page_id = await find_page_id(database, scope, name)
        return await suppress_promotion(database, scope, page_id, section, suppressed=not lift)

    done = session(work)
    if as_json:
        show({"page": name, "section": section, "suppressed": not lift, "changed": done.changed})
    else:
        say(f"{section} of {name} {'may grow into a page' if lift else 'stays where it is'}.")
