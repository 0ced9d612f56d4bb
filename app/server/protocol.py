"""The HTTP protocol of a client connection: uvicorn's, with the limits that a server on the public internet needs.

uvicorn reads request heads and trailers of any size and waits for them without a timeout. It also drops the body of a
request that offers to switch to an unsupported protocol, as Java's HTTP client and `curl --http2` do.
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
"""Bytes of a request outside of its body: the request line, the headers, the trailers and anything between them."""

UPGRADE_HEADERS = {b"upgrade", b"http2-settings"}
IPV4_MAPPED = "::ffff:"
REQUESTS_PER_PASS = 64  # requests that begin in a pass of the event loop, about ten milliseconds of work
COLLECT_AFTER = 256  # requests after which the garbage collector examines their objects


class Intake:
    """Limits how many requests begin in a pass of the event loop. The others wait, in order, for the next passes.

    A pass handles everything that is ready, and timers and other clients wait for its end.

    The intake also runs the garbage collector, on the objects of the latest requests only. Started by Python, it would
    run when many new objects exist, and examine those of all waiting requests.
    """

    def __init__(self) -> None:
        self.waiting: deque[HTTPConnection] = deque()
        self.begun = 0
        """The number of requests that began in this pass."""
        self.uncollected = 0
        """The number of requests that began since the last run of the garbage collector."""

    def has_room(self) -> bool:
        """Return whether a request may begin in this pass, and count it if so."""
        if self.begun == 0:
            asyncio.get_running_loop().call_soon(self.begin_pass)
        elif self.begun >= REQUESTS_PER_PASS or self.waiting:
            return False
        self.begun += 1
        return True

    def begin_pass(self) -> None:
        """Begin the next waiting requests."""
        self.uncollected += self.begun
        self.begun = min(REQUESTS_PER_PASS, len(self.waiting))
        if self.begun:
            asyncio.get_running_loop().call_soon(self.begin_pass)
        for _ in range(self.begun):
            self.waiting.popleft().begin()
        if self.uncollected >= COLLECT_AFTER and gc.isenabled():
            self.uncollected = 0
            gc.collect(1)


class Config(uvicorn.Config):
    """uvicorn's configuration with further options of this server."""

    drain_delay: float = 0.0
    """Seconds during which a draining service still accepts connections."""
    environment: Mapping[str, str] = {}
    """Environment variables to set in workers, which are forked from a process that lacks them."""

    @cached_property
    def intake(self) -> Intake:
        """Return the intake that all connections of this process share."""
        return Intake()


