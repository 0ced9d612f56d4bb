"""Several server processes on one socket, replaced when they die and stopped together."""

import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from uvicorn.supervisors import Multiprocess, multiprocess

from .shutdown import DRAINING, Config, Server

START_TIMEOUT = 60  # seconds that a worker is given to start
STOP_TIMEOUT = 0.2  # seconds that a worker which has not started is given to stop before the others are told


class Worker(multiprocess.Process):
    """One server process."""

    has_started = False

    def start(self) -> None:
        """Start with signals held back, so that the process gets its sockets, and let go of its end of the pipe, so
        that its death is noticed at once."""
        with signals_held_back(signal.SIGINT, signal.SIGTERM):
            super().start()
            self.child_conn.close()

    def is_alive(self, timeout: float = 5) -> bool:
        """Return whether the process answers; while all are stopping it counts as alive, so that none is replaced."""
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


multiprocess.Process = Worker  # type: ignore[misc]  # uvicorn has no parameter for the class of its processes


class Workers(Multiprocess):
    """The parent of several server processes. It calls `on_ready` when all of them answer."""

    def __init__(self, config: Config, sockets: list[socket.socket], on_ready: Callable[[], None]) -> None:
        super().__init__(config, sockets)
        self.on_ready = on_ready
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.stop)

    def stop(self, number: int, _: object) -> None:
        """Handle a signal at once, where uvicorn would wait for its next look."""
        self.signal_queue.append(number)
        DRAINING.is_on = True
        self.stop_workers()

    def stop_workers(self) -> None:
        """Tell every worker. Those that have not started go first: the last to close the socket must be one that
        still serves the connections in its queue."""
        for listening in self.sockets:
            listening.close()
        for process in sorted(self.processes, key=has_started):
            if process.pid is None or process.exitcode is not None:
                continue
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGTERM)
            if not has_started(process):
                process.process.join(STOP_TIMEOUT)

    def keep_subprocess_alive(self) -> None:
        """Replace workers that died. One that was made while all were told to stop is told afterwards."""
        if not DRAINING.is_on:
            super().keep_subprocess_alive()
            if DRAINING.is_on:
                self.stop_workers()

    def init_processes(self) -> None:
        super().init_processes()
        if all(process.wait_until_ready(START_TIMEOUT) for process in self.processes):
            self.on_ready()


def has_started(process: multiprocess.Process) -> bool:
    return isinstance(process, Worker) and process.has_started


@contextmanager
def signals_held_back(*numbers: int) -> Iterator[None]:
    """Signals that arrive within the block are handled after it."""
    came: list[int] = []
    handlers = {number: signal.signal(number, lambda number, _: came.append(number)) for number in numbers}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in came:
            signal.raise_signal(number)
