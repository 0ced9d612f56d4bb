"""`cairn wiki migrate-typed-memories` and `migrate-insights`: create pages from files of an agent's memory."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..options import AsJson, Owner, Tenant
from ..output import print_json, say
from .history import wiki_app

if TYPE_CHECKING:
    from db.database import Database
    from resolvers.import_export.memories import Migrated

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of the files. Subfolders are ignored.")]


def add_to(parent: typer.Typer) -> None:
    place = "--tenant acme --owner mara"
    wiki_app.command("migrate-typed-memories", epilog=f"Example: cairn wiki migrate-typed-memories memory {place}")(
        typed_memories
    )
    wiki_app.command("migrate-insights", epilog=f"Example: cairn wiki migrate-insights memory/dreams {place}")(insights)


def typed_memories(folder: Folder, tenant: Tenant, owner: Owner, as_json: AsJson = False) -> None:
    """Create pages from typed memories. Files are named like feedback_small-batches.md. Exits with 1 if a file was
    refused."""
    migrate(folder, tenant, owner, as_json, is_typed=True)


def insights(folder: Folder, tenant: Tenant, owner: Owner, as_json: AsJson = False) -> None:
    """Create theme pages from files of insights. Exits with 1 if a file was refused."""
    migrate(folder, tenant, owner, as_json, is_typed=False)


def migrate(folder: Path, tenant: str, owner: str, as_json: bool, *, is_typed: bool) -> None:
    """Create pages from a folder of typed memories or of insights, and print the result."""
    from ..session import find_wiki, run_in_session

    async def work(database: "Database") -> "Migrated":
        from db.scope import Role
        from resolvers.import_export.memories import migrate_insights, migrate_typed_memories

        scope = (await find_wiki(database, tenant, owner)).scope(Role.MEMBER)
        return await (migrate_typed_memories if is_typed else migrate_insights)(database, scope, folder)

    result = run_in_session(work)
    if as_json:
        print_json({
            "pages": result.pages, "unchanged": result.unchanged, "proposed": result.proposed,
            "leftOut": result.left_out, "refused": [{"file": name, "message": why} for name, why in result.refused],
        })  # fmt: skip
    else:
        say(
            f"{len(result.pages)} pages written, {len(result.unchanged)} unchanged, {len(result.proposed)} proposed, "
            f"{len(result.left_out)} files skipped, {len(result.refused)} refused."
        )
        for name, why in result.refused:
            say(f"{name}: {why}")
    if result.refused:
        raise typer.Exit(1)
