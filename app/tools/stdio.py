"""MCP over stdin and stdout, for a client that starts the server itself."""

from mcp.server.stdio import stdio_server

from app.bounds import Bounds
from app.settings import Settings
from db.database import Database
from db.scope import Scope

from .caller import Reach
from .server import make_server


async def serve(settings: Settings, database: Database, scope: Scope) -> None:
    """Until stdin ends. The scope is fixed: whoever starts the process says whose wiki it is."""
    reach = Reach(database, Bounds.of(settings, database), lists_older_names=settings.tools_older_names)
    server = make_server(lambda asked: reach.caller(scope))
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
