"""`cairn mcp`: the tools over stdin and stdout, for a client that starts them itself."""

from typing import TYPE_CHECKING

import typer

from .options import Owner, Tenant
from .roles import Role, RoleOption

if TYPE_CHECKING:
    from db.database import Database


def add_to(parent: typer.Typer) -> None:
    parent.command("mcp", epilog="Example: cairn mcp --tenant acme --owner mara --role reader")(mcp)


def mcp(tenant: Tenant, owner: Owner, role: RoleOption = Role.MEMBER) -> None:
    """Serve the tools for agents over stdio (MCP) until stdin ends. Over HTTP they are at /mcp of cairn serve."""
    from app.logging import configure
    from app.settings import Settings

    from .session import session

    settings = Settings()
    configure(settings)

    async def work(database: "Database") -> None:
        from dataclasses import replace

        from app.tools.stdio import serve
        from db import scope

        from .wikis import find_wiki

        found = (await find_wiki(database, tenant, owner)).scope(scope.Role(role))
        agent = scope.Actor(scope.ActorKind.AGENT, "cairn mcp")
        await serve(settings, database, replace(found, actor=agent))

    session(work)
