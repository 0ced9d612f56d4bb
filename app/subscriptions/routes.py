"""Which requests stream: WebSockets, and those that accept events. The endpoint behind them answers the others."""

from collections.abc import Awaitable

from starlette.types import ASGIApp, Receive, Scope, Send

from .origins import is_same_site
from .sse import EventStream, wants_events
from .streams import Streams
from .websocket import Connection, refuse


def before(endpoint: ASGIApp, streams: Streams) -> ASGIApp:
    """The endpoint, with the streaming endpoints before it."""

    def choose(scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] == "websocket":
            return connect(streams, scope, receive, send)
        if wants_events(scope):
            return EventStream(streams, scope, receive, send).serve()
        return endpoint(scope, receive, send)

    return choose


def without(endpoint: ASGIApp) -> ASGIApp:
    """The endpoint, where nothing streams."""

    def choose(scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        return refuse(receive, send) if scope["type"] == "websocket" else endpoint(scope, receive, send)

    return choose


async def connect(streams: Streams, scope: Scope, receive: Receive, send: Send) -> None:
    if is_same_site(scope, streams.origins):
        await Connection(streams, scope, receive, send).serve()
    else:
        await refuse(receive, send)
