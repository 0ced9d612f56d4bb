"""A connection of the protocol graphql-transport-ws: its messages, its operations and its close codes."""

import asyncio
import time
from contextlib import ExitStack, aclosing, suppress
from typing import Any

import orjson
import structlog
from starlette.types import Receive, Scope, Send

from resolvers.errors import CairnError, LimitExceeded, Unavailable
from resolvers.rate_limits import Throttled
from resolvers.transactions.db_errors import translate_error

from ..http.request import GraphQLRequest, Refused, credential_of, parse_request
from .messages import BadMessage, PayloadTooLarge, mark_authenticated, read_message
from .operations import Credential, Stopping
from .streams import Streams

log = structlog.get_logger()
PROTOCOL = "graphql-transport-ws"
INIT_TIMEOUT = 10.0  # seconds for connection_init
SEND_TIMEOUT = 30.0  # seconds that a client may take to read a message
STOP_GRACE = 1.0  # seconds to wait for running operations when the service stops
ID_MAX = 255  # characters; every message of an operation includes its id
REASON_MAX = 123  # bytes, by the WebSocket protocol


class ConnectionEnded(Exception):
    """The connection is over. `code` is None if the client has disconnected."""

    def __init__(self, code: int | None = None, reason: str = "") -> None:
        super().__init__(reason)
        self.code, self.reason = code, reason


