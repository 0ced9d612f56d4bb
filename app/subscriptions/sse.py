"""GraphQL over server-sent events, each operation on a connection of its own."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, aclosing, suppress

from starlette.types import Receive, Scope, Send

from db.scope import Scope as Wiki
from observability.trace import record_stream
from resolvers.errors import CairnError

from ..http.errors import error_body, fault_response
from ..http.graphql import error_headers, respond, status_of_error
from ..http.request import JSON, GraphQLRequest, Refused, credential_of, read_operation
from ..http.responses import NO_STORE, Headers
from .operations import Credential, Stopping
from .streams import Streams

STILL_HERE = 15.0  # seconds between two comments, which keep proxies from closing what is quiet
STALLED = 30.0  # seconds that a client may leave what it is sent unread
COMMENT = b":\n\n"
COMPLETE = b"event: complete\ndata: \n\n"
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


class StreamEnded(Exception):
    """The stream is over, after these last bytes; there are none when the client has gone."""

    def __init__(self, last: bytes | None = None) -> None:
        super().__init__()
        self.last = last


class EventStream:
    """A stream of one operation and its answers as they come."""

    def __init__(self, streams: Streams, scope: Scope, receive: Receive, send: Send) -> None:
        self.streams, self.asgi, self.receive, self.send = streams, scope, receive, send

    async def serve(self) -> None:
        """Serve the operation that the request sends."""

        async def read_request(wiki: Wiki) -> GraphQLRequest:
            sent = await read_operation(self.asgi, self.receive, self.streams.bodies)
            request = self.streams.documents.resolve(sent, wiki.tenant_id)
            if self.asgi["method"] == "GET":
                await self.streams.operations.check_may_be_got(request)
            return request

        await self.follow(lambda: self.streams.credential(*credential_of(self.asgi)), read_request)

    async def follow(
        self, credential_shown: Callable[[], Credential], operation: Callable[[Wiki], Awaitable[GraphQLRequest]]
    ) -> None:
        """Serve an operation. A refused caller or request is a status; an error in the document is in the stream."""
        held = ExitStack()
        try:
            credential = credential_shown()
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
        record_stream()
        await self.send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        last: bytes | None = None
        try:
            async with asyncio.TaskGroup() as tasks:
                for part in (
                    self.pass_on(request, wiki), self.keep_open(), self.end_with_the_client(),
                    self.end_with_the_credential(credential),
                ):  # fmt: skip
                    tasks.create_task(part)
        except* StreamEnded as group:
            last = next((one.last for one in group.exceptions if isinstance(one, StreamEnded)), None)
        except* Exception as group:
            last = event(fault_response(group.exceptions[0])[1]) + COMPLETE
        if last is not None:
            with suppress(OSError):
                await self.send({"type": "http.response.body", "body": last})

    async def pass_on(self, request: GraphQLRequest, wiki: Wiki) -> None:
        try:
            async with aclosing(self.streams.operations.answers(request, wiki)) as answers:
                async for answer in answers:
                    await self.transmit(event(answer.body))
        except Stopping:
            raise StreamEnded(b"") from None  # not complete: whoever follows it asks again
        raise StreamEnded(COMPLETE)

    async def keep_open(self) -> None:
        while True:
            await self.transmit(COMMENT)
            await asyncio.sleep(STILL_HERE)

    async def end_with_the_client(self) -> None:
        while (await self.receive())["type"] != "http.disconnect":
            pass
        raise StreamEnded

    async def end_with_the_credential(self, credential: Credential) -> None:
        try:
            await credential.ends()
        except CairnError as error:
            raise StreamEnded(event(error_body(error.message, error.code)) + COMPLETE) from None

    async def transmit(self, body: bytes) -> None:
        try:
            async with asyncio.timeout(STALLED):
                await self.send({"type": "http.response.body", "body": body, "more_body": True})
        except OSError:  # which a time-out is too
            raise StreamEnded from None


def event(body: bytes) -> bytes:
    """Return an answer as an event. A line break can stand between the tokens of JSON, and would end the data."""
    return b"event: next\n%b\n\n" % b"\n".join(b"data: " + line for line in body.splitlines())
