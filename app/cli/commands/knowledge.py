"""Commands for agents: knowledge entries, the MCP server and its tools."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..options import AsJson, Owner, Tenant
from ..output import print_json, say
from .admin.keys import Role, RoleOption

if TYPE_CHECKING:
    from db.database import Database

    from ...mcp.seed import Seeded

app = typer.Typer(help="Manage the knowledge entries of a wiki.", no_args_is_help=True)


def add_knowledge(parent: typer.Typer) -> None:
    parent.add_typer(app, name="knowledge", epilog="Example: cairn knowledge seed --help")


@app.callback()
def group() -> None:
    """Manage the knowledge entries of a wiki."""


@app.command("seed", epilog="Example: cairn knowledge seed ./knowledge --tenant acme --owner mara")
def seed(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder of .md files. The first line of each can be `tags: a,b`.")
    ],
    tenant: Tenant,
    owner: Owner,
    as_json: AsJson = False,
) -> None:
    """Create knowledge entries from files. Each file is named after its topic; known topics are skipped. Exits with 1
    if a file was refused."""
    from resolvers.errors import BadInput

    from ..session import run_in_session

    if not folder.is_dir():
        raise BadInput(f"There is no folder {folder}.", "path")

    async def work(database: "Database") -> "Seeded":
        from ...mcp.seed import load_seed_files, seed_scope

        return await load_seed_files(database, await seed_scope(database, tenant, owner), folder)

    result = run_in_session(work)
    if as_json:
        refused = [{"file": file, "reason": reason} for file, reason in result.refused]
        print_json({"made": result.made, "known": result.known, "refused": refused})
    else:
        for file, reason in result.refused:
            say(f"{file}: {reason}")
        say(f"{len(result.made)} created, {result.known} unchanged, {len(result.refused)} refused.")
    if result.refused:
        raise typer.Exit(1)


if TYPE_CHECKING:
    from db.database import Database


def add_mcp(parent: typer.Typer) -> None:
    parent.command("mcp", epilog="Example: cairn mcp --tenant acme --owner mara --role reader")(mcp)


def mcp(tenant: Tenant, owner: Owner, role: RoleOption = Role.MEMBER) -> None:
    """Run the MCP server over stdio until stdin is closed. `cairn serve` offers the same tools over HTTP at /mcp."""
    from ...observability.logging import configure
    from ...settings import Settings
    from ..session import run_in_session

    settings = Settings()
    configure(settings)

    async def work(database: "Database") -> None:
        from dataclasses import replace

        from db import scope

        from ...mcp.server import serve
        from ..session import find_wiki

        found = (await find_wiki(database, tenant, owner)).scope(scope.Role(role))
        agent = scope.Actor(scope.ActorKind.AGENT, "cairn mcp")
        await serve(settings, database, replace(found, actor=agent))

    run_in_session(work)


def add_tools(parent: typer.Typer) -> None:
    parent.command("tools", epilog="Example: cairn tools --json")(tools)


def tools(as_json: AsJson = False) -> None:
    """List the MCP tools, or with --json their schemas as well. No database is needed."""
    from ...mcp.catalogue import TOOLSETS

    definitions = [tool.definition() for tool in (*TOOLSETS["all"], *TOOLSETS["chat"])]
    if as_json:
        print_json([tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in definitions])
        return
    for tool in definitions:
        arguments = ", ".join(tool.input_schema.get("properties", {}))
        say(f"{tool.name}({arguments})\n    {tool.description}")


def add_to(parent: typer.Typer) -> None:
    add_knowledge(parent)
    add_mcp(parent)
    add_tools(parent)
