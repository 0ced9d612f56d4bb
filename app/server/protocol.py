"""The HTTP protocol of one client connection: uvicorn's own, with the limits that a server on the open internet needs.

uvicorn reads request heads and trailers of any size and waits for them without a timeout. It also drops the body of a
request that offers to switch to a protocol that is not served, as Java's HTTP client and `curl --http2` do.
"""

import asyncio
import gc
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import uvicorn
from httptools import HttpRequestParser
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from ..http.errors import error_body
from ..http.headers import SECURITY_HEADERS
from ..http.request import READ_TIMEOUT

MAX_HEAD = 65_536
"""Bytes of a request's line, headers and trailers, counted with everything else that comes before its body."""

UPGRADE_HEADERS = {b"upgrade", b"http2-settings"}
IPV4_MAPPED = "::ffff:"
REQUESTS_PER_PASS = 64  # requests that begin in one pass of the event loop: some ten milliseconds
COLLECT_AFTER = 256  # requests after which the garbage collector looks at what they made


class Intake:
    """Lets a number of requests begin in each pass of the event loop; the others wait for the next ones, in order.

    A pass handles everything that is ready, and timers and other clients wait for its end.

    The garbage collector is called here too, to look at the objects of these requests only. By itself it would begin
    when there are many more new objects than gone ones, and look at those of every request that waits.
    """

    def __init__(self) -> None:
        self.waiting: deque[HTTPConnection] = deque()
        self.begun = self.uncollected = 0

    def has_room(self) -> bool:
        """Return whether a request may begin now, and count it if so."""
        if self.begun == 0:
            asyncio.get_running_loop().call_soon(self.next_pass)
        elif self.begun >= REQUESTS_PER_PASS or self.waiting:
            return False
        self.begun += 1
        return True

    def next_pass(self) -> None:
        self.uncollected += self.begun
        self.begun = min(REQUESTS_PER_PASS, len(self.waiting))
        if self.begun:
            asyncio.get_running_loop().call_soon(self.next_pass)
        for _ in range(self.begun):
            self.waiting.popleft().begin()
        if self.uncollected >= COLLECT_AFTER and gc.isenabled():
            self.uncollected = 0
            gc.collect(1)


class Config(uvicorn.Config):
    """uvicorn's configuration, and for how many seconds a draining service goes on accepting connections."""

    drain_delay: float = 0.0
    environment: Mapping[str, str] = {}
    """Variables for workers, whose environment was made before these were known."""

    @cached_property
    def intake(self) -> Intake:
        """Return the intake that all connections of this process share."""
        return Intake()


