"""Is the process alive, and can it serve?"""

import asyncio

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from db.database import Database


def health_routes(database: Database) -> list[BaseRoute]:
    """/healthz asks nobody; /readyz asks Postgres and gives it two seconds."""

    async def alive(request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(request: Request) -> Response:
        try:
            async with asyncio.timeout(2):
                await database.ping()
        except Exception as error:
            return JSONResponse({"status": "unavailable", "reason": type(error).__name__}, status_code=503)
        return JSONResponse({"status": "ok"})

    return [Route("/healthz", alive), Route("/readyz", ready)]
