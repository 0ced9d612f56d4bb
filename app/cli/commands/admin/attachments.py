"""`cairn attachments`: where the bytes of attachments and originals lie."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ...options import AsJson
from ...output import print_status, say, show

if TYPE_CHECKING:
    from db.database import Database
    from resolvers.sources.moving_files import Moved

app = typer.Typer(help="Move the bytes of attachments and originals.", no_args_is_help=True)
MISSING_TOLD = 10


class Place(StrEnum):
    """A place for the bytes of files."""

    FOLDER = "folder"
    DATABASE = "database"


def add_to(parent: typer.Typer) -> None:
    parent.add_typer(app, name="attachments", epilog="Example: cairn attachments move --to folder")


@app.callback()
def group() -> None:
    """Move the bytes of attachments and originals."""


@app.command("move", epilog="Example: cairn attachments move --to folder")
def move(
    to: Annotated[Place, typer.Option("--to", help="The folder CAIRN_ATTACHMENTS_DIR, or Postgres.")],
    tenant: Annotated[
        str | None, typer.Option("--tenant", metavar="SLUG", help="Only this tenant's files: its slug or id.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Move the files that were kept before the setting was made, or all of them back, while services run.

    Ctrl-C loses nothing: run it again, and it goes on. Exits with 1 when the folder lacks some of the files.
    """
    from ...progress import progress
    from ...session import session

    async def work(database: "Database") -> "Moved":
        from resolvers.sources.moving_files import move_files
        from resolvers.tenants.tenants import find_tenant, list_tenants

        tenants = [await find_tenant(database, tenant)] if tenant else await list_tenants(database)
        with progress() as report:
            return await move_files(database, [one.id for one in tenants], report, to_folder=to is Place.FOLDER)

    done = session(work)
    if as_json:
        show({"to": to.value, **done._asdict()})
    else:
        say(f"{done.files:,} files with {done.bytes:,} bytes were moved to the {to.value} in {done.seconds:,} s.")
    if done.missing:
        some = ", ".join(done.missing[:MISSING_TOLD])
        if not as_json:
            lacking = f"{len(done.missing):,} files are not in the folder, or were changed there"
            print_status(f"cairn: {lacking}: {some}. Restore them.")
        raise typer.Exit(1)
