"""`cairn reindex`: what search has not read."""

from typing import TYPE_CHECKING, Annotated

import typer

from .options import AsJson
from .output import say, show

if TYPE_CHECKING:
    from db.database import Database

    from .indexes import Reindexed


def add_to(parent: typer.Typer) -> None:
    epilog = "Example: cairn reindex, or: cairn reindex --tenant acme --owner mara --again"
    parent.command("reindex", epilog=epilog)(reindex)


def reindex(
    tenant: Annotated[
        str | None, typer.Option("--tenant", metavar="SLUG", help="Only this tenant's wikis: its slug or id.")
    ] = None,
    owner: Annotated[
        str | None, typer.Option("--owner", metavar="SLUG", help="Only this owner's wiki, in the tenant: slug or id.")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Also read what was read before.")] = False,
    as_json: AsJson = False,
) -> None:
    """Let search read the pages that it has not read. In all wikis, or in some.

    Others may read and write meanwhile. Ctrl-C loses nothing: run it again, and it goes on.
    """
    if owner and not tenant:
        raise typer.BadParameter("an owner needs its tenant: add --tenant SLUG")
    from .indexes import counted, due, read
    from .session import session

    async def work(database: "Database") -> "Reindexed":
        return await read(database, await due(database, tenant, owner, again=again), again=again)

    done = session(work)
    if as_json:
        show(done._asdict())
    elif done.wikis:
        say(f"Search has read {counted(done.pages, done.wikis)} in {done.seconds:,} s.")
    else:
        say("Search has read every page already. To read them anyway: cairn reindex --again")
