"""Liveness and readiness: is the process alive, and can it serve? If not: why."""

import asyncio
import time

import structlog
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from db.breaker import ANSWER_TIMEOUT
from db.database import Database
from db.migrate import is_behind, is_newer, is_too_old
from resolvers.transactions.db_errors import REFUSED, cause_of, words

from ..server.server import DRAINING

log = structlog.get_logger()
LASTS = 1.0  # seconds that an answer of the database is good for
UNREACHABLE = ("database", "The database cannot be reached.")
REASONS = {
    "disk_full": ("disk_full", "The database has no room on its disk."),
    "files": ("disk_full", "The database cannot write its files."),
    "timeout": ("timeout", f"The database gave no answer within {ANSWER_TIMEOUT:g} seconds."),
}


class NotReady(Exception):
    """A reason not to serve. `reason` is for machines, the text for people; neither reveals the database."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.detail = reason, detail


def health_routes(database: Database) -> list[BaseRoute]:
    """/healthz asks nobody; /readyz asks Postgres and gives it two seconds, whatever waits for a connection."""
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
    """Everything that a request needs beside the process itself. Asked often, it asks the database once a second."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.lock = asyncio.Lock()
        self.asked = -LASTS
        self.lacking: NotReady | None = None

    async def check(self) -> None:
        """Raise NotReady, or return."""
        if DRAINING.is_on:
            raise NotReady("draining", "This process was told to stop and takes no new clients.")
        async with self.lock:
            if time.monotonic() - self.asked >= LASTS:
                self.lacking = await self.look()
                self.asked = time.monotonic()
        if self.lacking:
            raise NotReady(self.lacking.reason, self.lacking.detail)

    async def look(self) -> NotReady | None:
        try:
            condition = await self.database.condition()
            is_left_behind = is_newer(condition.revision) and is_too_old(await self.database.oldest_revision())
        except REFUSED as error:
            cause = cause_of(error)
            log.warning("not ready", cause=cause, error=type(error).__name__, message=words(error))
            return NotReady(*REASONS.get(cause, UNREACHABLE))
        except Exception as error:
            log.error("internal error", exc_info=error)
            return NotReady("internal", "The check failed. The log has the cause.")
        if is_behind(condition.revision):
            return NotReady("migrations", "The database lacks migrations. Run: cairn migrate")
        if is_left_behind:
            return NotReady("migrations", "The database was migrated past this release. Install a newer one.")
        return NotReady("read_only", "The database takes no writes.") if condition.is_read_only else None