class HTTPConnection(HttpToolsProtocol):
    """A client connection that answers 431 to a head that is too large, and 408 to a head that does not arrive in time.

    It ignores offers to switch to another protocol than WebSocket, and answers such a request over HTTP/1.1.
    """

    config: Config
    head_timer: asyncio.TimerHandle | None = None
    head_size = 0
    """Bytes outside of bodies that were received since the last request began."""
    has_body = False
    """Whether the bytes that are being processed include a part of a body."""
    is_websocket = False
    buffered = b""
    """Received bytes of a request that waits for a later pass of the event loop."""
    received = b""
    """The bytes that the parser is processing."""
    replacement: bytes | None = None
    """The received bytes with a head without the offer of a protocol, to be parsed again."""

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
            self.defer(data)
        else:
            self.process(data)

    def defer(self, data: bytes) -> None:
        """Buffer a request until a later pass of the event loop, and stop reading from the client until then."""
        self._unset_keepalive_if_required()
        self.buffered = data
        self.flow.pause_reading()
        self.config.intake.waiting.append(self)

    def begin(self) -> None:
        """Process the buffered request, unless the connection is closed."""
        if self.buffered:
            data, self.buffered = self.buffered, b""
            self.flow.resume_reading()
            self.process(data)

    def shutdown(self) -> None:
        self.begin()
        super().shutdown()

    def process(self, data: bytes) -> None:
        request, self.has_body = self.cycle, False
        self.parse(data)
        if self.cycle is not request:
            self.head_size = 0
            self.stop_head_timer()
        elif not self.has_body:
            self.count_head(len(data))
        elif self.is_idle:  # the rest of a body that arrives after the response was sent
            self.start_keep_alive_timer()

    def on_body(self, body: bytes) -> None:
        self.has_body = True
        super().on_body(body)

    def count_head(self, size: int) -> None:
        if self.is_websocket or self.transport.is_closing():
            return
        self.head_size += size
        if self.head_size > MAX_HEAD:
            self.refuse(431, f"The head of the request is larger than {MAX_HEAD} bytes.", "LIMIT_EXCEEDED")
        elif self.head_timer is None and self.is_idle:
            self.start_head_timer()

    @property
    def is_idle(self) -> bool:
        """Return whether no request of this connection is in progress."""
        return self.cycle is None or self.cycle.response_complete

    def start_head_timer(self) -> None:
        self.head_timer = self.loop.call_later(READ_TIMEOUT, self.head_timed_out)

    def stop_head_timer(self) -> None:
        if self.head_timer is not None:
            self.head_timer.cancel()
            self.head_timer = None

    def head_timed_out(self) -> None:
        self.head_timer = None
        if self.head_size:
            self.refuse(408, f"The request did not arrive within {READ_TIMEOUT} seconds.", "TIMEOUT")
        else:
            self.transport.close()

    def start_keep_alive_timer(self) -> None:
        self._unset_keepalive_if_required()
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)

    def send_400_response(self, msg: str) -> None:
        self.refuse(400, msg, "BAD_REQUEST")

    def refuse(self, status: int, message: str, code: str) -> None:
        """Send an error response, unless a request is in progress, and close the connection."""
        if self.is_idle:
            self.transport.write(refusal(status, error_body(message, code), self.server_state.default_headers))
        self.transport.close()

    # -- offers to switch to another protocol

    def parse(self, data: bytes) -> None:
        """Pass the bytes to uvicorn's parser. If a head offers another protocol, parse it again without the offer."""
        self.received = data
        super().data_received(data)
        while self.replacement is not None:
            self.received, self.replacement = self.replacement, None
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
        """Return whether the parser stops at an offer that is ignored. CONNECT is no offer, and is refused."""
        return self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT" and not self._should_upgrade()

    def _should_upgrade(self) -> bool:
        """Return whether to open a WebSocket, for which the method must be GET."""
        return self.parser.get_method() == b"GET" and super()._should_upgrade()

    def _unsupported_upgrade_warning(self) -> None:
        """Prepare the head without the offer. uvicorn calls this while it handles the parser's exception.

        The argument of that exception is the position at which the head ends.
        """
        error = sys.exception()
        if error is not None and self.parser.get_method() != b"CONNECT" and not self._should_upgrade():
            self.replacement = b"".join(self.head_without_offer()) + self.received[error.args[0] :]
            self.parser = HttpRequestParser(self)
            self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn does

    def head_without_offer(self) -> Iterator[bytes]:
        yield b"%b %b HTTP/%b\r\n" % (self.parser.get_method(), self.url, self.parser.get_http_version().encode())
        for name, value in self.headers:
            remaining = without_upgrade(value) if name == b"connection" else value
            if name not in UPGRADE_HEADERS and (remaining or name != b"connection"):
                yield b"%b: %b\r\n" % (name, remaining)
        yield b"\r\n"


def without_mapping(client: tuple[str, int] | None) -> tuple[str, int] | None:
    """Return the client's address with a plain IPv4 address, as settings write it, if its socket is dual-stack."""
    return client and (client[0].removeprefix(IPV4_MAPPED), client[1])


def without_upgrade(options: bytes) -> bytes:
    """Return the value of a Connection header without the options of an offer to switch protocols."""
    return b", ".join(part for part in map(bytes.strip, options.split(b",")) if part.lower() not in UPGRADE_HEADERS)


def refusal(status: int, body: bytes, default_headers: Any) -> bytes:
    """Return the bytes of a complete response, which tells the client that the connection is closed."""
    close = (b"connection", b"close")
    own_headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body)), close]
    headers = [*(pair for pair in default_headers if pair != close), *SECURITY_HEADERS, *own_headers]
    return b"".join([STATUS_LINE[status], *(b"%b: %b\r\n" % pair for pair in headers), b"\r\n", body])
