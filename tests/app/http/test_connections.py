"""Requests that arrive incomplete, in pieces or malformed on a connection of the real service."""

import asyncio
from collections.abc import Iterator
from itertools import count, repeat
from pathlib import Path

import orjson
import pytest

from app.server import protocol
from tests.app.clients.bytes_client import BytesClient, connect
from tests.app.clients.streaming import WIKI_CHANGED, open_initialised_socket
from tests.app.service import Service, serving

START = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
CHUNKED = b"POST /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"
HEADS = {
    "a line": (b"GET /graphql?query=", repeat(b"y" * 9000)),
    "a header": (START + b"X: ", repeat(b"y" * 9000)),
    "headers": (START, (b"A%d: %b\r\n" % (n, b"y" * 9000) for n in count())),
    "trailers": (CHUNKED, (b"A%d: %b\r\n" % (n, b"y" * 9000) for n in count())),
    "a chunk extension": (CHUNKED.removesuffix(b"0\r\n") + b"5;", repeat(b"y" * 9000)),
}
MAX_PIECES = 40
"""Several times as many pieces as the service reads before it closes the connection."""


async def sent_until_closed(client: BytesClient, pieces: Iterator[bytes]) -> int:
    """Return how many pieces were sent, with short pauses between them, as over a network."""
    for sent in range(MAX_PIECES):
        try:
            await client.send(next(pieces))
        except ConnectionError:
            return sent
        await asyncio.sleep(0.01)
    return MAX_PIECES


@pytest.mark.parametrize("kind", HEADS)
async def test_an_endless_request_head_or_trailer_closes_the_connection(service: Service, kind: str) -> None:
    start, pieces = HEADS[kind]
    async with connect(service) as client:
        await client.send(start)
        assert await sent_until_closed(client, iter(pieces)) < MAX_PIECES


async def test_a_request_head_over_the_limit_gets_431(service: Service) -> None:
    async with connect(service) as client:
        await client.send(START + b"X: " + b"y" * 40_000)
        await asyncio.sleep(0.05)
        await client.send(b"y" * 40_000)
        status, headers, body = await client.read_response()
    assert status == b"HTTP/1.1 431 Request Header Fields Too Large"
    assert (headers["connection"], headers["x-content-type-options"]) == ("close", "nosniff")
    assert orjson.loads(body)["errors"][0]["extensions"] == {"code": "LIMIT_EXCEEDED"}


async def test_request_heads_may_arrive_in_pieces_on_one_connection(service: Service) -> None:
    request = START + b"".join(b"A%d: %b\r\n" % (n, b"y" * 4000) for n in range(10)) + b"\r\n"
    async with connect(service) as client:
        for _ in range(4):
            for start in range(0, len(request), 9000):
                await client.send(request[start : start + 9000])
                await asyncio.sleep(0)
            assert (await client.read_response())[0] == b"HTTP/1.1 200 OK"


async def test_pipelined_and_later_requests_are_answered(service: Service) -> None:
    request = START + b"\r\n"
    async with connect(service) as client:
        for _ in range(3):
            await client.send(request * 3)
            assert [(await client.read_response())[0] for _ in range(3)] == [b"HTTP/1.1 200 OK"] * 3
        await client.send(request)
        assert (await client.read_response())[0] == b"HTTP/1.1 200 OK"


async def test_a_large_body_does_not_count_towards_the_limit_of_the_head(service: Service, token: str) -> None:
    text = b'{"query": "{ viewer { role } }", "extensions": {"x": "%b"}}' % (b"y" * 1_000_000)
    head = f"POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
    async with connect(service) as client:
        await client.send(f"{head}Content-Length: {len(text)}\r\n\r\n".encode())
        for start in range(0, len(text), 50_000):
            await client.send(text[start : start + 50_000])
        assert b"ADMIN" in (await client.read_response())[2]


@pytest.mark.parametrize("sent", [b"", b"GET", START])
async def test_an_incomplete_request_head_times_out(
    service: Service, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(protocol, "READ_TIMEOUT", 0.1)
    async with connect(service) as client:
        await client.send(sent)
        answer = await client.read_rest()
    assert (b" 408 " in answer, b'"TIMEOUT"' in answer) == (bool(sent), bool(sent))


async def test_subscriptions_and_repeated_requests_do_not_time_out(
    service: Service, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "READ_TIMEOUT", 2)
    async with connect(service) as client, open_initialised_socket(service, token) as socket:
        await socket.subscribe(WIKI_CHANGED)
        for _ in range(3):
            await client.send(START + b"\r\n")
            assert (await client.read_response())[0] == b"HTTP/1.1 200 OK"
            await asyncio.sleep(0.8)
        await socket.check_nothing_sent()


async def test_malformed_http_gets_an_error_in_the_common_format(service: Service) -> None:
    async with connect(service) as client:
        await client.send(b"\x16\x03\x01 not http\r\n\r\n")
        status, _, body = await client.read_response()
    assert status == b"HTTP/1.1 400 Bad Request"
    assert orjson.loads(body)["errors"][0]["extensions"] == {"code": "BAD_REQUEST"}


async def test_an_idle_connection_is_closed_after_the_keep_alive_time(dsn: str, tmp_path: Path) -> None:
    for seconds, is_kept in ((0.1, False), (75.0, True)):
        async with serving(dsn, tmp_path, keep_alive=seconds) as service, connect(service) as client:
            await client.send(START + b"\r\n")
            assert (await client.read_response())[0] == b"HTTP/1.1 200 OK"
            await asyncio.sleep(0.4)
            assert client.reader.at_eof() is not is_kept


@pytest.mark.parametrize("size", [100_000, 200_000])
async def test_a_connection_answered_before_the_body_is_closed_after_keep_alive(
    dsn: str, tmp_path: Path, size: int
) -> None:
    head = b"POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n"
    async with serving(dsn, tmp_path, keep_alive=0.2) as service, connect(service) as client:
        await client.send(head)
        assert (await client.read_response())[0] == b"HTTP/1.1 404 Not Found"
        await client.send(b"x" * size)
        assert await client.read_rest() == b""
