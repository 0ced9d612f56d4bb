"""Which requests stream: WebSockets, and those that accept events. The endpoint behind the doors answers the others."""

from starlette.types import ASGIApp, Receive, Scope, Send

from .origins import is_same_site
from .sse import EventStream, wants_events
from .streams import Streams
from .websocket import Connection, refuse


def before(endpoint: ASGIApp, streams: Streams) -> ASGIApp:
    """The endpoint, with the doors of what streams before it."""

    async def choose(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await connect(streams, scope, receive, send)
        elif wants_events(scope):
            await EventStream(streams, scope, receive, send).serve()
        else:
            await endpoint(scope, receive, send)

    return choose


async def connect(streams: Streams, scope: Scope, receive: Receive, send: Send) -> None:
    if is_same_site(scope, streams.origins):
        await Connection(streams, scope, receive, send).serve()
    else:
        await refuse(receive, send)
