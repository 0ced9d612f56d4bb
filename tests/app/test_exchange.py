"""What goes over the wire, and in how many writes: an HTTP server of uvicorn on a transport that notes them."""

import asyncio
import socket
from collections.abc import Callable
from typing import Any, cast

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from app.draining import CLOSE
from app.serving import bind, options
from app.settings import Settings

GET, HEAD, OLD = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n", b"HEAD / HTTP/1.1\r\nhost: a\r\n\r\n", b"GET / HTTP/1.0\r\n\r\n"
LENGTH = (b"content-length", b"4")


class Noting(asyncio.Transport):
    """A list of writes."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []
        self.is_closed = False

    def write(self, data: Any) -> None:
        self.written.append(bytes(data))

    def writelines(self, data: Any) -> None:
        self.written.append(b"".join(data))

    def close(self) -> None:
        self.is_closed = True

    def is_closing(self) -> bool:
        return self.is_closed


def answering(*messages: Message) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        for message in messages:
            await send(message)

    return app


def head(*headers: tuple[bytes, bytes], status: int = 200) -> Message:
    return {"type": "http.response.start", "status": status, "headers": list(headers)}


def body(data: bytes, more: bool = False) -> Message:
    return {"type": "http.response.body", "body": data, "more_body": more}


async def asked(app: ASGIApp, *requests: bytes, before: Callable[[ServerState], object] = id) -> Noting:
    """The connection after these requests, each sent when the one before was answered."""
    state, transport = ServerState(), Noting()
    before(state)
    config = options(app, Settings())
    config.load()
    protocol = HttpToolsProtocol(config, state, {})
    protocol.connection_made(transport)
    for request in requests:
        protocol.data_received(request)
        await asyncio.gather(*state.tasks)
    was_closed = transport.is_closed
    protocol.connection_lost(None)  # which lets go of its timers
    transport.is_closed = was_closed
    return transport


async def test_an_answer_is_one_write() -> None:
    connection = await asked(answering(head(LENGTH), body(b"bean")), GET, GET)
    assert connection.written == [b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbean"] * 2
    assert not connection.is_closed


@pytest.mark.parametrize("request_", [GET, OLD])
async def test_a_connection_that_is_to_end_ends_with_its_answer(request_: bytes) -> None:
    draining: Callable[[ServerState], object] = lambda state: state.default_headers.append(CLOSE)  # noqa: E731
    connection = await asked(answering(head(LENGTH), body(b"bean")), request_, before=draining)
    assert b"connection: close" in b"".join(connection.written)
    assert connection.is_closed


async def test_an_answer_without_a_length_is_begun_at_once_and_chunked() -> None:
    connection = await asked(answering(head(), body(b"be", more=True), body(b"an")), GET)
    assert connection.written == [
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", b"2\r\nbe\r\n", b"2\r\nan\r\n0\r\n\r\n",
    ]  # fmt: skip


async def test_a_long_answer_comes_in_its_pieces() -> None:
    connection = await asked(answering(head(LENGTH), body(b"be", more=True), body(b"an")), GET, GET)
    assert connection.written == [b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n", b"be", b"an"] * 2


@pytest.mark.parametrize(("request_", "status"), [(HEAD, 200), (GET, 304)])
async def test_where_there_is_no_body_none_is_sent(request_: bytes, status: int) -> None:
    length = LENGTH if request_ is HEAD else (b"etag", b"x")
    connection = await asked(answering(head(length, status=status), body(b"")), request_, GET)
    assert b"".join(connection.written).count(b"HTTP/1.1") == 2
    assert not b"".join(connection.written).endswith(b"bean")


@pytest.mark.parametrize("value", [b"a\r\nset-cookie: b", b"a\nb", b"a\rb", b"a\0b", b"a\x7fb"])
async def test_no_header_ends_early(value: bytes) -> None:
    connection = await asked(answering(head(LENGTH, (b"x-mine", value)), body(b"bean")), GET)
    assert not any(b"x-mine" in written for written in connection.written)


@pytest.mark.parametrize("data", [b"bea", b"beans"])
async def test_an_answer_that_is_not_as_long_as_it_says_ends_the_connection(data: bytes) -> None:
    connection = await asked(answering(head(LENGTH), body(data)), GET)
    assert connection.is_closed
    assert not b"".join(connection.written).endswith(b"beans")


async def test_a_fault_after_the_head_is_answered_as_one() -> None:
    async def faulty(scope: Scope, receive: Receive, send: Send) -> None:
        await send(head(LENGTH))
        raise RuntimeError

    connection = await asked(faulty, GET)
    assert b"".join(connection.written).startswith(b"HTTP/1.1 500 ")


async def test_small_packets_are_not_held_back() -> None:
    """On asyncio's own loop too, which asks the listening socket whether it is TCP."""
    listening, accepted = bind("127.0.0.1", 0), asyncio.get_running_loop().create_future()

    class Accepting(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            accepted.set_result(transport.get_extra_info("socket"))

    async with await asyncio.get_running_loop().create_server(Accepting, sock=listening):
        _, client = await asyncio.open_connection(*listening.getsockname())
        taken = cast("socket.socket", await accepted)
        assert taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        client.close()


async def test_a_client_of_http_1_0_gets_no_chunks() -> None:
    wire = await asked(answering(head(), body(b"one, ", more=True), body(b"two")), OLD)
    told, _, text = b"".join(wire.written).partition(b"\r\n\r\n")
    assert (b"transfer-encoding" in told, b"connection: close" in told, text) == (False, True, b"one, two")
    assert wire.is_closed
    wire = await asked(answering(head(LENGTH), body(b"four")), OLD)
    assert b"".join(wire.written).endswith(b"content-length: 4\r\nconnection: close\r\n\r\nfour")
