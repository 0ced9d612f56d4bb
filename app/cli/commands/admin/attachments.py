"""`cairn attachments`: manage where attachments and original files are stored."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ...options import AsJson
from ...output import print_json, print_status, say

if TYPE_CHECKING:
    from db.database import Database
    from resolvers.sources.moving_files import Moved

app = typer.Typer(help="Manage the storage of attachments and original files.", no_args_is_help=True)
MISSING_SHOWN = 10


class Place(StrEnum):
    """The places where files can be stored."""

    FOLDER = "folder"
    DATABASE = "database"


def add_to(parent: typer.Typer) -> None:
    parent.add_typer(app, name="attachments", epilog="Example: cairn attachments move --to folder")


@app.callback()
def group() -> None:
    """Manage the storage of attachments and original files."""


@app.command("move", epilog="Example: cairn attachments move --to folder")
def move(
    to: Annotated[Place, typer.Option("--to", help="Destination: the folder CAIRN_ATTACHMENTS_DIR, or the database.")],
    tenant: Annotated[
        str | None, typer.Option("--tenant", metavar="SLUG", help="Only files of this tenant (slug or id).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Move stored files to a folder or to the database. The service can run meanwhile.

    It can be interrupted and run again. Exits with 1 if files are missing from the folder.
    """
    from ...progress import progress
    from ...session import run_in_session

    async def work(database: "Database") -> "Moved":
        from resolvers.sources.moving_files import move_files
        from resolvers.tenants.tenants import find_tenant, list_tenants

        tenants = [await find_tenant(database, tenant)] if tenant else await list_tenants(database)
        with progress() as report:
            return await move_files(database, [found.id for found in tenants], report, to_folder=to is Place.FOLDER)

    result = run_in_session(work)
    if as_json:
        print_json({"to": to.value, **result._asdict()})
    else:
        say(f"Moved {result.files:,} files ({result.bytes:,} bytes) to the {to.value} in {result.seconds:,} s.")
    if result.missing:
        examples = ", ".join(result.missing[:MISSING_SHOWN])
        if not as_json:
            lacking = f"{len(result.missing):,} files are missing from the folder or were changed there"
            print_status(f"cairn: {lacking}: {examples}. Restore them from a backup.")
        raise typer.Exit(1)
