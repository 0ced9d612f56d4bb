"""Logging: one structured line per request, with an id that the client gets too, and without values of arguments."""

import logging
import os
import re
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from random import getrandbits
from time import perf_counter, time_ns
from typing import Any, TextIO, cast

import orjson
import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from observability.trace import CLIENT_ADDRESS, REQUEST_TRACE, RequestTrace

from ..http.headers import Headers, defaults_adder
from ..http.request import header
from ..settings import Settings
from .observer import Observer

log = structlog.get_logger()


class Stderr:
    """Writes to stderr, and drops what cannot be written.

    A full disk, or a reader of the pipe that has ended, must not fail a request or end a background task.
    """

    def write(self, text: str) -> None:
        with suppress(OSError):
            sys.stderr.write(text)

    def flush(self) -> None:
        with suppress(OSError):
            sys.stderr.flush()


def configure(settings: Settings) -> None:
    """Send all log entries of Cairn and of its libraries to stderr in the same format."""
    console = settings.log_format == "console"
    shared: list[Any] = [
        of_request,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        of_process(os.getpid()),
    ]
    plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    bare = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)  # local variables may hold client values
    traced = structlog.processors.ExceptionRenderer(bare)
    renderers: list[Any] = [escape_controls, plain] if console else [traced, structlog.processors.JSONRenderer(as_text)]
    level = getattr(logging, settings.log_level.upper())
    structlog.configure(
        processors=[*shared, *renderers],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(cast(TextIO, Stderr())),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=[
        structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderers
    ]))  # fmt: skip
    logging.basicConfig(handlers=[handler], level=level, force=True)
    for noisy in ("uvicorn.access", "httpx", "httpcore"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def of_request(_: Any, __: str, record: structlog.types.EventDict) -> structlog.types.EventDict:
    """Add the ids of the request and of its trace, and the caller's labels, to each entry logged during a request."""
    if trace := REQUEST_TRACE.get():
        record.setdefault("request_id", trace.request_id)
        if trace.trace_id:
            record.setdefault("trace_id", trace.trace_id)
        for name, value in trace.caller_labels.items():
            record.setdefault(name, value)
    return record


def escape_controls(_: Any, __: str, record: structlog.types.EventDict) -> structlog.types.EventDict:
    """Escape control characters in texts, such as the path of a request, so that no client controls the terminal."""
    return {name: escaped(value) if isinstance(value, str) else value for name, value in record.items()}


def escaped(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


def of_process(pid: int) -> structlog.types.Processor:
    """Return a processor that adds the id of the process, because several processes write to the same stream."""
    return lambda _, __, record: {**record, "pid": pid}


def as_text(record: Any, **options: Any) -> str:
    return orjson.dumps(record, **options).decode()


class RequestLog:
    """Middleware that gives each request an id and a trace, returns the id in a header, and logs the request."""

    def __init__(
        self, app: ASGIApp, settings: Settings, headers: Headers | None = None, observers: Sequence[Observer] = ()
    ) -> None:
        """Wrap an application. `headers` are added to every response that does not set them itself."""
        self.app, self.write, self.observers = app, writer(settings), observers
        self.with_defaults = defaults_adder(headers or [])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = scope.get("client")
        CLIENT_ADDRESS.set(client[0] if client else None)
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = loggable_id(header(scope, b"x-request-id")) or new_request_id()
        trace, status = RequestTrace(request_id), 500
        trace.client = client_of(scope)
        REQUEST_TRACE.set(trace)
        for observer in self.observers:
            observer.begin(trace, scope)

        def send_with_id(message: Message) -> Awaitable[None]:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = self.with_defaults(message["headers"])
                message["headers"].append((b"x-request-id", request_id.encode()))
            return send(message)

        try:
            await self.app(scope, receive, send_with_id)
        finally:
            trace.ended = perf_counter()
            ms = int((trace.ended - trace.began) * 100_000) / 100  # round() takes ten times as long
            self.write(trace, scope["method"], trace.path or scope["path"], status, ms)
            for observer in self.observers:
                observer.end(trace, scope, status)


Write = Callable[[RequestTrace, str, str, int, float], None]


def writer(settings: Settings) -> Write:
    """Return the function that logs a request. JSON is written without structlog, since all fields are known here."""
    if settings.log_level not in ("debug", "info"):
        return lambda *_: None
    return write_console if settings.log_format == "console" else partial(write_json, os.getpid())


def write_console(_: RequestTrace, method: str, path: str, status: int, ms: float) -> None:
    log.info("request", method=method, path=path, status=status, ms=ms)


def write_json(pid: int, trace: RequestTrace, method: str, path: str, status: int, ms: float) -> None:
    record = {
        "method": method, "path": path, "status": status, "ms": ms, "event": "request",
        "request_id": trace.request_id, "level": "info", "timestamp": datetime.now(UTC), "pid": pid,
        **trace.caller_labels,
    }  # fmt: skip
    if trace.trace_id:
        record["trace_id"] = trace.trace_id
    line = orjson.dumps(record, option=orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE)
    with suppress(OSError):
        sys.stderr.buffer.write(line)
        sys.stderr.buffer.flush()


CLIENT = re.compile(r"[A-Za-z0-9][\w.-]{0,39}", re.ASCII)


def client_of(scope: Scope) -> str | None:
    """Return the name of the client program, from Apollo's client name header or the start of its `User-Agent`."""
    name = header(scope, b"apollographql-client-name") or header(scope, b"user-agent") or ""
    found = CLIENT.match(name)
    return found and found[0]


def new_request_id() -> str:
    """Return a new id of 32 hexadecimal digits that sorts by time. Ids are unique, but need not be hard to guess."""
    return (time_ns() // 1_000_000 << 80 | getrandbits(80)).to_bytes(16, "big").hex()


def loggable_id(id: str | None) -> str | None:
    """Return the client's request id if it is safe to log: up to 64 ASCII letters, digits and hyphens. Else None."""
    return id if id and len(id) <= 64 and id.replace("-", "").isalnum() and id.isascii() else None
