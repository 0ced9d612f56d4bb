"""Clients of streams: one for the graphql-transport-ws protocol, and one that reads server-sent events."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx
import orjson
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.app.service import Service

SOON = 30.0  # seconds after which a message counts as missing
PAGE_CHANGED = "subscription ($page: ID!) { wikiPageChanged(pageId: $page) { kind pageId version page { title } } }"
WIKI_CHANGED = "subscription { wikiScopeChanged { kind pageId version page { title status } } }"


class Socket:
    """One WebSocket connection."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    async def send(self, **message: Any) -> None:
        await self.connection.send(orjson.dumps(message).decode())

    async def receive(self) -> dict[str, Any]:
        async with asyncio.timeout(SOON):
            message: dict[str, Any] = orjson.loads(await self.connection.recv())
        return message

    async def initialise(self, token: str | None = None, **payload: Any) -> None:
        given = ({"authorization": f"Bearer {token}"} if token else {}) | payload
        await self.send(type="connection_init", payload=given)
        assert await self.receive() == {"type": "connection_ack"}

    async def subscribe(self, query: str, id: str = "1", **variables: Any) -> None:
        """Subscribe, and wait for an initial event, which confirms that the server follows."""
        initial = query.replace("Changed(", "Changed(initial: true, ").replace("Changed {", "Changed(initial: true) {")
        await self.send(type="subscribe", id=id, payload={"query": initial, "variables": variables})
        assert (await self.next_event())["kind"] == "RESYNC"

    async def next_event(self) -> dict[str, Any]:
        """Return the value of the next event's only field."""
        message = await self.receive()
        assert message["type"] == "next", message
        (event,) = message["payload"]["data"].values()
        shown: dict[str, Any] = event
        return shown

    async def check_nothing_sent(self) -> None:
        """Check that nothing was sent before the response to a ping."""
        await self.send(type="ping")
        assert await self.receive() == {"type": "pong"}

    async def wait_closed(self) -> tuple[int, str]:
        """Return the code and the reason with which the server closes the connection, skipping messages before it."""
        async with asyncio.timeout(SOON):
            with suppress(ConnectionClosed):
                async for _ in self.connection:
                    pass
            await self.connection.wait_closed()
        code, reason = self.connection.close_code, self.connection.close_reason
        assert code is not None
        return code, reason or ""


@asynccontextmanager
async def open_socket(
    service: Service, protocol: str | None = "graphql-transport-ws", **headers: str
) -> AsyncIterator[Socket]:
    url = service.url.replace("http", "ws") + "/graphql"
    protocols = [protocol] if protocol else None
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with connect(url, subprotocols=protocols, additional_headers=named, compression=None) as connection:  # type: ignore[arg-type]
        yield Socket(connection)


@asynccontextmanager
async def open_initialised_socket(service: Service, token: str) -> AsyncIterator[Socket]:
    async with open_socket(service) as socket:
        await socket.initialise(token)
        yield socket


class EventReader:
    """One stream of server-sent events."""

    def __init__(self, response: httpx.Response) -> None:
        self.response, self.lines = response, response.aiter_lines()

    async def next(self) -> tuple[str, dict[str, Any] | None]:
        """Return the name and data of the next event, skipping comments."""
        fields: dict[str, str] = {}
        async with asyncio.timeout(SOON):
            async for line in self.lines:
                if not line and fields:
                    return fields["event"], orjson.loads(fields["data"]) if fields["data"] else None
                name, _, value = line.partition(":")
                if name:
                    fields[name] = fields.get(name, "") + value.removeprefix(" ")
        raise AssertionError("the stream ended")

    async def next_event(self) -> dict[str, Any]:
        kind, answer = await self.next()
        assert kind == "next"
        assert answer is not None
        (event,) = answer["data"].values()
        shown: dict[str, Any] = event
        return shown


@asynccontextmanager
async def open_events(service: Service, token: str | None, query: str, **variables: Any) -> AsyncIterator[EventReader]:
    headers = {"accept": "text/event-stream"} | ({"authorization": f"Bearer {token}"} if token else {})
    body = {"query": query, "variables": variables}
    async with service.http.stream("POST", "/graphql", json=body, headers=headers) as response:
        yield EventReader(response)
