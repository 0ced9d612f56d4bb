"""Routes the streaming requests of the GraphQL endpoint: WebSockets, and requests that accept events."""

from collections.abc import Awaitable
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from lib.addresses import PORTS

from ..http.request import header
from .sse import EventStream
from .streams import Streams
from .websocket import WebSocketConnection, refuse


def is_same_site(scope: Scope, allowed: frozenset[str]) -> bool:
    """Return whether the request's Origin is this host, or allowed, or missing, as in requests of programs."""
    origin = header(scope, b"origin")
    if origin is None or origin in allowed or "*" in allowed:
        return True
    site = authority(origin)
    return site is not None and site == authority(f"//{header(scope, b'host') or ''}", urlsplit(origin).scheme)


def authority(url: str, scheme: str = "") -> tuple[str, int | None] | None:
    """Return the host and port of a URL, by default the port of its scheme. Return None for an invalid URL or `null`.

    `scheme` is used for a URL without one.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    return (host.lower(), port or PORTS.get(parts.scheme or scheme)) if host else None


def streaming_endpoint(streams: Streams) -> ASGIApp:
    """Return the application that serves WebSockets and event streams."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await EventStream(streams, scope, receive, send).serve()
        elif is_same_site(scope, streams.origins):
            await WebSocketConnection(streams, scope, receive, send).serve()
        else:
            await refuse(receive, send)

    return serve


def without_streams(endpoint: ASGIApp) -> ASGIApp:
    """Return the endpoint with a refusal of WebSockets, for an endpoint that has no streams."""

    def choose(scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        return refuse(receive, send) if scope["type"] == "websocket" else endpoint(scope, receive, send)

    return choose
