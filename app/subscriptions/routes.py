"""Routes requests that stream: WebSockets, and those that accept events. The endpoint behind answers all others."""

from collections.abc import Awaitable
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from ..http.request import GRAPHQL_JSON, JSON, header
from .sse import EventStream
from .streams import Streams
from .websocket import WebSocketConnection, refuse

EVENTS = "text/event-stream"
PORTS = {"http": 80, "https": 443}


def is_same_site(scope: Scope, allowed: frozenset[str]) -> bool:
    """Return whether the origin is this very host, one that is allowed, or no web page: programs send no Origin."""
    origin = header(scope, b"origin")
    if origin is None or origin in allowed or "*" in allowed:
        return True
    found = authority(origin)
    return found is not None and found == authority(f"//{header(scope, b'host') or ''}", urlsplit(origin).scheme)


def authority(url: str, scheme: str = "") -> tuple[str, int | None] | None:
    """Return (host, port), with the scheme's usual port if none is written; None for what is no address, as `null`."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    return (host.lower(), port or PORTS.get(parts.scheme or scheme)) if host else None


def wants_events(scope: Scope) -> bool:
    """Return whether a client accepts events, and no JSON before them."""
    accepted = header(scope, b"accept")
    if accepted is None or "event-stream" not in accepted.lower():
        return False
    kinds = [part.partition(";")[0].strip().lower() for part in accepted.split(",")]
    return next((kind for kind in kinds if kind in (EVENTS, JSON, GRAPHQL_JSON)), None) == EVENTS


def with_streaming(endpoint: ASGIApp, streams: Streams) -> ASGIApp:
    """Return the endpoint with the streaming endpoints before it."""

    def choose(scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] == "websocket":
            return connect(streams, scope, receive, send)
        if wants_events(scope):
            return EventStream(streams, scope, receive, send).serve()
        return endpoint(scope, receive, send)

    return choose


def without(endpoint: ASGIApp) -> ASGIApp:
    """Return the endpoint without streams."""

    def choose(scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        return refuse(receive, send) if scope["type"] == "websocket" else endpoint(scope, receive, send)

    return choose


async def connect(streams: Streams, scope: Scope, receive: Receive, send: Send) -> None:
    if is_same_site(scope, streams.origins):
        await WebSocketConnection(streams, scope, receive, send).serve()
    else:
        await refuse(receive, send)
