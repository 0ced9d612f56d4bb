"""A network before Postgres that counts round trips, and delays, holds or loses them on request."""

import asyncio
from typing import Literal
from urllib.parse import parse_qs, urlsplit

import asyncpg

from benchmarks.faults.network import Network

KEY_DATA = b"K\x00\x00\x00\x0c"  # BackendKeyData: the process number and a secret follow
Loss = Literal["before", "after"]


class Proxy(Network):
    """A proxy: each connection of a client leads to a connection of the server.

    A round trip is everything that a client sends until the server answers. `trips` counts those of all connections,
    and `delay` is added to every packet in either direction, in seconds.
    """

    def __init__(self, dsn: str) -> None:
        super().__init__(dsn)
        self.upstream = urlsplit(dsn)
        self.admin_dsn = dsn
        self.delay = 0.0
        self.trips = 0
        self.lost = 0
        self.lost_trips: dict[int, Loss] = {}

    def lose(self, trip: int, when: Loss = "before") -> None:
        """Terminate the backend of a future round trip, 1 for the next: before it executes, or before it answers."""
        self.lost_trips = {self.trips + trip: when}

    @property
    def dsn(self) -> str:
        account = self.upstream.netloc.rpartition("@")[0] or "postgres"
        return f"postgresql://{account}@127.0.0.1:{self.port}{self.upstream.path}?sslmode=disable"

    async def forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await Link(self, reader, writer).run()

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        given = parse_qs(self.upstream.query)
        port = int(given.get("port", [str(self.upstream.port or 5432)])[0])
        if folder := given.get("host"):
            return await asyncio.open_unix_connection(f"{folder[0]}/.s.PGSQL.{port}")
        return await asyncio.open_connection(self.upstream.hostname, port)

    async def terminate(self, pid: int) -> None:
        """Terminate a backend, and return when it has ended."""
        self.lost += 1
        connection = await asyncpg.connect(self.admin_dsn)
        try:
            assert await connection.fetchval("SELECT pg_terminate_backend($1, 10000)", pid)
        finally:
            await connection.close()


class Link:
    """One connection of a client, with the connection of the server that it leads to."""

    def __init__(self, proxy: Proxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.proxy, self.reader, self.writer = proxy, reader, writer
        self.is_asking = False
        self.trip = 0
        self.pid = 0

    async def run(self) -> None:
        try:
            answers, requests = await self.proxy.connect()
        except OSError:
            self.writer.close()
            return
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self.pump(self.reader, requests, self.on_request))
                tasks.create_task(self.pump(answers, self.writer, self.on_response))
        except* OSError:
            pass
        finally:
            for end in (requests, self.writer):
                end.close()

    async def on_request(self, data: bytes) -> bytes:
        if not self.is_asking:
            self.is_asking = True
            self.proxy.trips += 1
            self.trip = self.proxy.trips
            if self.proxy.lost_trips.get(self.trip) == "before" and self.pid:
                await self.proxy.terminate(self.pid)
        return data

    async def on_response(self, data: bytes) -> bytes:
        if not self.pid and (start := data.find(KEY_DATA)) >= 0:
            self.pid = int.from_bytes(data[start + 5 : start + 9])
        if self.is_asking and self.proxy.lost_trips.get(self.trip) == "after" and self.pid:
            await self.proxy.terminate(self.pid)
            raise ConnectionResetError
        self.is_asking = False
        return data

    async def pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, connection: object) -> None:
        """Forward packets in order, each `delay` seconds after it arrived."""
        assert callable(connection)
        waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        clock = asyncio.get_running_loop()

        async def deliver() -> None:
            while True:
                due, data = await waiting.get()
                await asyncio.sleep(due - clock.time())
                await self.proxy.flowing.wait()
                sink.write(data)
                await sink.drain()
                if not data:
                    raise ConnectionResetError

        async def take() -> None:
            while data := await source.read(65536):
                waiting.put_nowait((clock.time() + self.proxy.delay, await connection(data)))
            waiting.put_nowait((clock.time() + self.proxy.delay, b""))

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(take())
            tasks.create_task(deliver())
