"""One structured line a request, with an id that the client gets too. No argument values, ever."""

import logging
import sys
import time
from typing import Any

import orjson
import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from db.ids import new_id

from .request import header
from .settings import Settings

log = structlog.get_logger()


def configure(settings: Settings) -> None:
    """Everything that is logged, ours or a library's, goes to stderr in one form."""
    console = settings.log_format == "console"
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    bare = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)  # locals are what a client has sent
    traced = structlog.processors.ExceptionRenderer(bare)
    shown: list[Any] = [plain] if console else [traced, structlog.processors.JSONRenderer(as_text)]
    level = getattr(logging, settings.log_level.upper())
    structlog.configure(
        processors=[*shared, *shown],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=[
        structlog.stdlib.ProcessorFormatter.remove_processors_meta, *shown
    ]))  # fmt: skip
    logging.basicConfig(handlers=[handler], level=level, force=True)
    for noisy in ("uvicorn.access", "httpx", "httpcore"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def as_text(record: Any, **options: Any) -> str:
    return orjson.dumps(record, **options).decode()


class RequestLog:
    """Gives each request an id, answers with it, and logs the request once it is over."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = known_id(header(scope, b"x-request-id")) or new_id().hex
        structlog.contextvars.bind_contextvars(request_id=request_id)
        started, status = time.perf_counter(), 500

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
            await send(message)

        try:
            await self.app(scope, receive, noting)
        finally:
            took = round((time.perf_counter() - started) * 1000, 2)
            log.info("request", method=scope["method"], path=scope["path"], status=status, ms=took)


def known_id(given: str | None) -> str | None:
    """A client's own id, when it is one that can stand in a log."""
    return given if given and len(given) <= 64 and given.replace("-", "").isalnum() and given.isascii() else None
