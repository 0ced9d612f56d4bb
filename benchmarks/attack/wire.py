"""Sends HTTP and WebSocket messages by hand: the client costs little CPU, so that the service is what is measured."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
UPGRADE = (
    b"GET /graphql HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n"
)


@dataclass(frozen=True)
class Target:
    """A service, and a credential for it."""

    port: int
    token: str

    def head(self, path: str, length: int, kind: str = "application/json") -> bytes:
        return (
            f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token}\r\n"
            f"Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
        ).encode()


@asynccontextmanager
async def connected(target: Target) -> AsyncIterator[Streams]:
    reader, writer = await asyncio.open_connection("127.0.0.1", target.port)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


@asynccontextmanager
async def upgraded(target: Target) -> AsyncIterator[Streams]:
    async with connected(target) as (reader, writer):
        writer.write(UPGRADE)
        await reader.readuntil(b"\r\n\r\n")
        yield reader, writer


def frame(opcode: int, data: bytes) -> bytes:
    """Build one unfragmented WebSocket frame, masked with zeros."""
    size = len(data)
    if size < 126:
        length = bytes([0x80 + size])
    elif size < 65_536:
        length = bytes([0x80 + 126]) + size.to_bytes(2, "big")
    else:
        length = bytes([0x80 + 127]) + size.to_bytes(8, "big")
    return bytes([0x80 + opcode]) + length + b"\0\0\0\0" + data


async def post(target: Target, path: str, body: bytes, kind: str = "application/json") -> tuple[int, bytes]:
    """Send a request on a new connection, and return the status and the body of the response."""
    async with connected(target) as (reader, writer):
        writer.write(target.head(path, len(body), kind) + body)
        return await read_response(reader)


async def read_response(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    status, length = int(head.split(" ", 2)[1]), int(head.partition("content-length: ")[2].partition("\r\n")[0])
    return status, await reader.readexactly(length)
