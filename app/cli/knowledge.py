"""`cairn knowledge`: entries from files."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import AsJson, Owner, Tenant
from .output import say, show

if TYPE_CHECKING:
    from db.database import Database

    from ..tools.seeding import Seeded

app = typer.Typer(help="The knowledge base of a wiki: its references, by topic.", no_args_is_help=True)


def add_to(parent: typer.Typer) -> None:
    parent.add_typer(app, name="knowledge", epilog="Example: cairn knowledge seed --help")


@app.callback()
def group() -> None:
    """The knowledge base of a wiki: its references, by topic."""


@app.command("seed", epilog="Example: cairn knowledge seed ./knowledge --tenant acme --owner mara")
def seed(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Its *.md files; a first line may be `tags: a,b`.")],
    tenant: Tenant,
    owner: Owner,
    as_json: AsJson = False,
) -> None:
    """Make an entry of each file whose topic, the file's name, is not known yet. Exits with 1 when one was refused."""
    from .session import session

    async def work(database: "Database") -> "Seeded":
        from app.tools.seeding import plant, seed_scope

        return await plant(database, await seed_scope(database, tenant, owner), folder)

    done = session(work)
    if as_json:
        refused = [{"file": file, "reason": reason} for file, reason in done.refused]
        show({"made": done.made, "known": done.known, "refused": refused})
    else:
        for file, reason in done.refused:
            say(f"{file}: {reason}")
        say(f"{len(done.made)} made, {done.known} known already, {len(done.refused)} refused.")
    if done.refused:
        raise typer.Exit(1)
