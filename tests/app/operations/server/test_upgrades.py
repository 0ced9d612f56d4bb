"""Tests that requests that offer another protocol get complete HTTP/1.1 responses."""

import json
from itertools import repeat

import pytest

from tests.app.clients.bytes_client import BytesClient, connect
from tests.app.service import Service

BODY = b'{"query": "{ viewer { role } }"}'
OFFERS = {
    "Java": b"Connection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAEAAEAAAAIAAAAB\r\nUpgrade: h2c\r\n",
    "curl": b"connection: keep-alive, upgrade, http2-settings\r\nupgrade: H2C\r\nhttp2-settings: AAMAAABk\r\n",
    "TLS": b"Connection: Upgrade\r\nUpgrade: TLS/1.0\r\n",
    "a WebSocket by a POST": b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n",
}


def request_bytes(token: str, offer: bytes = b"") -> bytes:
    """Return the bytes of a request with its body."""
    head = f"POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
    return head.encode() + offer + b"Content-Length: %d\r\n\r\n%b" % (len(BODY), BODY)


async def role(client: BytesClient) -> str:
    status, _, body = await client.read_response()
    assert status == b"HTTP/1.1 200 OK", body
    viewer_role: str = json.loads(body)["data"]["viewer"]["role"]
    return viewer_role


@pytest.mark.parametrize("offer", OFFERS)
async def test_a_request_that_offers_another_protocol_keeps_its_body(service: Service, token: str, offer: str) -> None:
    async with connect(service) as client:
        await client.send(request_bytes(token, OFFERS[offer]))
        assert await role(client) == "ADMIN"
        await client.send(request_bytes(token))
        assert await role(client) == "ADMIN"


async def test_an_upgrade_offer_may_arrive_in_pieces(service: Service, token: str) -> None:
    request = request_bytes(token, OFFERS["Java"])
    async with connect(service) as client:
        for start in range(0, len(request), 7):
            await client.send(request[start : start + 7])
        assert await role(client) == "ADMIN"


async def test_a_chunked_body_of_an_upgrade_offer_is_read(service: Service, token: str) -> None:
    head, _, body = request_bytes(token, OFFERS["curl"]).partition(b"\r\n\r\n")
    head = head.rpartition(b"\r\n")[0] + b"\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with connect(service) as client:
        await client.send(head + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
        assert await role(client) == "ADMIN"


async def test_several_upgrade_offers_are_answered_in_order(service: Service, token: str) -> None:
    async with connect(service) as client:
        await client.send(b"".join(repeat(request_bytes(token, OFFERS["curl"]), 100)))
        assert {await role(client) for _ in range(100)} == {"ADMIN"}


async def test_an_upgrade_offer_without_a_body_is_answered(service: Service) -> None:
    async with connect(service) as client:
        await client.send(b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + OFFERS["curl"] + b"\r\n")
        assert (await client.read_response())[2] == b'{"status":"ok"}'


async def test_connect_requests_are_refused(service: Service) -> None:
    async with connect(service) as client:
        await client.send(b"CONNECT /graphql HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (await client.read_response())[0].split()[1] in {b"400", b"401", b"405"}