class WebSocketConnection:
    """A WebSocket connection, from the handshake to the close."""

    def __init__(self, streams: Streams, scope: Scope, receive: Receive, send: Send) -> None:
        self.streams, self.asgi, self.receive, self.send = streams, scope, receive, send
        self.credential: Credential | None = None
        self.initialised = self.acknowledged = False
        self.running: dict[str, asyncio.Task[None]] = {}
        self.served = 0
        self.tasks: asyncio.TaskGroup
        self.exit_stack: ExitStack

    async def serve(self) -> None:
        started = time.perf_counter()
        await self.receive()
        known = PROTOCOL in self.asgi["subprotocols"]
        await self.send({"type": "websocket.accept", "subprotocol": PROTOCOL if known else None})
        ended = await self.run_until_end() if known else ConnectionEnded(4406, "Subprotocol not acceptable")
        if ended.code is not None:
            reason = ended.reason.encode()[:REASON_MAX].decode(errors="ignore")
            with suppress(OSError):
                await self.send({"type": "websocket.close", "code": ended.code, "reason": reason})
        took = round((time.perf_counter() - started) * 1000, 2)
        log.info("websocket", path=self.asgi["path"], code=ended.code, operations=self.served, ms=took)

    async def run_until_end(self) -> ConnectionEnded:
        """Handle messages until the connection ends, then cancel the running operations; return why it ended."""
        ended = ConnectionEnded(4500, "Internal server error")
        try:
            with ExitStack() as self.exit_stack:
                async with asyncio.TaskGroup() as self.tasks:
                    for job in (self.read_messages(), self.end_uninitialised(), self.end_at_shutdown()):
                        self.tasks.create_task(job)
        except* ConnectionEnded as group:
            (ended, *_) = group.exceptions  # type: ignore[assignment]
        except* Exception as group:
            if isinstance(known := translate_error(group.exceptions[0]), Unavailable):
                ended = ConnectionEnded(1013, known.message)
            else:
                log.error("internal error", exc_info=known)
        return ended

    # -- reasons to end the connection

    async def end_uninitialised(self) -> None:
        await asyncio.sleep(INIT_TIMEOUT)
        if not self.initialised:
            raise ConnectionEnded(4408, "Connection initialisation timeout")

    async def end_at_shutdown(self) -> None:
        await self.streams.stopping.wait()
        if self.running:
            await asyncio.wait(self.running.values(), timeout=STOP_GRACE)
        raise ConnectionEnded(1001, "The service stops here; connect again.")

    async def end_with_credential(self, credential: Credential) -> None:
        try:
            await credential.wait_until_invalid()
        except CairnError as error:
            raise ConnectionEnded(4403, error.message) from None

    # -- messages

    async def read_messages(self) -> None:
        while True:
            message = await self.receive()
            if message["type"] == "websocket.disconnect":
                raise ConnectionEnded
            try:
                parsed = await read_message(message.get("text"), self.streams.limits, is_acknowledged=self.acknowledged)
            except BadMessage as error:
                raise ConnectionEnded(4400, f"Invalid message: {error}") from None
            except PayloadTooLarge as error:
                self.check_may_subscribe(error.id)
                await self.fail(error.id, [{"message": error.reason, "extensions": {"code": LimitExceeded.code}}])
            else:
                await self.handle(parsed)

    async def handle(self, message: dict[str, Any]) -> None:
        match message:
            case {"type": "connection_init"}:
                await self.initialise(payload_of(message))
            case {"type": "ping"}:
                payload = payload_of(message)
                await self.send_message({"type": "pong"} | ({"payload": payload} if payload else {}))
            case {"type": "pong"}:
                payload_of(message)
            case {"type": "subscribe", "id": str(id), "payload": dict(payload)} if 0 < len(id) <= ID_MAX:
                await self.subscribe(id, payload)
            case {"type": "complete", "id": str(id)}:
                self.complete(id)
            case _:
                raise ConnectionEnded(4400, "Invalid message: not one that a client sends, or a part of it is missing.")

    async def initialise(self, payload: dict[str, Any]) -> None:
        """Authenticate the connection.

        A credential in the payload takes precedence, because browsers cannot send headers with a WebSocket.
        """
        if self.initialised:
            raise ConnectionEnded(4429, "Too many initialisation requests")
        self.initialised = True
        parameters = {name.lower(): value for name, value in payload.items() if isinstance(value, str)}
        try:
            authorization, owner = credential_of(self.asgi)
        except Refused as refused:
            raise ConnectionEnded(4400, refused.message) from None
        self.credential = self.streams.credential(
            parameters.get("authorization") or authorization, parameters.get("x-cairn-owner") or owner
        )
        try:
            self.exit_stack.enter_context(self.streams.count_stream(await self.credential.scope()))
        except Throttled as error:
            raise ConnectionEnded(4429, error.message) from None
        except Unavailable as error:
            raise ConnectionEnded(1013, error.message) from None
        except CairnError as error:
            raise ConnectionEnded(4403, error.message) from None
        self.tasks.create_task(self.end_with_credential(self.credential))
        mark_authenticated(self.asgi)
        await self.send_message({"type": "connection_ack"})
        self.acknowledged = True

    async def subscribe(self, id: str, payload: dict[str, Any]) -> None:
        self.check_may_subscribe(id)
        try:
            request = parse_request(payload)
        except Refused as refused:
            raise ConnectionEnded(4400, f"Invalid message: {refused.message}") from None
        self.served += 1
        if len(self.running) >= self.streams.settings.max_operations:
            await self.refuse(id)  # not in a task of its own, so that a flood of messages slows down the reading
        else:
            self.running[id] = self.tasks.create_task(self.run(id, request))

    def check_may_subscribe(self, id: str) -> None:
        """End the connection if no credential was accepted, or an operation with this id is running."""
        if not self.acknowledged:
            raise ConnectionEnded(4401, "Unauthorized") from None
        if id in self.running:
            raise ConnectionEnded(4409, f"Subscriber for {id} already exists") from None

    def complete(self, id: str) -> None:
        """Cancel an operation on the client's request; do nothing if it has ended already."""
        if task := self.running.pop(id, None):
            task.cancel()

    # -- operations

    async def run(self, id: str, request: GraphQLRequest) -> None:
        """Run an operation and send its answers. Its id can be used again before the last message is sent."""
        assert self.credential is not None
        try:
            scope = await self.credential.scope()
            request = self.streams.documents.resolve(request, scope.tenant_id)
        except CairnError as error:
            await self.fail(id, [{"message": error.message, "extensions": error.extensions}])
            return
        except Refused as refused:
            await self.fail(id, [{"message": refused.message, "extensions": {"code": refused.code}}])
            return
        try:
            async with aclosing(self.streams.operations.answers(request, scope)) as answers:
                async for answer in answers:
                    if not answer.executed:
                        await self.fail(id, orjson.loads(answer.body)["errors"])
                        return
                    await self.transmit(b'{"id":%b,"type":"next","payload":%b}' % (orjson.dumps(id), answer.body))
        except Stopping:
            return  # no `complete`: the close code tells the client to reconnect
        self.running.pop(id, None)
        await self.send_message({"id": id, "type": "complete"})

    async def refuse(self, id: str) -> None:
        maximum = self.streams.settings.max_operations
        message = f"{maximum} operations run on this connection already. Complete one, or open another connection."
        await self.fail(id, [{"message": message, "extensions": {"code": LimitExceeded.code}}])

    async def fail(self, id: str, errors: list[dict[str, Any]]) -> None:
        self.running.pop(id, None)
        await self.send_message({"id": id, "type": "error", "payload": errors})

    async def send_message(self, message: dict[str, Any]) -> None:
        await self.transmit(orjson.dumps(message))

    async def transmit(self, message: bytes) -> None:
        try:
            async with asyncio.timeout(SEND_TIMEOUT):
                await self.send({"type": "websocket.send", "text": message.decode()})
        except TimeoutError:
            raise ConnectionEnded(1008, "What is sent is not read.") from None
        except OSError:
            raise ConnectionEnded from None


def payload_of(message: dict[str, Any]) -> dict[str, Any]:
    """Return the payload of a message, or an empty object if it has none. Raises ConnectionEnded if it is invalid."""
    payload = message.get("payload")
    if payload is not None and not isinstance(payload, dict):
        raise ConnectionEnded(4400, "Invalid message: its payload must be an object.")
    return payload or {}


async def refuse(receive: Receive, send: Send) -> None:
    """Refuse the handshake of a WebSocket with the status 403."""
    await receive()
    await send({"type": "websocket.close", "code": 4403})
