"""Serves the schema with Strawberry's ASGI application. It trusts the scope in the headers, and logs nothing."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import asyncpg
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.websockets import WebSocket
from strawberry.asgi import GraphQL

from .loaders import Loaders
from .schema import schema


class Endpoint(GraphQL[Any, Any]):
    """A GraphQL endpoint that creates new loaders for each request."""

    pool: asyncpg.Pool

    async def get_context(self, request: Request | WebSocket, response: Response | WebSocket) -> dict[str, Any]:
        tenant, owner = UUID(request.headers["x-tenant"]), UUID(request.headers["x-owner"])
        return {"pool": self.pool, "tenant": tenant, "owner": owner, "loaders": Loaders(self.pool, tenant)}


def create_app(dsn: str, pool_size: int) -> Starlette:
    """Serve POST /graphql."""
    endpoint = Endpoint(schema, graphql_ide=None)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with asyncpg.create_pool(
            dsn, min_size=1, max_size=pool_size, max_queries=10**9, max_inactive_connection_lifetime=0,
            server_settings={"jit": "off", "application_name": "strawberry"},
        ) as endpoint.pool:  # fmt: skip
            yield

    return Starlette(routes=[Route("/graphql", endpoint)], lifespan=lifespan)


def main() -> None:
    """Serve with the settings in the environment."""
    app = create_app(os.environ["CAIRN_DATABASE_URL"], int(os.environ["CAIRN_POOL_SIZE"]))
    uvicorn.run(app, port=int(os.environ["CAIRN_PORT"]), log_config=None, access_log=False)


if __name__ == "__main__":
    main()
