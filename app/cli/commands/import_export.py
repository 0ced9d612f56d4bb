"""Commands that import and export wikis."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..options import AsJson, Owner, Tenant
from ..output import print_json, print_table, say

if TYPE_CHECKING:
    from db.database import Database
    from resolvers.import_export.results import ImportResult


KINDS = {
    "markdown": "a folder of markdown",
    "obsidian": "an Obsidian vault",
    "notion": "a Notion export",
    "logseq": "a Logseq graph",
    "cairn": "an export of Cairn",
    "lines": "lines of JSON",
}


class Format(StrEnum):
    """The tools that can have written a folder of notes. `auto` detects the tool."""

    AUTO = "auto"
    MARKDOWN = "markdown"
    OBSIDIAN = "obsidian"
    NOTION = "notion"
    LOGSEQ = "logseq"


def add_importing(parent: typer.Typer) -> None:
    epilog = "Example: cairn import ~/notes --tenant acme --owner mara --create"
    parent.command("import", epilog=epilog)(import_notes)


def import_notes(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="Folder of .md files, .zip archive of such a folder, or .jsonl file.")
    ],
    tenant: Tenant,
    owner: Owner,
    create: Annotated[bool, typer.Option("--create", help="Create the tenant and the owner if missing.")] = False,
    format: Annotated[
        Format,
        typer.Option("--format", help="Tool that wrote the notes. `auto` detects it from the contents of the folder."),
    ] = Format.AUTO,
    as_json: AsJson = False,
) -> None:
    """Import notes into a wiki. Importing the same notes again changes only pages that were changed in the wiki: their
    text becomes the note's again. Exits with 1 if a note could not be imported."""
    from db.scope import Role
    from resolvers.errors import BadInput
    from resolvers.import_export import formats
    from resolvers.import_export.importing import import_path

    from ..progress import progress
    from ..session import find_or_create_wiki, find_wiki, run_in_session

    if not path.exists():
        raise BadInput(f"There is no {path}. Give a folder of .md files, a .zip of one, or a .jsonl file.", "path")

    async def work(database: "Database") -> "ImportResult":
        wiki = await (find_or_create_wiki if create else find_wiki)(database, tenant, owner)
        with progress() as report:
            made_by = formats.Format(format)
            return await import_path(database, wiki.scope(Role.ADMIN), path, report=report, format=made_by)

    result = run_in_session(work, creates=create)
    if as_json:
        print_json(result_to_dict(result))
    else:
        say_result(result)
    if result.errors:
        raise typer.Exit(1)


def result_to_dict(result: "ImportResult") -> dict[str, Any]:
    return {
        "created": result.created,
        "changed": result.changed,
        "unchanged": result.unchanged,
        "failed": result.failed,
        "sources": result.sources,
        "links": result.links,
        "brokenLinks": result.broken_links,
        "format": result.format,
        "leftOut": dict(result.left_out),
        "attachments": result.attachments,
        "warnings": [
            {"path": problem.path, "code": problem.code, "message": problem.message} for problem in result.warnings
        ],
        "errors": [
            {"path": problem.path, "code": problem.code, "message": problem.message} for problem in result.errors
        ],
    }


def say_result(result: "ImportResult") -> None:
    say(
        f"{result.created} created, {result.changed} changed, {result.unchanged} unchanged, {result.failed} failed; "
        f"{result.links} links, {result.broken_links} broken; {result.sources} new sources; "
        f"{result.attachments} new attachments."
    )
    left = ", ".join(f"{count:,} {kind}" for kind, count in result.left_out.items())
    say(f"Read as {KINDS[result.format]}. {f'Skipped files: {left}' if left else 'No files were skipped'}.")
    if result.warnings:
        print_table(
            ["file", "code", "warning"], [(problem.path, problem.code, problem.message) for problem in result.warnings]
        )
    if result.errors:
        print_table(
            ["file", "code", "error"], [(problem.path, problem.code, problem.message) for problem in result.errors]
        )


if TYPE_CHECKING:
    from db.database import Database
    from resolvers.import_export.export_files import ExportResult


def add_exporting(parent: typer.Typer) -> None:
    epilog = (
        "Example: cairn export ~/wiki --tenant acme --owner mara; "
        "cairn export wiki.zip --history --tenant acme --owner mara"
    )
    parent.command("export", epilog=epilog)(export_notes)


def export_notes(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH", help="Folder (new, empty or an earlier export), .zip archive or .jsonl file to write."
        ),
    ],
    tenant: Tenant,
    owner: Owner,
    history: Annotated[bool, typer.Option("--history", help="Include all earlier versions of each page.")] = False,
    as_json: AsJson = False,
) -> None:
    """Export a wiki. Includes archived pages, sources and mentions, so that `cairn import` restores the same wiki.
    Exits with 1 if an entry could not be written; the export then contains everything else."""
    from db.scope import Role
    from resolvers.import_export.export_files import export_path
    from resolvers.transactions.audit import MACHINE, Event, audit_in_own_transaction

    from ..progress import progress
    from ..session import find_wiki, run_in_session

    if path == Path("-"):
        raise typer.BadParameter(
            "an export cannot be written to stdout: give a folder, or a file that ends in .zip or .jsonl"
        )

    async def work(database: "Database") -> "ExportResult":
        wiki = await find_wiki(database, tenant, owner)
        with progress() as report:
            exported = await export_path(database, wiki.scope(Role.READER), path, history=history, report=report)
        detail = {"pages": exported.pages, "sources": exported.sources, "history": history}
        await audit_in_own_transaction(database, wiki.tenant.id, MACHINE, Event.WIKI_EXPORTED, wiki.owner.id, **detail)
        return exported

    result = run_in_session(work)
    if as_json:
        errors = [{"path": problem.path, "code": problem.code, "message": problem.message} for problem in result.errors]
        summary = {"pages": result.pages, "sources": result.sources, "path": str(path)}
        print_json(summary | {"failed": result.failed, "errors": errors})
    else:
        say(f"Exported {result.pages} pages and {result.sources} sources to {path}.")
        if result.failed:
            say(
                f"{result.failed} could not be written. The export lists them in .cairn/errors.jsonl, or "
                "in its last lines."
            )
            print_table(
                ["file", "code", "error"], [(problem.path, problem.code, problem.message) for problem in result.errors]
            )
    if result.failed:
        raise typer.Exit(1)


def add_to(parent: typer.Typer) -> None:
    add_importing(parent)
    add_exporting(parent)
