"""Liveness and readiness: is the process alive, and can it serve? If not: why."""

import asyncio

import asyncpg
import structlog
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from db.database import Database
from db.migrate import is_behind
from db.pool import Exhausted

from ..server.shutdown import DRAINING

log = structlog.get_logger()
PATIENCE = 2  # seconds


class NotReady(Exception):
    """A reason not to serve. `reason` is for machines, the text for people; neither reveals the database."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.detail = reason, detail


def health_routes(database: Database) -> list[BaseRoute]:
    """/healthz asks nobody; /readyz asks Postgres and gives it two seconds."""
    readiness = Readiness(database)

    async def alive(request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(request: Request) -> Response:
        try:
            await readiness.check()
        except NotReady as lacking:
            told = {"status": "unavailable", "reason": lacking.reason, "detail": lacking.detail}
            return JSONResponse(told, status_code=503)
        return JSONResponse({"status": "ok"})

    return [Route("/healthz", alive), Route("/readyz", ready)]


class Readiness:
    """Everything that a request needs beside the process itself."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def check(self) -> None:
        """Raise NotReady, or return."""
        if DRAINING.is_on:
            raise NotReady("draining", "This process was told to stop and takes no new clients.")
        try:
            async with asyncio.timeout(PATIENCE):
                revision = await self.database.revision()
        except TimeoutError:
            raise NotReady("timeout", f"The database gave no answer within {PATIENCE} seconds.") from None
        except Exhausted:
            raise NotReady("busy", "Every connection to the database is in use, and too many wait.") from None
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
            log.warning("not ready", error=type(error).__name__)
            raise NotReady("database", "The database cannot be reached.") from None
        except Exception as error:
            log.error("internal error", exc_info=error)
            raise NotReady("internal", "This cannot be told; the log says why.") from None
        if is_behind(revision):
            raise NotReady("migrations", "The database lacks migrations. Run: cairn migrate")
