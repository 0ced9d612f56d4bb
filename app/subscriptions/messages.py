"""The messages of a WebSocket: their frames, their sizes and their format."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import orjson
from graphql import GraphQLError
from starlette.types import Scope
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame
from websockets.http11 import Request

from selection import Limits
from selection.limits import measure_variables

from ..http.request import parse_in_thread

PARSE_STEP = 4096  # bytes that are parsed before other connections get their turn: 700 of the smallest frames
FRAGMENTS_MAX = 1000  # of a message
UNAUTHENTICATED_MAX = 16_384  # bytes of a message before a credential was accepted
ACCEPT_KEY = "cairn.accepted"  # the key of the ASGI scope for the function to call when a credential was accepted


class ParseQueue:
    """The connections of an event loop that have more than PARSE_STEP bytes to parse.

    They take turns, with a step each. Together they use half of the loop's time at most, and leave the rest to others.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.connections: deque[BoundedWebSocket] = deque()
        self.is_scheduled = False
        """Whether a step will run or is running."""
        self.paused_until = 0.0
        """The time by `perf_counter` before which no further step begins."""

    def add(self, connection: "BoundedWebSocket") -> None:
        self.connections.append(connection)
        self.schedule()

    def schedule(self) -> None:
        if self.connections and not self.is_scheduled:
            self.is_scheduled = True
            self.loop.call_later(max(0.0, self.paused_until - time.perf_counter()), self.step)

    def step(self) -> None:
        """Parse a step of one connection, and pause for as long as it took."""
        started = time.perf_counter()
        try:
            self.connections.popleft().parse_step()
        finally:
            ended = time.perf_counter()
            self.is_scheduled, self.paused_until = False, ended + (ended - started)
            self.schedule()


QUEUES: WeakKeyDictionary[asyncio.AbstractEventLoop, ParseQueue] = WeakKeyDictionary()


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """A WebSocket that parses PARSE_STEP bytes at a time, and does not read from the socket before all are parsed."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.unparsed = bytearray()
        self.is_parsing = False
        self.message_max = self.conn.max_message_size
        self.conn.max_message_size = min(self.config.ws_max_size, UNAUTHENTICATED_MAX)

    def accept_messages(self) -> None:
        """Raise the maximum size of messages to the configured size."""
        self.conn.max_message_size = self.message_max

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if not self.close_sent:
            self.scope[ACCEPT_KEY] = self.accept_messages  # type: ignore[literal-required]

    def data_received(self, data: bytes) -> None:
        if not self.unparsed and len(data) <= PARSE_STEP:
            super().data_received(data)
            return
        self.unparsed += data
        self.transport.pause_reading()
        self.schedule_parse()

    def schedule_parse(self) -> None:
        if self.unparsed and not self.is_parsing:
            self.is_parsing = True
            queue = QUEUES.get(self.loop) or QUEUES.setdefault(self.loop, ParseQueue(self.loop))
            queue.add(self)

    def parse_step(self) -> None:
        """Parse a step. The next step follows once the application has received the messages of this step."""
        self.is_parsing = False
        if self.disconnected or self.transport.is_closing():
            self.unparsed.clear()
            return
        data = bytes(self.unparsed[:PARSE_STEP])
        del self.unparsed[:PARSE_STEP]
        super().data_received(data)
        if not self.read_paused:
            self.continue_reading()

    def continue_reading(self) -> None:
        if self.unparsed:
            self.schedule_parse()
        else:
            self.transport.resume_reading()

    async def receive(self) -> Any:
        message = await self.queue.get()
        if self.read_paused and self.queue.empty():
            self.read_paused = False
            self.continue_reading()
        return message

    def handle_cont(self, event: Frame) -> None:
        if len(self.frames) < FRAGMENTS_MAX:
            super().handle_cont(event)
        elif not self.close_sent:
            self.conn.fail(CloseCode.MESSAGE_TOO_BIG, f"A message comes in {FRAGMENTS_MAX} frames at most.")
            self.frames.clear()
            self.handle_parser_exception()

    def handle_ping(self) -> None:
        """Answer a ping, unless the client does not read the pongs, which would accumulate."""
        pong = b"".join(self.conn.data_to_send())
        if self.writable.is_set():
            self.transport.write(pong)


def mark_authenticated(scope: Scope) -> None:
    """Tell the WebSocket protocol that the client of this connection is authenticated."""
    accept_messages: Callable[[], None] | None = scope.get(ACCEPT_KEY)
    if accept_messages is not None:
        accept_messages()


CONTROL_MAX = 16_384
"""Characters of messages other than `subscribe`, and of all before a credential. Tokens have 1,000 to 4,000."""
CONTROL_LIMITS = Limits(variable_values=200, variable_depth=6)
"""Limits of messages other than `subscribe`."""
ENVELOPE_SIZE = 10  # values and levels of a `subscribe` message besides the variables


class BadMessage(Exception):
    """A message is invalid. The connection ends with this reason."""


class PayloadTooLarge(Exception):
    """The payload of an operation exceeds the limits. `id` is the id of the operation."""

    def __init__(self, id: str, reason: str) -> None:
        super().__init__(reason)
        self.id, self.reason = id, reason


async def read_message(text: str | None, limits: Limits, *, is_acknowledged: bool) -> dict[str, Any]:
    """Parse a message, a large one in a thread. Raises BadMessage and PayloadTooLarge."""
    if text is None:
        raise BadMessage("a message is a JSON object, sent as text.")
    if not is_acknowledged and len(text) > CONTROL_MAX:
        raise BadMessage(f"it has more than {CONTROL_MAX} characters, and no credential has been accepted.")
    return await parse_in_thread(len(text), lambda: parse_message(text, limits))


def parse_message(text: str, limits: Limits) -> dict[str, Any]:
    try:
        message = orjson.loads(text)
    except ValueError:
        message = None
    if not isinstance(message, dict):
        raise BadMessage("a message is a JSON object, sent as text.")
    if message.get("type") == "subscribe":
        message_limits = Limits(
            variable_values=limits.variable_values + ENVELOPE_SIZE, variable_depth=limits.variable_depth + ENVELOPE_SIZE
        )
        if reason := exceeded_limit(message, message_limits):
            raise PayloadTooLarge(str(message.get("id"))[:255], reason.replace("variables hold", "payload holds"))
    elif len(text) > CONTROL_MAX or exceeded_limit(message, CONTROL_LIMITS):
        raise BadMessage(
            f"other messages than subscribe have {CONTROL_MAX} characters and {CONTROL_LIMITS.variable_values} values"
            f" at most, {CONTROL_LIMITS.variable_depth} levels deep."
        )
    return message


def exceeded_limit(message: dict[str, Any], limits: Limits) -> str | None:
    """Return a sentence about the limit that the message exceeds, or None."""
    try:
        measure_variables(message, limits)
    except GraphQLError as error:
        return error.message
    return None
