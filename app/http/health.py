"""Liveness and readiness: whether the process is alive, whether it can serve, and if not, why."""

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
CACHED_FOR = 1.0  # seconds that the result of a check of the database is reused
UNREACHABLE = ("database", "The database cannot be reached.")
REASONS = {
    "disk_full": ("disk_full", "The database has no room on its disk."),
    "files": ("disk_full", "The database cannot write its files."),
    "timeout": ("timeout", f"The database gave no answer within {ANSWER_TIMEOUT:g} seconds."),
}


class NotReady(Exception):
    """The process cannot serve. `reason` is for machines and `detail` for people; neither shows database internals."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.detail = reason, detail


def health_routes(database: Database) -> list[BaseRoute]:
    """Return the routes /healthz, which checks nothing, and /readyz, which checks the database.

    The check waits ANSWER_TIMEOUT for an answer, on a connection of its own: it does not queue for the pool.
    """
    readiness = Readiness(database)

    async def alive(request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(request: Request) -> Response:
        try:
            await readiness.check()
        except NotReady as error:
            body = {"status": "unavailable", "reason": error.reason, "detail": error.detail}
            return JSONResponse(body, status_code=503)
        return JSONResponse({"status": "ok"})

    return [Route("/healthz", alive), Route("/readyz", ready)]


class Readiness:
    """Checks whether the process can serve requests. It checks the database once a second at most."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.lock = asyncio.Lock()
        self.checked_at = -CACHED_FOR
        self.problem: NotReady | None = None

    async def check(self) -> None:
        """Raise NotReady if the process cannot serve requests."""
        if DRAINING.is_on:
            raise NotReady("draining", "This process was told to stop and takes no new clients.")
        async with self.lock:
            if time.monotonic() - self.checked_at >= CACHED_FOR:
                self.problem = await self.find_problem()
                self.checked_at = time.monotonic()
        if self.problem:
            raise NotReady(self.problem.reason, self.problem.detail)

    async def find_problem(self) -> NotReady | None:
        """Return why the database cannot serve requests, or None if it can."""
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
