"""Offers to switch to another protocol, such as `Upgrade: h2c`, are passed over, and the request is answered as it is.

Java's own client and `curl --http2` offer that with their first request. httptools stops reading where such a head
ends, and uvicorn would answer the request as if it had no body.
"""

import sys
from collections.abc import Iterator

from httptools import HttpRequestParser
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

OFFERED = {b"upgrade", b"http2-settings"}


class KeepingToHTTP(HttpToolsProtocol):
    """WebSockets alone are switched to. A head that offers anything else is read once more without the offer."""

    fed = b""
    again: bytes | None = None

    def data_received(self, data: bytes) -> None:
        self.fed = data
        super().data_received(data)
        while self.again is not None:
            self.fed, self.again = self.again, None
            super().data_received(self.fed)
        self.fed = b""

    def on_headers_complete(self) -> None:
        if not (self.parser.should_upgrade() and self.is_offered):
            super().on_headers_complete()

    def on_message_complete(self) -> None:
        if not (self.parser.should_upgrade() and self.is_offered):
            super().on_message_complete()

    def _should_upgrade(self) -> bool:
        """A WebSocket is opened by a GET; to anything else nobody would answer."""
        return self.parser.get_method() == b"GET" and super()._should_upgrade()

    @property
    def is_offered(self) -> bool:
        """What could be switched to, and is not. CONNECT offers nothing: it asks for what is never done."""
        return self.parser.get_method() != b"CONNECT" and not self._should_upgrade()

    def _unsupported_upgrade_warning(self) -> None:
        """uvicorn calls this while it handles the error that says where the head ended."""
        stopped = sys.exception()
        if stopped is not None and self.is_offered:
            self.again = b"".join(self.head()) + self.fed[stopped.args[0] :]
            self.parser = HttpRequestParser(self)
            self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn has it

    def head(self) -> Iterator[bytes]:
        """What came, without what is about switching."""
        yield b"%b %b HTTP/%b\r\n" % (self.parser.get_method(), self.url, self.parser.get_http_version().encode())
        for name, value in self.headers:
            kept = staying(value) if name == b"connection" else value
            if name not in OFFERED and (kept or name != b"connection"):
                yield b"%b: %b\r\n" % (name, kept)
        yield b"\r\n"


def staying(options: bytes) -> bytes:
    """Of the options of a connection."""
    return b", ".join(part for part in map(bytes.strip, options.split(b",")) if part.lower() not in OFFERED)
