"""The server: it keeps the garbage collector from holding up requests, and drains its connections when it stops."""

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
LINGER = 0.5  # seconds for a client that has a connection and may be sending on it just now
TICK = 0.05  # seconds between two looks at whether the wait is over
SWITCH_INTERVAL = 0.001  # seconds that a thread computes before another gets its turn; 0.005 in Python
LARGE_BLOCK = 1 << 17  # bytes from which on memory is asked of the system for each block, and given back with it
M_MMAP_THRESHOLD = -3  # of mallopt(3)
BACKLOG = 10_000  # connections that are accepted from the listen queue at most: the kernel has room for fewer


def return_large_blocks() -> None:
    """Have glibc give large blocks back to the system as soon as they are freed.

    It raises its threshold to 32 MB by itself, and large answers then leave holes in a heap that never shrinks. Other
    C libraries have no such function, or none that knows this.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if sys.platform == "linux" and mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK)


class Draining:
    """A flag that is on once this process was told to stop."""

    def __init__(self) -> None:
        self.is_on = False


DRAINING = Draining()


NEW = 700  # new objects, as usual in Python: the command line has it collect more seldom while it imports
SELDOM = 1_000  # collections of generation 0 before one of generation 1 begins by itself
NEVER = 1_000_000_000
EVERY = 60.0  # seconds between two looks at everything
FEW = 100  # requests: a thousand that wait are 200,000 objects, and take it 100 ms and more
PUT_OFF_MOST = 10  # times in a row that more requests than that put it off


class GarbageCollection:
    """Has the garbage collector look at everything once a minute, when few requests are running, and never by
    itself: it would do so in the midst of a crowd, whose requests are what there is most of.

    What lives as long as the process is kept from it: the schema, its types and all modules are a quarter of a million
    objects, and take it 100 ms and more. It looks at what requests have made after every few of them, see
    protocol.Intake, and at what plans have left behind after each of them, see lib/lru.py.
    """

    def __init__(self, requests: Sized) -> None:
        self.requests, self.put_off = requests, 0
        self.before = gc.get_threshold()

    def start(self) -> None:
        gc.freeze()
        self.before = gc.get_threshold()
        gc.set_threshold(NEW, SELDOM, NEVER)
        self.timer = asyncio.get_running_loop().call_later(EVERY, self.look)

    def look(self) -> None:
        self.timer = asyncio.get_running_loop().call_later(EVERY, self.look)
        self.put_off += 1
        if gc.isenabled() and (len(self.requests) <= FEW or self.put_off > PUT_OFF_MOST):
            self.put_off = 0
            gc.collect()

    def stop(self) -> None:
        self.timer.cancel()
        gc.set_threshold(*self.before)


class Server(uvicorn.Server):
    """A server that stops without losing a request.

    Told to stop, it (1) says so at /readyz and closes each connection with its answer, (2) goes on accepting for the
    drain delay, so that load balancers leave, (3) closes its listening sockets and serves those who were already in
    the queue, (4) waits for what is in flight.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.collection = GarbageCollection(self.server_state.tasks)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and keep the garbage collector and threads from holding up the event loop: those that read long texts
        give it its turn sooner."""
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
        """Begin to drain. It is called twice: uvicorn renews its headers each second until it sees that it stops."""
        DRAINING.is_on = True
        if CLOSE not in self.server_state.default_headers:
            self.server_state.default_headers.append(CLOSE)

    async def wait(self, seconds: float, while_connected: bool = False) -> None:
        """Wait; a second Ctrl-C ends that, and so does, if `while_connected`, the end of the last connection."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends and not self.force_exit:
            if while_connected and not self.server_state.connections:
                return
            await asyncio.sleep(TICK)

    async def close_listening(self, sockets: list[socket.socket]) -> None:
        """Close the sockets and serve the connections in their queues, which the kernel has accepted already."""
        queues = [listening.dup() for listening in sockets]
        for server in self.servers:
            server.close()
        for listening in sockets:
            listening.close()
        waiting = [accepted for queue in queues for accepted in accept_all(queue)]
        for accepted in waiting:
            await asyncio.get_running_loop().connect_accepted_socket(self.protocol, accepted)

    def protocol(self) -> asyncio.Protocol:
        made: Any = self.config.http_protocol_class
        protocol: asyncio.Protocol = made(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return protocol


def accept_all(queue: socket.socket) -> list[socket.socket]:
    """Accept every connection in the queue without yielding: a client that is answered would come back to it."""
    accepted: list[socket.socket] = []
    queue.setblocking(False)
    with queue, suppress(OSError):  # the queue is empty
        while len(accepted) < BACKLOG:
            accepted.append(queue.accept()[0])
    return accepted
