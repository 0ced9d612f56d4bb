"""A client that sends exactly the given bytes to the real service."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.app.service import Service


class BytesClient:
    """A connection that sends and receives bytes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def read_response(self) -> tuple[bytes, dict[str, str], bytes]:
        """Return the status line, headers and body of the next response."""
        async with asyncio.timeout(30):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = dict(line.split(": ", 1) for line in head[1:] if line)
            return head[0].encode(), headers, await self.reader.readexactly(int(headers["content-length"]))

    async def read_rest(self) -> bytes:
        """Return everything that the server sends until it closes the connection."""
        async with asyncio.timeout(30):
            return await self.reader.read()


@asynccontextmanager
async def connect(service: Service) -> AsyncIterator[BytesClient]:
    reader, writer = await asyncio.open_connection("127.0.0.1", int(service.url.rpartition(":")[2]))
    try:
        yield BytesClient(reader, writer)
    finally:
        writer.close()
