"""A client that keeps some connections busy and looks at every answer."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import cast
from urllib.parse import urlsplit

END = b"\r\n\r\n"
PATIENCE = 30  # seconds for the last answers
LENGTH = b"content-length: "


@dataclass
class Load:
    """What came of it. An answer that is no 200, or speaks of errors, is one."""

    seconds: float = 0
    milliseconds: list[float] = field(default_factory=list)
    errors: list[bytes] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    @property
    def count(self) -> int:
        return len(self.milliseconds)

    def percentile(self, share: float) -> float:
        return sorted(self.milliseconds)[int(share * (self.count - 1))]


class Caller(asyncio.Protocol):
    """One connection: the next request goes out when the last answer is in."""

    def __init__(self, requests: Iterator[bytes], load: Load, keep: bool) -> None:
        self.requests, self.load, self.keep = requests, load, keep
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.received = b""
        self.stopping = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: asyncio.WriteTransport = cast(asyncio.WriteTransport, transport)  # uvloop's is no subclass
        self.ask()

    def ask(self) -> None:
        request = None if self.stopping else next(self.requests, None)
        if request is None:
            self.transport.close()
            return
        self.asked = time.perf_counter()
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, found, body = self.received.partition(END)
        if found and len(body) >= int(head.lower().partition(LENGTH)[2].partition(b"\r\n")[0]):
            self.answered(head, body)

    def answered(self, head: bytes, body: bytes) -> None:
        self.load.milliseconds.append((time.perf_counter() - self.asked) * 1000)
        if not head.startswith(b"HTTP/1.1 200") or b'"errors"' in body:
            self.load.errors.append(body)
        if self.keep:
            self.load.bodies.append(body)
        self.received = b""
        self.ask()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_result(None)


async def call(url: str, requests: Sequence[bytes], connections: int, seconds: float) -> Load:
    """Ask again and again, for so long."""
    return await drive(url, cycle(requests), Load(), connections, seconds)


async def answers(url: str, requests: Sequence[bytes]) -> Load:
    """Each request once, in order, with the bodies kept."""
    return await drive(url, iter(requests), Load(), 1, None, keep=True)


async def drive(
    url: str, requests: Iterator[bytes], load: Load, connections: int, seconds: float | None, keep: bool = False
) -> Load:
    loop, (host, _, port) = asyncio.get_running_loop(), urlsplit(url).netloc.partition(":")
    started = time.perf_counter()
    callers = [
        (await loop.create_connection(lambda: Caller(requests, load, keep), host, int(port)))[1]
        for _ in range(connections)
    ]
    if seconds is not None:
        await asyncio.sleep(seconds)
    for caller in callers:
        caller.stopping = seconds is not None
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(caller.done for caller in callers))
    load.seconds = time.perf_counter() - started
    return load
