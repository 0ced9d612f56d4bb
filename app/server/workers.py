"""Several server processes on one socket, replaced when they die and stopped together."""

import multiprocessing
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import forkserver

from uvicorn._subprocess import subprocess_started
from uvicorn.supervisors import Multiprocess, multiprocess

from .protocol import Config
from .server import DRAINING, Server

START_TIMEOUT = 60  # seconds that a worker is given to start
STOP_TIMEOUT = 0.2  # seconds that a worker which has not started is given to stop before the others are told
PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)  # seconds until a worker that could not start is started again
FORKS = sys.platform == "linux"  # elsewhere libraries of the system may not survive a fork


def preload() -> None:
    """Begin to import, in a process that does nothing else, what workers need: they are forked from it.

    The imports take two seconds of a core, once instead of for each worker. That process is told to stop by the end
    of this one alone: signals to all processes of a group are for the workers.
    """
    if FORKS:
        forkserver.set_forkserver_preload(["app.server.preloaded"])
        before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
        try:
            forkserver.ensure_running()
        finally:
            signal.signal(signal.SIGTERM, before)


class Worker(multiprocess.Process):
    """One server process."""

    has_started = False

    def __init__(self, config: Config, sockets: list[socket.socket]) -> None:
        super().__init__(config, sockets)
        if FORKS:
            given = {"config": config, "target": self.target, "sockets": sockets, "stdin_fileno": None}
            self.process = multiprocessing.get_context("forkserver").Process(target=subprocess_started, kwargs=given)  # type: ignore[assignment]

    def start(self) -> None:
        """Start with signals held back, so that the process gets its sockets, and let go of its end of the pipe, so
        that its death is noticed at once."""
        with signals_held_back(signal.SIGINT, signal.SIGTERM):
            super().start()
            self.child_conn.close()

    def target(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve, in the new process, which lets go of the parent's end of the pipe, so that it notices its death."""
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self.parent_conn.close()
        assert isinstance(self.config, Config)
        os.environ.update(self.config.environment)
        super().target(sockets)

    def always_pong(self) -> None:
        """Answer the parent, in the new process. Once there is none it stops: nobody else would ever tell it to."""
        with suppress(EOFError, OSError):
            super().always_pong()
        os.kill(os.getpid(), signal.SIGTERM)

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


multiprocess.Process = Worker  # type: ignore[misc, assignment]  # uvicorn has no parameter for the class of its processes


class Workers(Multiprocess):
    """The parent of several server processes. It calls `on_ready` once they answer.

    A worker that could not start, as Postgres was away, is started again after a pause. The service is hopeless only
    if none of the first ones could.
    """

    def __init__(self, config: Config, sockets: list[socket.socket], on_ready: Callable[[], None]) -> None:
        super().__init__(config, sockets)
        self.on_ready = on_ready
        self.is_hopeless = False
        self.failures = 0
        self.due: dict[multiprocess.Process, float] = {}
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
        if DRAINING.is_on:
            return
        for index, process in enumerate(self.processes):
            if process not in self.due and not process.is_alive(self.config.timeout_worker_healthcheck):
                self.bury(process)
            if not DRAINING.is_on and self.due.get(process, float("inf")) <= time.monotonic():
                self.processes[index] = Worker(self.config, self.sockets)  # type: ignore[arg-type]
                self.processes[index].start()
                del self.due[process]
        if DRAINING.is_on:
            self.stop_workers()

    def bury(self, process: multiprocess.Process) -> None:
        """End a worker that died or hangs, and say when the next one is to be started."""
        process.kill()
        process.join()
        if has_started(process):
            pause, self.failures = 0.0, 0
        else:
            pause, self.failures = PAUSES[min(self.failures, len(PAUSES) - 1)], self.failures + 1
        self.due[process] = time.monotonic() + pause
        multiprocess.logger.info(f"Child process [{process.pid}] died")
        if pause:
            multiprocess.logger.warning(f"A worker could not start; the next one is started in {pause:g} s.")

    def init_processes(self) -> None:
        super().init_processes()
        ready = [process for process in self.processes if process.wait_until_ready(START_TIMEOUT)]
        if ready:
            self.on_ready()
        elif not DRAINING.is_on:
            self.is_hopeless = True
            self.should_exit.set()


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
