"""`cairn documents`: the folder of trusted documents."""

from pathlib import Path
from typing import Annotated

import typer

from .options import AsJson
from .output import say, show

app = typer.Typer(help="Trusted documents: what clients may ask by an id.", no_args_is_help=True)
Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder that CAIRN_DOCUMENTS_DIR names.")]
FAILURE = 1


def add_to(parent: typer.Typer) -> None:
    parent.add_typer(app, name="documents", epilog="Example: cairn documents check --help")


@app.command("check", epilog="Example: cairn documents check ./documents")
def check(folder: Folder, as_json: AsJson = False) -> int:
    """Compare every document with its id, the schema and the limits. Needs no database."""
    from app.documents.checking import refusals
    from app.documents.folder import read_folder
    from app.limits import document_limits
    from app.settings import Settings

    documents, faults = read_folder(folder)
    faults += refusals(documents, document_limits(Settings()))
    if as_json:
        found = [{"file": str(fault.file), "id": fault.id, "message": fault.message} for fault in faults]
        show({"documents": len(documents), "faults": found})
    else:
        for fault in faults:
            say(str(fault))
        say(f"{len(documents)} documents, {len(faults)} faults.")
    return FAILURE if faults else 0


@app.command("add", epilog="Example: cairn documents add ./documents queries/page.graphql")
def add(
    folder: Folder,
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="A file with one GraphQL document.")],
    as_json: AsJson = False,
) -> None:
    """Put documents into the folder under their SHA-256, and print the ids. None, if one of them is not valid."""
    from app.documents.adding import add_documents
    from app.limits import document_limits
    from app.settings import Settings

    added = add_documents(folder, files, document_limits(Settings()))
    if as_json:
        show([{"file": str(file), "id": f"sha256:{digest}"} for file, digest in added.items()])
    else:
        for file, digest in added.items():
            say(f"sha256:{digest}  {file}")
