"""Messages of the WebSocket protocol: their frames, sizes and forms."""

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

STEP = 4096  # bytes that are parsed before others get their turn: 700 of the smallest frames
FRAGMENTS_MAX = 1000  # of one message
STRANGERS_MAX = 16_384  # bytes of a message before a credential was accepted
ACCEPTED = "cairn.accepted"  # where a scope has the function that is called when a credential was accepted


class ParseQueue:
    """A queue of connections of one event loop with more to parse than a step. They take turns, a step each, and all of
    them together parse during half of the time at most: the other half is for everybody else."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.connections: deque[BoundedWebSocket] = deque()
        self.is_scheduled = False

    def add(self, connection: "BoundedWebSocket") -> None:
        self.connections.append(connection)
        self.schedule(0)

    def schedule(self, delay: float) -> None:
        if self.connections and not self.is_scheduled:
            self.is_scheduled = True
            self.loop.call_later(delay, self.step)

    def step(self) -> None:
        self.is_scheduled = False
        started = time.perf_counter()
        self.connections.popleft().parse_step()
        self.schedule(time.perf_counter() - started)


QUEUES: WeakKeyDictionary[asyncio.AbstractEventLoop, ParseQueue] = WeakKeyDictionary()


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """A WebSocket that parses `STEP` bytes at a time, and reads no more from the socket until those are done."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.unparsed = bytearray()
        self.is_parsing = False
        self.message_max = self.conn.max_message_size
        self.conn.max_message_size = min(self.config.ws_max_size, STRANGERS_MAX)

    def accept_messages(self) -> None:
        """Accept messages of the size that the server is configured for, from now on."""
        self.conn.max_message_size = self.message_max

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if not self.close_sent:
            self.scope[ACCEPTED] = self.accept_messages  # type: ignore[literal-required]

    def data_received(self, data: bytes) -> None:
        if not self.unparsed and len(data) <= STEP:
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
        """Parse one step; the next one follows once the application has taken the messages of this one."""
        self.is_parsing = False
        if self.disconnected or self.transport.is_closing():
            self.unparsed.clear()
            return
        data = bytes(self.unparsed[:STEP])
        del self.unparsed[:STEP]
        super().data_received(data)
        if not self.read_paused:
            self.read_on()

    def read_on(self) -> None:
        if self.unparsed:
            self.schedule_parse()
        else:
            self.transport.resume_reading()

    async def receive(self) -> Any:
        message = await self.queue.get()
        if self.read_paused and self.queue.empty():
            self.read_paused = False
            self.read_on()
        return message

    def handle_cont(self, event: Frame) -> None:
        if len(self.frames) < FRAGMENTS_MAX:
            super().handle_cont(event)
        elif not self.close_sent:
            self.conn.fail(CloseCode.MESSAGE_TOO_BIG, f"A message comes in {FRAGMENTS_MAX} frames at most.")
            self.frames.clear()
            self.handle_parser_exception()

    def handle_ping(self) -> None:
        """Answer a ping, unless the client does not read its pongs, so that they do not pile up."""
        pong = b"".join(self.conn.data_to_send())
        if self.writable.is_set():
            self.transport.write(pong)


def mark_authenticated(scope: Scope) -> None:
    """Note that the client of this connection has shown a credential."""
    accept: Callable[[], None] | None = scope.get(ACCEPTED)
    if accept is not None:
        accept()


OPENING_MAX = 16_384
"""Characters of any message but `subscribe`: a token takes 1,000 to 4,000. Before a credential, of every message."""
OPENING = Limits(variable_values=200, variable_depth=6)
ENVELOPE = 10  # values and levels around the variables of an operation


class BadMessage(Exception):
    """A message that is not read on; the connection ends with this reason."""


class PayloadTooLarge(Exception):
    """An operation whose payload holds more than the limits allow. `id` is the operation's."""

    def __init__(self, id: str, reason: str) -> None:
        super().__init__(reason)
        self.id, self.reason = id, reason


async def read_message(text: str | None, limits: Limits, *, is_acknowledged: bool) -> dict[str, Any]:
    """Return the message; raise BadMessage or PayloadTooLarge. A large one is read in a thread."""
    if text is None:
        raise BadMessage("a message is a JSON object, sent as text.")
    if not is_acknowledged and len(text) > OPENING_MAX:
        raise BadMessage(f"it has more than {OPENING_MAX} characters, and no credential has been accepted.")
    return await parse_in_thread(len(text), lambda: parse_message(text, limits))


def parse_message(text: str, limits: Limits) -> dict[str, Any]:
    try:
        message = orjson.loads(text)
    except ValueError:
        message = None
    if not isinstance(message, dict):
        raise BadMessage("a message is a JSON object, sent as text.")
    if message.get("type") == "subscribe":
        most = Limits(
            variable_values=limits.variable_values + ENVELOPE, variable_depth=limits.variable_depth + ENVELOPE
        )
        if reason := excess(message, most):
            raise PayloadTooLarge(str(message.get("id"))[:255], reason.replace("variables hold", "payload holds"))
    elif len(text) > OPENING_MAX or excess(message, OPENING):
        raise BadMessage(
            f"other messages than subscribe have {OPENING_MAX} characters and {OPENING.variable_values} values at most,"
            f" {OPENING.variable_depth} levels deep."
        )
    return message


def excess(message: dict[str, Any], limits: Limits) -> str | None:
    """Return which limit the message exceeds, or None."""
    try:
        measure_variables(message, limits)
    except GraphQLError as error:
        return error.message
    return None