class HTTPConnection(HttpToolsProtocol):
    """A client connection that answers 431 to a head that is too large and 408 to one that does not arrive in time.

    Offers to switch protocols, other than to a WebSocket, are ignored, and the request is answered over HTTP/1.1.
    """

    config: Config
    head_timer: asyncio.TimerHandle | None = None
    unread = 0
    """Bytes received since the last request began that were not part of a body."""
    has_body = False
    is_websocket = False
    buffered = b""
    """What was received and waits for its pass of the event loop."""
    received = b""
    without_offer: bytes | None = None

    # -- limits on the head

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.client = without_mapping(self.client)
        self.start_head_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self.buffered = b""
        self.stop_head_timer()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        self.is_websocket = True
        self.stop_head_timer()
        super().handle_websocket_upgrade()

    def data_received(self, data: bytes) -> None:
        if self.buffered:
            self.buffered += data
        elif self.is_idle and not self.config.intake.has_room():
            self.buffer(data)
        else:
            self.take(data)

    def buffer(self, data: bytes) -> None:
        """Leave a request for a later pass of the event loop, and what comes after it with the client."""
        self._unset_keepalive_if_required()
        self.buffered = data
        self.flow.pause_reading()
        self.config.intake.waiting.append(self)

    def begin(self) -> None:
        """Take what was kept, unless the connection is gone."""
        if self.buffered:
            data, self.buffered = self.buffered, b""
            self.flow.resume_reading()
            self.take(data)

    def shutdown(self) -> None:
        self.begin()
        super().shutdown()

    def take(self, data: bytes) -> None:
        request, self.has_body = self.cycle, False
        self.parse(data)
        if self.cycle is not request:
            self.unread = 0
            self.stop_head_timer()
        elif not self.has_body:
            self.count_head(len(data))
        elif self.is_idle:  # the rest of a body whose request was answered before it had arrived
            self.start_keep_alive_timer()

    def on_body(self, body: bytes) -> None:
        self.has_body = True
        super().on_body(body)

    def count_head(self, size: int) -> None:
        if self.is_websocket or self.transport.is_closing():
            return
        self.unread += size
        if self.unread > MAX_HEAD:
            self.refuse(431, f"The head of the request is larger than {MAX_HEAD} bytes.", "LIMIT_EXCEEDED")
        elif self.head_timer is None and self.is_idle:
            self.start_head_timer()

    @property
    def is_idle(self) -> bool:
        """Return whether the connection answers no request."""
        return self.cycle is None or self.cycle.response_complete

    def start_head_timer(self) -> None:
        self.head_timer = self.loop.call_later(READ_TIMEOUT, self.head_timed_out)

    def stop_head_timer(self) -> None:
        if self.head_timer is not None:
            self.head_timer.cancel()
            self.head_timer = None

    def head_timed_out(self) -> None:
        self.head_timer = None
        if self.unread:
            self.refuse(408, f"The request did not arrive within {READ_TIMEOUT} seconds.", "TIMEOUT")
        else:
            self.transport.close()

    def start_keep_alive_timer(self) -> None:
        self._unset_keepalive_if_required()
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)

    def send_400_response(self, msg: str) -> None:
        self.refuse(400, msg, "BAD_REQUEST")

    def refuse(self, status: int, message: str, code: str) -> None:
        """Answer with an error, unless an answer is on its way, and close the connection."""
        if self.is_idle:
            self.transport.write(refusal(status, error_body(message, code), self.server_state.default_headers))
        self.transport.close()

    # -- offers of other protocols

    def parse(self, data: bytes) -> None:
        """Feed uvicorn's parser, and feed a head that offers another protocol once more without the offer."""
        self.received = data
        super().data_received(data)
        while self.without_offer is not None:
            self.received, self.without_offer = self.without_offer, None
            super().data_received(self.received)
        self.received = b""

    def on_headers_complete(self) -> None:
        if not self.has_ignored_offer:
            super().on_headers_complete()

    def on_message_complete(self) -> None:
        if not self.has_ignored_offer:
            super().on_message_complete()

    @property
    def has_ignored_offer(self) -> bool:
        """Return whether the parser stops at an offer that is not accepted. CONNECT has none: it is refused."""
        return self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT" and not self._should_upgrade()

    def _should_upgrade(self) -> bool:
        """Return whether to open a WebSocket, which takes a GET."""
        return self.parser.get_method() == b"GET" and super()._should_upgrade()

    def _unsupported_upgrade_warning(self) -> None:
        """Handle the parser's error, whose argument is where the head ended; uvicorn calls this meanwhile."""
        error = sys.exception()
        if error is not None and self.parser.get_method() != b"CONNECT" and not self._should_upgrade():
            self.without_offer = b"".join(self.head_without_offer()) + self.received[error.args[0] :]
            self.parser = HttpRequestParser(self)
            self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn does

    def head_without_offer(self) -> Iterator[bytes]:
        yield b"%b %b HTTP/%b\r\n" % (self.parser.get_method(), self.url, self.parser.get_http_version().encode())
        for name, value in self.headers:
            buffered = without_upgrade(value) if name == b"connection" else value
            if name not in UPGRADE_HEADERS and (buffered or name != b"connection"):
                yield b"%b: %b\r\n" % (name, buffered)
        yield b"\r\n"


def without_mapping(client: tuple[str, int] | None) -> tuple[str, int] | None:
    """The plain IPv4 address of a client at a dual-stack socket, as settings about addresses write it."""
    return client and (client[0].removeprefix(IPV4_MAPPED), client[1])


def without_upgrade(options: bytes) -> bytes:
    """The value of a Connection header without the options that belong to an offer."""
    return b", ".join(part for part in map(bytes.strip, options.split(b",")) if part.lower() not in UPGRADE_HEADERS)


def refusal(status: int, body: bytes, default_headers: Any) -> bytes:
    """A whole response that is the last on its connection."""
    close = (b"connection", b"close")
    own = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body)), close]
    headers = [*(pair for pair in default_headers if pair != close), *SECURITY_HEADERS, *own]
    return b"".join([STATUS_LINE[status], *(b"%b: %b\r\n" % pair for pair in headers), b"\r\n", body])
