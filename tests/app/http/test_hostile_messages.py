"""Malicious WebSocket messages end their operation or their connection and delay no other client."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import pairwise

import orjson
import pytest
from websockets.exceptions import ConnectionClosed

from app.subscriptions.messages import BoundedWebSocket, ParseQueue
from tests.app.clients.streaming import SOON, open_initialised_socket, open_socket
from tests.app.service import Service
from tests.loop_holds import heartbeat

LONGEST = 0.05  # seconds of the loop's processor time
EMPTY_LISTS = '{"type":"ping","payload":{"a":[' + "[]," * 450_000 + "[]]}}"
DEEP = '{"type":"ping","payload":' + '{"a":' * 300 + "1" + "}" * 301
UNAUTHENTICATED = {
    "a ping of a megabyte": (EMPTY_LISTS, 1009),
    "a deep ping": (DEEP, 4400),
    "a wide ping": ('{"type":"ping","payload":{"a":[' + "[]," * 5_000 + "[]]}}", 4400),
    "a deep payload of connection_init": (
        '{"type":"connection_init","payload":' + '{"a":' * 300 + "1" + "}" * 301,
        4400,
    ),
    "an operation": ('{"type":"subscribe","id":"1","payload":{"query":"{ a }"}}', 4401),
    "a large operation": ('{"type":"subscribe","id":"1","payload":{"query":"' + "#" * 100_000 + '"}}', 1009),
}


@pytest.mark.parametrize("name", UNAUTHENTICATED)
async def test_forbidden_messages_before_authentication_close_the_connection(service: Service, name: str) -> None:
    text, code = UNAUTHENTICATED[name]
    async with heartbeat() as delays, open_socket(service) as socket:
        with suppress(ConnectionClosed):
            await socket.connection.send(text)
        assert (await socket.wait_closed())[0] == code
    assert delays.longest < LONGEST


@pytest.mark.parametrize("text", [EMPTY_LISTS, DEEP])
async def test_large_or_deep_pings_close_an_authenticated_connection(service: Service, token: str, text: str) -> None:
    async with open_initialised_socket(service, token) as socket:
        await socket.connection.send(text)
        assert (await socket.wait_closed())[0] == 4400


async def test_an_operation_with_too_many_values_keeps_the_connection_open(service: Service, token: str) -> None:
    payloads = [
        {"query": "{ viewer { role } }", "variables": {"v": [[]] * 300_000}},
        {"query": "{ viewer { role } }", "extensions": {f"k{n}": n for n in range(64_000)}},
    ]
    texts = [orjson.dumps({"type": "subscribe", "id": "many", "payload": payload}).decode() for payload in payloads]
    async with open_initialised_socket(service, token) as socket, heartbeat() as delays:
        for text in texts:
            await socket.connection.send(text)
            message = await socket.receive()
            assert (message["type"], message["id"]) == ("error", "many")
            assert message["payload"][0]["extensions"]["code"] == "LIMIT_EXCEEDED"
        await socket.check_nothing_sent()
    assert delays.longest < 2 * LONGEST  # the client computes here as well


class RawSocket:
    """A WebSocket whose frames are written byte by byte, masked with zeros."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @staticmethod
    def frame(opcode: int, data: bytes = b"", *, is_last: bool = True) -> bytes:
        assert len(data) < 126
        return bytes([0x80 * is_last + opcode, 0x80 + len(data)]) + b"\0\0\0\0" + data


@asynccontextmanager
async def raw_socket(service: Service) -> AsyncIterator[RawSocket]:
    host, _, port = service.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(
        b"GET /graphql HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        b"Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n"
    )
    try:
        await reader.readuntil(b"\r\n\r\n")
        yield RawSocket(reader, writer)
    finally:
        writer.close()


async def test_many_small_frames_do_not_block_the_event_loop(service: Service) -> None:
    async with raw_socket(service) as socket, heartbeat() as delays:
        socket.writer.write(socket.frame(0x9) * 40_000 + socket.frame(0x9, b"last"))
        async with asyncio.timeout(60):
            while not (await socket.reader.read(65_536)).endswith(b"last"):
                pass
    assert delays.longest < LONGEST


@pytest.mark.parametrize("is_late", [False, True])
async def test_others_get_as_much_time_as_parsing(is_late: bool) -> None:
    """A connection that has more to parse is added again in its step, or when its messages are received."""
    loop = asyncio.get_running_loop()
    queue, began, ended = ParseQueue(loop), list[float](), asyncio.Event()

    class Busy:
        def parse_step(self) -> None:
            began.append(time.perf_counter())
            time.sleep(0.02)
            if len(began) == 5:
                ended.set()
            elif is_late:
                loop.call_soon(queue.add, self)
            else:
                queue.add(self)  # type: ignore[arg-type]

    queue.add(Busy())  # type: ignore[arg-type]
    async with asyncio.timeout(SOON):
        await ended.wait()
    assert min(later - earlier for earlier, later in pairwise(began)) >= 0.04


async def test_a_message_in_many_frames_is_read_completely(service: Service, token: str) -> None:
    query = "{ viewer { role } } #" + "x" * 60_000
    async with open_initialised_socket(service, token) as socket:
        await socket.connection.send(
            [orjson.dumps({"type": "subscribe", "id": "1", "payload": {"query": query}}).decode()[at : at + 100]
             for at in range(0, 60_200, 100)]
        )  # fmt: skip
        assert (await socket.receive())["payload"]["data"] == {"viewer": {"role": "ADMIN"}}
        for _ in range(3):
            await socket.send(type="subscribe", id="1", payload={"query": query})
            while (await socket.receive())["type"] != "next":
                pass


async def test_a_message_of_more_than_1000_frames_closes_the_connection(service: Service) -> None:
    async with raw_socket(service) as socket:
        socket.writer.write(socket.frame(0x1, is_last=False) + socket.frame(0x0, is_last=False) * 1_100)
        async with asyncio.timeout(SOON):
            assert (await socket.reader.read()).startswith(b"\x88")


async def test_pongs_do_not_accumulate_if_the_client_does_not_read(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    unsent = []
    handle_ping = BoundedWebSocket.handle_ping

    def recording(self: BoundedWebSocket) -> None:
        handle_ping(self)
        unsent.append(self.transport.get_write_buffer_size())

    monkeypatch.setattr(BoundedWebSocket, "handle_ping", recording)
    async with raw_socket(service) as socket:
        socket.reader._transport.pause_reading()  # type: ignore[attr-defined]
        pings = socket.frame(0x9, b"x" * 125) * 1_000
        for _ in range(100):
            socket.writer.write(pings)
            await socket.writer.drain()
    assert len(unsent) > 50_000
    assert max(unsent) < 500_000
