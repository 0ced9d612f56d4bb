"""Clients that send requests without pause to a service that is about to stop, and record each outcome."""

import asyncio
import json
from collections import Counter
from contextlib import suppress
from urllib.parse import urlsplit

from tests.waiting import within


class ContinuousClients:
    """Several clients. `outcomes` counts complete responses, refused connections, and requests that were cut off."""

    def __init__(self, url: str, token: str, query: str, count: int = 8) -> None:
        parts = urlsplit(url)
        self.host, self.port, self.count = parts.hostname, parts.port, count
        body = json.dumps({"query": query})
        self.request = (
            f"POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        ).encode()
        self.outcomes: Counter[str] = Counter()
        self.last: set[str] = set()
        self.running: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> "ContinuousClients":
        self.running = [
            asyncio.create_task(self.send_until_refused(reuses=number % 2 == 0)) for number in range(self.count)
        ]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self.running:
            task.cancel()
        await asyncio.gather(*self.running, return_exceptions=True)

    async def wait_for_outcomes(self, outcome: str, count: int) -> None:
        """Wait until `count` requests had this outcome."""
        async with within("too few clients had this outcome"):
            while self.outcomes[outcome] < count:
                await asyncio.sleep(0.01)

    async def send_until_refused(self, reuses: bool) -> None:
        """Send requests until connections are refused: on one connection while it lasts, or on a new one each time."""
        while True:
            try:
                reader, writer = await asyncio.open_connection(self.host, self.port)
            except OSError:
                self.outcomes["refused"] += 1
                return
            lasts = True
            while lasts:
                lasts = await self.send_request(reader, writer) and reuses
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def send_request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Send one request, and return whether the connection may be used again."""
        try:
            writer.write(self.request)
            await writer.drain()
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = int(head.partition("content-length: ")[2].partition("\r\n")[0])
            body = await reader.readexactly(length)
        except (OSError, asyncio.IncompleteReadError):
            self.outcomes["cut"] += 1
            return False
        whole = head.startswith("http/1.1 200") and "errors" not in json.loads(body)
        self.outcomes["whole" if whole else f"other: {head.splitlines()[0]}"] += 1
        return "connection: close" not in head
