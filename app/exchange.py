"""A request and its answer on the wire, where uvicorn leaves room: head and body of an answer in one write.

uvicorn writes the head as soon as it has it, which is a system call and a packet more for each answer, and looks at
each header by itself. The head of an answer whose length is known waits here for its body; all else goes uvicorn's way.
"""

import asyncio
from functools import cached_property, lru_cache
from itertools import starmap
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

Message = Any  # uvicorn's types of messages are not public
CONTROLS = bytes([*range(0x09), *range(0x0A, 0x20), 0x7F])
WITHOUT_BODY = {204, 304}


class Exchange(RequestResponseCycle):
    """Nothing is sent before there is a body: a fault until then is answered with a status of its own."""

    head: Message = None
    ends_by_closing = False

    async def send(self, message: Message) -> None:
        head, self.head = self.head, None
        if message["type"] == "http.response.start" and not self.response_started:
            if self.may_wait(message):
                self.head = message
            else:
                await self.pass_on(message)
        elif head is None:
            await self.pass_on(message)
        elif self.is_whole(head, message):
            self.send_whole(head, message.get("body", b""))
        else:
            await super().send(head)
            await super().send(message)

    async def pass_on(self, message: Message) -> None:
        """HTTP/1.0 knows no chunks: a body whose length is not told ends there where the connection does."""
        if self.scope["http_version"] == "1.0":
            if message["type"] == "http.response.start":
                self.ends_by_closing = all(name != b"content-length" for name, _ in message["headers"])
                self.chunked_encoding = False if self.ends_by_closing else None
            elif self.ends_by_closing:
                self.expected_content_length = len(message.get("body", b""))
        await super().send(message)

    def may_wait(self, head: Message) -> bool:
        """Has the answer a body of a known length, and does the connection stay open after it?"""
        if not self.keep_alive or head["status"] in WITHOUT_BODY or self.scope["method"] == "HEAD":
            return False
        headers = dict([*self.default_headers, *head["headers"]])
        return b"content-length" in headers and b"connection" not in headers

    def is_whole(self, head: Message, message: Message) -> bool:
        """Is this all that was announced, and can it be written at once?"""
        if message.get("more_body") or self.disconnected or self.flow.write_paused:
            return False
        return (b"content-length", b"%d" % len(message.get("body", b""))) in head["headers"]

    def send_whole(self, head: Message, body: bytes) -> None:
        self.transport.writelines((rendered(head["status"], [*self.default_headers, *head["headers"]]), body))
        self.response_started = self.response_complete = True
        self.waiting_for_100_continue = False
        self.answered()
        self.on_response()

    def answered(self) -> None:
        """Who waits for more of the request waits no longer."""
        self.message_event.set()


class WholeExchange(Exchange):
    """Of a request that came in one piece, on a connection that outlives it: nothing more of it will be read."""

    keep_alive = True
    waiting_for_100_continue = disconnected = more_body = response_started = response_complete = False
    chunked_encoding: bool | None = None
    expected_content_length = 0

    def __init__(self, connection: HttpToolsProtocol, body: bytes) -> None:
        self.scope, self.body = connection.scope, bytearray(body)
        self.transport, self.flow = connection.transport, connection.flow
        self.logger, self.access_logger, self.access_log = connection.logger, connection.access_logger, False
        self.default_headers = connection.server_state.default_headers
        self.on_response = connection.on_response_complete

    @cached_property
    def message_event(self) -> asyncio.Event:  # type: ignore[override]  # uvicorn has it as an attribute
        """For who asks for the body, or for what comes after it: made for them alone, and most requests have none."""
        event = asyncio.Event()
        event.set()
        return event

    def answered(self) -> None:
        if "message_event" in self.__dict__:
            self.message_event.set()


def rendered(status: int, headers: list[tuple[bytes, bytes]]) -> bytes:
    """The head of an answer."""
    return b"".join([STATUS_LINE[status], *starmap(line, headers), b"\r\n"])


@lru_cache(1024)
def line(name: bytes, value: bytes) -> bytes:
    """A header; most are those of the answer before. Nothing that would end one early gets out."""
    made = b"%b: %b\r\n" % (name, value)
    if len(made) - len(made.translate(None, CONTROLS)) != 2:
        raise RuntimeError("A header holds control characters.")
    return made
