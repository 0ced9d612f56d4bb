"""One structured line a request, with an id that the client gets too. No argument values, ever."""

import logging
import sys
import time
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from random import getrandbits
from typing import Any

import orjson
import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .request import header
from .settings import Settings

log = structlog.get_logger()
REQUEST_ID: ContextVar[str | None] = ContextVar("request_id", default=None)


def configure(settings: Settings) -> None:
    """Everything that is logged, ours or a library's, goes to stderr in one form."""
    console = settings.log_format == "console"
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        with_request_id,
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


def with_request_id(logger: Any, method: str, record: Any) -> Any:
    """Whatever is logged in the course of a request says which."""
    if request_id := REQUEST_ID.get():
        record.setdefault("request_id", request_id)
    return record


class RequestLog:
    """Gives each request an id, answers with it, and logs the request once it is over."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app, self.write = app, writer(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = known_id(header(scope, b"x-request-id")) or new_request_id()
        REQUEST_ID.set(request_id)
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
            self.write({"method": scope["method"], "path": scope["path"], "status": status, "ms": took}, request_id)


Write = Callable[[dict[str, Any], str], None]


def writer(settings: Settings) -> Write:
    """How the line of a request is written. JSON goes straight to the stream: all of its fields are known here."""
    if settings.log_level not in ("debug", "info"):
        return lambda record, request_id: None
    if settings.log_format == "console":
        return lambda record, request_id: log.info("request", **record)
    return write_json


def write_json(record: dict[str, Any], request_id: str) -> None:
    moment = datetime.now(UTC)
    record |= {"event": "request", "request_id": request_id, "level": "info", "timestamp": moment}
    stream = sys.stderr.buffer
    stream.write(orjson.dumps(record, option=orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE))
    stream.flush()


def new_request_id() -> str:
    """32 hexadecimal digits that sort by time, like our other ids. They must differ, and may be guessed."""
    return f"{time.time_ns() // 1_000_000:012x}{getrandbits(80):020x}"


def known_id(given: str | None) -> str | None:
    """A client's own id, when it is one that can stand in a log."""
    return given if given and len(given) <= 64 and given.replace("-", "").isalnum() and given.isascii() else None
