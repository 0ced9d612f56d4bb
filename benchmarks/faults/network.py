"""A network between a service and its Postgres that can be cut: packets are held back, and neither end gets an
error."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Self


class Network:
    """Forwards TCP connections to a Unix socket while `flowing` is set."""

    def __init__(self, target: str) -> None:
        self.target, self.port = target, 0
        self.flowing = asyncio.Event()
        self.flowing.set()
        self.tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Self]:
        server = await asyncio.start_server(self.accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for task in self.tasks:
                task.cancel()
            await asyncio.gather(*self.tasks, return_exceptions=True)

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        with suppress(OSError):
            await self.forward(reader, writer)

    async def forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward one connection of a client to the server, for as long as both are open."""
        answers, requests = await asyncio.open_unix_connection(self.target)
        try:
            await asyncio.gather(self.pump(reader, requests), self.pump(answers, writer))
        finally:
            requests.close()
            writer.close()

    async def pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(65_536):
            await self.flowing.wait()
            sink.write(data)
            await sink.drain()
        sink.close()
