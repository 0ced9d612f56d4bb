"""`cairn export`: a wiki as a folder of markdown, a zip of it, or lines of JSON."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import AsJson, Owner, Tenant
from .output import say, show, table

if TYPE_CHECKING:
    from db.database import Database
    from resolvers.import_export.files import ExportResult


def add_to(parent: typer.Typer) -> None:
    epilog = (
        "Example: cairn export ~/wiki --tenant acme --owner mara; "
        "cairn export wiki.zip --history --tenant acme --owner mara"
    )
    parent.command("export", epilog=epilog)(export_notes)


def export_notes(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH", help="A folder that is new, empty or an earlier export; or a .zip, or a .jsonl file."
        ),
    ],
    tenant: Tenant,
    owner: Owner,
    history: Annotated[bool, typer.Option("--history", help="Every earlier version of each page, too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a wiki out, with archived pages, sources and the names that are held. `cairn import` of it gives the same
    wiki again. Exits with 1 when something could not be written; all else is in the export then."""
    from db.scope import Role
    from resolvers.import_export.files import export_path

    from .progress import progress
    from .session import session
    from .wikis import find_wiki

    if path == Path("-"):
        raise typer.BadParameter("an export is not printed: give a folder, or a name that ends in .zip or .jsonl")

    async def work(database: "Database") -> "ExportResult":
        wiki = await find_wiki(database, tenant, owner)
        with progress() as report:
            return await export_path(database, wiki.scope(Role.READER), path, history=history, report=report)

    result = session(work)
    if as_json:
        errors = [{"path": one.path, "code": one.code, "message": one.message} for one in result.errors]
        known = {"pages": result.pages, "sources": result.sources, "path": str(path)}
        show(known | {"failed": result.failed, "errors": errors})
    else:
        say(f"{result.pages} pages and {result.sources} sources are in {path}.")
        if result.failed:
            say(f"{result.failed} could not be written: .cairn/errors.jsonl lists them, or the lines at the end.")
            table(["file", "code", "what is wrong"], [(one.path, one.code, one.message) for one in result.errors])
    if result.failed:
        raise typer.Exit(1)
