"""`cairn links`: links that follow from evidence alone, taken back."""

from typing import TYPE_CHECKING, Annotated

import typer

from .options import AsJson, Owner, Tenant
from .output import say, show

if TYPE_CHECKING:
    from db.database import Database
    from resolvers.links.kinds import DroppedLinks

app = typer.Typer(help="Links that follow from evidence alone.", no_args_is_help=True)


def add_to(parent: typer.Typer) -> None:
    parent.add_typer(app, name="links", epilog="Example: cairn links drop --help")


@app.callback()
def group() -> None:
    """Links that follow from evidence alone."""


@app.command("drop", epilog="Example: cairn links drop 'deterministic:city:*' --dry-run --tenant acme --owner mara")
def drop(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="deterministic:city:*, co_mention:*, deterministic:* …")],
    tenant: Tenant,
    owner: Owner,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say how many there are.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take back all links of a kind. Those that have another reason stay for that."""
    from .session import find_wiki, session

    async def work(database: "Database") -> "DroppedLinks":
        from db.scope import Role
        from resolvers.links.kinds import drop_link_kind

        scope = (await find_wiki(database, tenant, owner)).scope(Role.ADMIN)
        return await drop_link_kind(database, scope, kind, dry_run=dry_run)

    done = session(work)
    if as_json:
        show({"kind": done.kind, "dryRun": dry_run, "links": done.links, "deleted": done.deleted})
    elif dry_run:
        say(f"{done.links} links have a reason {done.kind}, {done.deleted} of them no other. Nothing was changed.")
    else:
        say(f"{done.links} links lost a reason {done.kind}, {done.deleted} of them had no other and are gone.")
