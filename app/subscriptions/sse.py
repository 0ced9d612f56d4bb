"""GraphQL over server-sent events, with a connection for each operation."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, aclosing, suppress

from starlette.types import Receive, Scope, Send

from db.scope import Scope as Wiki
from observability.trace import record_stream
from resolvers.errors import CairnError

from ..http.errors import error_body, fault_response
from ..http.graphql import error_headers, respond, status_of_error
from ..http.request import JSON, GraphQLRequest, Refused, credential_of, idempotency_key, read_operation
from ..http.responses import NO_STORE, Headers
from .operations import Credential, Stopping
from .streams import Streams

KEEP_ALIVE_INTERVAL = 15.0  # seconds between two comments, which keep proxies from closing an idle connection
SEND_TIMEOUT = 30.0  # seconds that a client may take to read an event
COMMENT = b":\n\n"
COMPLETE = b"event: complete\ndata: \n\n"
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


class StreamEnded(Exception):
    """The stream is over. `last` are the final bytes to send, or None if the client has disconnected."""

    def __init__(self, last: bytes | None = None) -> None:
        super().__init__()
        self.last = last


class EventStream:
    """An event stream: the answers of an operation, sent as events."""

    def __init__(self, streams: Streams, scope: Scope, receive: Receive, send: Send) -> None:
        self.streams, self.asgi, self.receive, self.send = streams, scope, receive, send
        self.key: str | None = None
        """The idempotency key of the request."""

    async def serve(self) -> None:
        """Serve the GraphQL operation of the request."""

        async def read_request(wiki: Wiki) -> GraphQLRequest:
            self.key = idempotency_key(self.asgi)
            unresolved = await read_operation(self.asgi, self.receive, self.streams.bodies)
            request = self.streams.documents.resolve(unresolved, wiki.tenant_id)
            if self.asgi["method"] == "GET":
                await self.streams.operations.check_get(request)
            return request

        await self.serve_operation(lambda: self.streams.credential(*credential_of(self.asgi)), read_request)

    async def serve_operation(
        self, make_credential: Callable[[], Credential], operation: Callable[[Wiki], Awaitable[GraphQLRequest]]
    ) -> None:
        """Serve an operation.

        A refused credential or request gets an HTTP status; an error in the document is sent as an event.
        """
        held = ExitStack()
        try:
            credential = make_credential()
            wiki = await credential.scope()
            request = await operation(wiki)
            held.enter_context(self.streams.count_stream(wiki))
        except Refused as refused:
            await self.refuse(refused.status, error_body(refused.message, refused.code))
        except CairnError as error:
            status, body = status_of_error(error), error_body(error.message, **error.extensions)
            await self.refuse(status, body, error_headers(error))
        except Exception as error:
            await self.refuse(*fault_response(error))
        else:
            with held:
                await self.stream(request, wiki, credential)

    async def refuse(self, status: int, body: bytes, more: Headers = ()) -> None:
        await respond(self.send, status, JSON, body, NO_STORE + more)

    async def stream(self, request: GraphQLRequest, wiki: Wiki, credential: Credential) -> None:
        """Send the answers until the operation, the client, the credential or the service ends the stream."""
        record_stream()
        await self.send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        last: bytes | None = None
        try:
            async with asyncio.TaskGroup() as tasks:
                for job in (
                    self.send_answers(request, wiki), self.send_comments(), self.wait_for_disconnect(),
                    self.wait_for_credential_end(credential),
                ):  # fmt: skip
                    tasks.create_task(job)
        except* StreamEnded as group:
            last = next((ended.last for ended in group.exceptions if isinstance(ended, StreamEnded)), None)
        except* Exception as group:
            last = event(fault_response(group.exceptions[0])[1]) + COMPLETE
        if last is not None:
            with suppress(OSError):
                await self.send({"type": "http.response.body", "body": last})

    async def send_answers(self, request: GraphQLRequest, wiki: Wiki) -> None:
        try:
            async with aclosing(self.streams.operations.answers(request, wiki, self.key)) as answers:
                async for answer in answers:
                    await self.send_event(event(answer.body))
        except Stopping:
            raise StreamEnded(b"") from None  # without `complete`, so that the client reconnects
        raise StreamEnded(COMPLETE)

    async def send_comments(self) -> None:
        while True:
            await self.send_event(COMMENT)
            await asyncio.sleep(KEEP_ALIVE_INTERVAL)

    async def wait_for_disconnect(self) -> None:
        while (await self.receive())["type"] != "http.disconnect":
            pass
        raise StreamEnded

    async def wait_for_credential_end(self, credential: Credential) -> None:
        try:
            await credential.wait_until_invalid()
        except CairnError as error:
            raise StreamEnded(event(error_body(error.message, error.code)) + COMPLETE) from None

    async def send_event(self, body: bytes) -> None:
        try:
            async with asyncio.timeout(SEND_TIMEOUT):
                await self.send({"type": "http.response.body", "body": body, "more_body": True})
        except OSError:  # includes TimeoutError
            raise StreamEnded from None


def event(body: bytes) -> bytes:
    """Return an answer as an event, with a `data` line for each line of the JSON, which may have line breaks."""
    return b"event: next\n%b\n\n" % b"\n".join(b"data: " + line for line in body.splitlines())
