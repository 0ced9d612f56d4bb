"""The server: it runs the garbage collector when few requests are active, and drains its connections at shutdown."""

import asyncio
import ctypes
import gc
import socket
import sys
import time
from collections.abc import Sized
from contextlib import suppress
from types import FrameType
from typing import Any

import uvicorn

CLOSE = (b"connection", b"close")
LINGER = 0.5  # seconds for connected clients that may be sending a request when the server stops
TICK = 0.05  # seconds between two checks of whether a wait is over
SWITCH_INTERVAL = 0.001  # seconds after which a running thread yields to another; Python's default is 0.005
LARGE_BLOCK = 1 << 17  # bytes from which glibc maps a block of its own, and unmaps it when it is freed
M_MMAP_THRESHOLD = -3  # a parameter of mallopt(3)
BACKLOG = 10_000  # the maximum of connections to accept from the listen queue; the kernel holds fewer


def return_large_blocks() -> None:
    """Make glibc return large blocks to the system as soon as they are freed.

    By default glibc raises its threshold up to 32 MB, and large responses then leave holes in a heap that never
    shrinks. Other C libraries have no mallopt, or do not support this parameter.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if sys.platform == "linux" and mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK)


class Draining:
    """A flag that is set once this process was told to stop."""

    def __init__(self) -> None:
        self.is_on = False


DRAINING = Draining()


YOUNG_OBJECTS = 700  # new objects that start a collection, by default in Python 3.11; the command line sets more
YOUNG_COLLECTIONS = 1_000  # collections of generation 0 before an automatic collection of generation 1
NEVER = 1_000_000_000
COLLECT_INTERVAL = 60.0  # seconds between two full collections
FEW_REQUESTS = 100  # requests; a thousand waiting requests are 200,000 objects, which take the collector over 100 ms
MAX_POSTPONED = 10  # times in a row that a full collection is postponed because of more requests


class GarbageCollection:
    """Runs a full garbage collection once a minute, if few requests are active, instead of automatically.

    Python would start it when there are many new objects, that is, under load.

    Objects that live as long as the process are excluded: the schema, its types and all modules are a quarter of a
    million objects, which take the collector over 100 ms. The objects of requests are collected after every few
    requests (see protocol.Intake), and those that a new plan leaves after each plan (see lib/lru.py).
    """

    def __init__(self, requests: Sized) -> None:
        self.requests, self.postponed = requests, 0
        self.threshold_before = gc.get_threshold()

    def start(self) -> None:
        gc.freeze()
        self.threshold_before = gc.get_threshold()
        gc.set_threshold(YOUNG_OBJECTS, YOUNG_COLLECTIONS, NEVER)
        self.timer = asyncio.get_running_loop().call_later(COLLECT_INTERVAL, self.collect_if_calm)

    def collect_if_calm(self) -> None:
        """Run a full collection if few requests are active, or if it was postponed too often."""
        self.timer = asyncio.get_running_loop().call_later(COLLECT_INTERVAL, self.collect_if_calm)
        self.postponed += 1
        if gc.isenabled() and (len(self.requests) <= FEW_REQUESTS or self.postponed > MAX_POSTPONED):
            self.postponed = 0
            gc.collect()

    def stop(self) -> None:
        self.timer.cancel()
        gc.set_threshold(*self.threshold_before)


class Server(uvicorn.Server):
    """A server that stops without losing a request.

    To stop, it (1) reports at /readyz that it is not ready, and closes each connection after its response, (2) accepts
    connections during the drain delay, until load balancers use other servers, (3) closes its listening sockets and
    serves the connections in their queues, (4) waits for the requests in progress.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.collection = GarbageCollection(self.server_state.tasks)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the server, and configure the garbage collector, threads and malloc for it.

        Threads that process long texts yield to the event loop sooner than by default.
        """
        gc.collect()
        await super().startup(sockets)
        if self.started:
            self.collection.start()
            sys.setswitchinterval(SWITCH_INTERVAL)
            return_large_blocks()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.begin_draining()
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.begin_draining()
        self.collection.stop()
        await self.wait(getattr(self.config, "drain_delay", 0.0))
        await self.close_listening(sockets or [])
        await self.wait(LINGER, while_connected=True)
        await super().shutdown(sockets)

    def begin_draining(self) -> None:
        """Begin to drain. This is called twice: uvicorn renews its default headers each second until it stops."""
        DRAINING.is_on = True
        if CLOSE not in self.server_state.default_headers:
            self.server_state.default_headers.append(CLOSE)

    async def wait(self, seconds: float, while_connected: bool = False) -> None:
        """Wait for `seconds`, or until a second Ctrl-C, or, with `while_connected`, until no connection is open."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends and not self.force_exit:
            if while_connected and not self.server_state.connections:
                return
            await asyncio.sleep(TICK)

    async def close_listening(self, sockets: list[socket.socket]) -> None:
        """Close the listening sockets, and serve the connections in their queues, which the kernel has accepted."""
        queues = [listening.dup() for listening in sockets]
        for server in self.servers:
            server.close()
        for listening in sockets:
            listening.close()
        waiting = [accepted for queue in queues for accepted in accept_all(queue)]
        for accepted in waiting:
            await asyncio.get_running_loop().connect_accepted_socket(self.make_protocol, accepted)

    def make_protocol(self) -> asyncio.Protocol:
        protocol_class: Any = self.config.http_protocol_class
        protocol: asyncio.Protocol = protocol_class(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return protocol


def accept_all(queue: socket.socket) -> list[socket.socket]:
    """Accept all connections in the queue, without yielding to the event loop, so that no client connects again."""
    accepted: list[socket.socket] = []
    queue.setblocking(False)
    with queue, suppress(OSError):  # OSError: the queue is empty
        while len(accepted) < BACKLOG:
            accepted.append(queue.accept()[0])
    return accepted
