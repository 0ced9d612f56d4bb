"""A client's connection: what is no body is read only so far, and a request is waited for only so long.

uvicorn reads heads and trailers without an end, and waits for them for ever; nobody has shown a credential by then.
"""

import asyncio
from typing import Any

from .errors import error_body
from .exchange import rendered
from .headers import FIXED
from .request import PATIENCE, WHOLE
from .upgrades import KeepingToHTTP

MOST = 65_536
"""Bytes of the line, the headers and the trailers of a request, counted in all that comes before it begins."""

MAPPED = "::ffff:"


class Connection(KeepingToHTTP):
    """`unread` is how much came since the last request began that was no body of it."""

    late: asyncio.TimerHandle | None = None
    unread = 0
    has_body = has_left = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.client = plain(self.client)
        self.wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self.wait_no_more()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        self.has_left = True
        self.wait_no_more()
        super().handle_websocket_upgrade()

    def data_received(self, data: bytes) -> None:
        cycle, self.has_body = self.cycle, False
        super().data_received(data)
        if self.cycle is not cycle:
            self.begun()
        elif not self.has_body:
            self.count(len(data))

    def begun(self) -> None:
        """A request, and mostly all of it is there by now: then nobody has to wait for its body."""
        self.unread = 0
        if self.late is not None:
            self.wait_no_more()
        if not self.cycle.more_body:
            self.scope[WHOLE] = bytes(self.cycle.body)  # type: ignore[literal-required]

    def on_body(self, body: bytes) -> None:
        self.has_body = True
        super().on_body(body)

    def count(self, size: int) -> None:
        if self.has_left or self.transport.is_closing():
            return
        self.unread += size
        if self.unread > MOST:
            self.refuse(431, f"The head of the request is larger than {MOST} bytes.", "LIMIT_EXCEEDED")
        elif self.late is None and self.is_idle:
            self.wait()

    @property
    def is_idle(self) -> bool:
        """Is nothing being answered?"""
        return self.cycle is None or self.cycle.response_complete

    def wait(self) -> None:
        self.late = self.loop.call_later(PATIENCE, self.give_up)

    def wait_no_more(self) -> None:
        if self.late is not None:
            self.late.cancel()
            self.late = None

    def give_up(self) -> None:
        self.late = None
        if self.unread:
            self.refuse(408, f"The request did not come whole within {PATIENCE} seconds.", "TIMEOUT")
        else:
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        self.refuse(400, msg, "BAD_REQUEST")

    def refuse(self, status: int, message: str, code: str) -> None:
        """The last that is said here: what follows cannot be read. Nothing, where an answer is on its way."""
        if self.is_idle:
            self.transport.write(refusal(status, error_body(message, code), self.server_state.default_headers))
        self.transport.close()


def plain(client: tuple[str, int] | None) -> tuple[str, int] | None:
    """Who asks by IPv4 at a socket of both kinds: by the address that rules about it are written with."""
    return client and (client[0].removeprefix(MAPPED), client[1])


def refusal(status: int, body: bytes, default_headers: Any) -> bytes:
    length = (b"content-length", b"%d" % len(body))
    kind, last = (b"content-type", b"application/json"), (b"connection", b"close")
    own = [pair for pair in default_headers if pair != last]
    return rendered(status, [*own, *FIXED, kind, length, last]) + body
