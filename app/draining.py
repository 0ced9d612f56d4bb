"""A process that was told to stop goes on serving for a while, and says so to whoever asks."""

import asyncio
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.supervisors import multiprocess

from db.deadlines import Deadlines

from .collecting import keep_what_is_there
from .heads import Heads

CLOSE = (b"connection", b"close")
LINGER = 0.5  # seconds for a client that has a connection and may be sending on it just now
TICK = 0.05
MOST = 10_000  # connections in the queue: the kernel has room for fewer


class Draining:
    """Of this process: a process stops as a whole."""

    def __init__(self) -> None:
        self.is_on = False


DRAINING = Draining()


class Config(uvicorn.Config):
    """`drain_delay` is how long the service is still reached after it has said that it stops, in seconds.

    `heads` is what is remembered of requests, `idle` are the connections on which none runs, both in this process.
    """

    drain_delay: float = 0.0
    heads: Heads
    idle: Deadlines[Any]


class Server(uvicorn.Server):
    """Stops without losing a request.

    Told to stop, it (1) says so at /readyz and closes each connection with its answer, (2) goes on accepting for the
    delay, so that load balancers leave, (3) closes its door and serves those who were already waiting at it, (4)
    waits for what is in flight.
    """

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            keep_what_is_there()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.say_so()
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.say_so()
        await self.passed(getattr(self.config, "drain_delay", 0.0))
        await self.close_the_door(sockets or [])
        await self.passed(LINGER, while_connected=True)
        await super().shutdown(sockets)

    def say_so(self) -> None:
        """Twice, because uvicorn makes its headers anew each second until it sees that it stops."""
        DRAINING.is_on = True
        if CLOSE not in self.server_state.default_headers:
            self.server_state.default_headers.append(CLOSE)

    async def passed(self, seconds: float, while_connected: bool = False) -> None:
        """A second Ctrl-C ends the wait, and so does, where that is enough, the end of the last connection."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends and not self.force_exit:
            if while_connected and not self.server_state.connections:
                return
            await asyncio.sleep(TICK)

    async def close_the_door(self, sockets: list[socket.socket]) -> None:
        """The kernel has accepted those that are in the queue: closing now would cut them off."""
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
    """In one go, nothing else running: whoever is answered now would come back and stand in the queue again."""
    accepted: list[socket.socket] = []
    queue.setblocking(False)
    with queue, suppress(OSError):  # that nobody is left
        while len(accepted) < MOST:
            accepted.append(queue.accept()[0])
    return accepted


@contextmanager
def held_back(*numbers: int) -> Iterator[None]:
    """Signals that come meanwhile are handled afterwards."""
    came: list[int] = []
    handlers = {number: signal.signal(number, lambda number, _: came.append(number)) for number in numbers}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in came:
            signal.raise_signal(number)


class Worker(multiprocess.Process):
    """One of several processes. Until it `has_started` it holds the door open, and nobody answers at it."""

    has_started = False

    def start(self) -> None:
        """Whole, with the sockets that it is to have. The end of the pipe that it has is its own: so its death is
        heard at once, whatever it was asked."""
        with held_back(signal.SIGINT, signal.SIGTERM):
            super().start()
            self.child_conn.close()

    def is_alive(self, timeout: float = 5) -> bool:
        """Nobody is replaced once all are to stop."""
        return super().is_alive(timeout) or DRAINING.is_on

    def _healthcheck(self, timeout: float) -> bool | None:
        answer = super()._healthcheck(timeout)
        self.has_started = self.has_started or answer is True
        return answer

    @property
    def server(self) -> Server:
        if not isinstance(self._server, Server):
            self._server = Server(self.config)
        return self._server


multiprocess.Process = Worker  # type: ignore[misc]  # the only way to say which server uvicorn's workers run
