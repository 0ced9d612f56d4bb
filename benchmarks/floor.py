"""The floor: a Starlette server that knows three statements by heart and passes on what Postgres answers.

It does no authentication, reads no GraphQL, checks no limits, logs nothing and trusts whom it is told by: what is above
it in cost is what Cairn adds.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import asyncpg
import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.settings import Settings
from db.database import prepare_connection

from .operations import OPERATIONS


def create_floor(dsn: str, pool_size: int) -> Starlette:
    """POST /<operation> with {"tenant", "owner", …variables}."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        settings = {"jit": "off", "application_name": "floor"}
        async with asyncpg.create_pool(
            dsn, min_size=1, max_size=pool_size, max_queries=10**9, init=prepare_connection, reset=clean,
            server_settings=settings,
        ) as app.state.pool:  # fmt: skip
            yield

    async def answer(request: Request) -> Response:
        given = orjson.loads(await request.body())
        operation = OPERATIONS[request.path_params["name"]]
        arguments = [given[name] for name in operation.arguments]
        async with app.state.pool.acquire() as connection:
            data = await connection.fetchval(operation.sql, UUID(given["tenant"]), UUID(given["owner"]), *arguments)
        return Response(b'{"data":%b}' % data, media_type="application/json")

    app = Starlette(routes=[Route("/{name}", answer, methods=["POST"])], lifespan=lifespan)
    return app


async def clean(connection: asyncpg.Connection) -> None:
    """Nothing is left behind: the usual reset would be a round trip for nothing."""


def main() -> None:
    """Serve as the settings say."""
    settings = Settings()
    assert settings.database_url is not None
    app = create_floor(settings.database_url, settings.pool_size)
    uvicorn.run(app, port=settings.port, log_config=None, access_log=False)


if __name__ == "__main__":
    main()
