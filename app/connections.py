"""A client's connection: what is no body is read only so far, and a request is waited for only so long.

uvicorn reads heads and trailers without an end, and waits for them for ever; nobody has shown a credential by then. A
head that came before is not read again (decision 51), and connections on which nothing is asked share one timer.
"""

import asyncio
from typing import Any

from .draining import Config
from .errors import error_body
from .exchange import WholeExchange, rendered
from .headers import FIXED
from .heads import Head
from .request import PATIENCE, WHOLE
from .upgrades import KeepingToHTTP

MOST = 65_536
"""Bytes of the line, the headers and the trailers of a request, counted in all that comes before it begins."""

MAPPED = "::ffff:"


class Connection(KeepingToHTTP):
    """`unread` is how much came since the last request began that was no body of it."""

    config: Config
    scope: Any  # uvicorn's type of it is not public
    late: asyncio.TimerHandle | None = None
    unread = 0
    has_body = has_left = False
    is_between = True  # has all been read that began?

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.client = plain(self.client)
        self.wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self.wait_no_more()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        self.has_left = True
        self.wait_no_more()
        super().handle_websocket_upgrade()

    def data_received(self, data: bytes) -> None:
        if not (self.is_between and self.is_idle):
            self.read(data)
        elif (known := self.config.heads.met(data)) is not None:
            self.begin(*known)
        else:
            self.read(data, is_first=True)

    def begin(self, head: Head, body: bytes) -> None:
        """A request whose head need not be read."""
        self._unset_keepalive_if_required()
        scope = head.scope()
        scope["client"], scope["server"], scope["scheme"] = self.client, self.server, self.scheme
        scope["state"], scope[WHOLE] = self.app_state.copy(), body
        self.scope = scope
        self.cycle = WholeExchange(self, body)
        self.begun()
        self._start_asgi_task(self.cycle, self.app)

    def read(self, data: bytes, is_first: bool = False) -> None:
        """By the parser, which stands between two requests where it `is_first`, with nothing left to answer."""
        cycle, self.has_body = self.cycle, False
        super().data_received(data)
        if self.cycle is cycle:
            if not self.has_body:
                self.count(len(data))
            elif self.is_idle:  # the rest of what was answered before it had come whole
                self.rest()
            return
        self.begun()
        if not self.cycle.more_body:
            body = self.scope[WHOLE] = bytes(self.cycle.body)
            if is_first and self.cycle.keep_alive and not self.cycle.waiting_for_100_continue:
                self.config.heads.learn(data, self.scope, body)

    def begun(self) -> None:
        self.unread = 0
        if self.late is not None:
            self.wait_no_more()

    def on_message_begin(self) -> None:
        self.is_between = False
        super().on_message_begin()

    def on_body(self, body: bytes) -> None:
        self.has_body = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        self.is_between = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """As uvicorn has it, but that all connections share the timer that ends those which are idle for long."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        else:
            self.rest()

    def rest(self) -> None:
        """Until something comes, and not for ever."""
        self.config.idle.add(self, self.timeout_keep_alive)

    def _unset_keepalive_if_required(self) -> None:
        """uvicorn calls this when anything comes."""
        self.config.idle.remove(self)

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
