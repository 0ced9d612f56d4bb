"""Runs several server processes on the same socket, replaces processes that die, and stops them together."""

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

START_TIMEOUT = 60  # seconds to wait for a worker to start
STOP_TIMEOUT = 0.2  # seconds to wait for the end of a worker that had not started, before the others are stopped
RESTART_PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)  # seconds until a worker that failed to start is started again
FORKS = sys.platform == "linux"  # on other systems, system libraries may not work after a fork


def preload() -> None:
    """Start a process that imports the application in advance, from which workers are forked.

    The imports take two seconds of CPU time, now once instead of for each worker. That process ignores SIGTERM, which
    may be sent to the whole process group, and stops when this process ends.
    """
    if FORKS:
        forkserver.set_forkserver_preload(["app.server.preloaded"])
        before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
        try:
            forkserver.ensure_running()
        finally:
            signal.signal(signal.SIGTERM, before)


class Worker(multiprocess.Process):
    """A server process."""

    config: Config
    has_started = False

    def __init__(self, config: Config, sockets: list[socket.socket]) -> None:
        super().__init__(config, sockets)
        if FORKS:
            options = {"config": config, "target": self.target, "sockets": sockets, "stdin_fileno": None}
            self.process = multiprocessing.get_context("forkserver").Process(target=subprocess_started, kwargs=options)  # type: ignore[assignment]

    def start(self) -> None:
        """Start the process with signals deferred, so that it receives its sockets.

        The parent closes the child's end of the pipe, so that it notices the death of the process at once.
        """
        with deferred_signals(signal.SIGINT, signal.SIGTERM):
            super().start()
            self.child_conn.close()

    def target(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve, in the new process. It closes the parent's end of the pipe, so that it notices the parent's death."""
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self.parent_conn.close()
        os.environ.update(self.config.environment)
        super().target(sockets)

    def always_pong(self) -> None:
        """Answer the parent's health checks, and stop the process when the parent has died.

        This runs in the new process, which nothing else would stop then.
        """
        with suppress(EOFError, OSError):
            super().always_pong()
        os.kill(os.getpid(), signal.SIGTERM)

    def is_alive(self, timeout: float = 5) -> bool:
        """Return whether the process answers. During a shutdown it counts as alive, so that it is not replaced."""
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

    A worker that failed to start, because Postgres was down, for example, is started again after a pause. Only if all
    of the first workers fail, `is_hopeless` is set and the service ends.
    """

    config: Config

    def __init__(self, config: Config, sockets: list[socket.socket], on_ready: Callable[[], None]) -> None:
        super().__init__(config, sockets)
        self.on_ready = on_ready
        self.is_hopeless = False
        self.failures = 0
        """The number of workers in a row that failed to start."""
        self.due: dict[multiprocess.Process, float] = {}
        """Dead workers, each with the monotonic time at which its replacement is started."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.stop)

    def stop(self, number: int, _: object) -> None:
        """Handle a signal at once. uvicorn would handle it at its next health check."""
        self.signal_queue.append(number)
        DRAINING.is_on = True
        self.stop_workers()

    def stop_workers(self) -> None:
        """Tell all workers to stop, beginning with those that have not started.

        The last worker to close the socket must be one that still serves the connections in its queue.
        """
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
        """Replace dead workers. A worker that is created during a signal to stop is told to stop afterwards."""
        if DRAINING.is_on:
            return
        for index, process in enumerate(self.processes):
            if process not in self.due and not process.is_alive(self.config.timeout_worker_healthcheck):
                self.stop_and_schedule(process)
            if not DRAINING.is_on and self.due.get(process, float("inf")) <= time.monotonic():
                self.processes[index] = Worker(self.config, self.sockets)
                self.processes[index].start()
                del self.due[process]
        if DRAINING.is_on:
            self.stop_workers()

    def restart_all(self) -> None:
        """Replace the workers one by one, as uvicorn does, and end when a signal to stop arrives.

        A replacement is among the processes from its start on, so that the signal reaches it.
        """
        for index, old in enumerate([*self.processes]):
            with deferred_signals(signal.SIGINT, signal.SIGTERM):
                if DRAINING.is_on:
                    return
                new = Worker(self.config, self.sockets)
                new.start()
                self.processes.append(new)
            is_ready = new.wait_until_ready(self.config.timeout_worker_healthcheck)
            if DRAINING.is_on:
                return
            if not is_ready:
                self.processes.remove(new)
                new.kill()
                new.join()
                multiprocess.logger.error(f"A new worker was not ready in time; worker {old.pid} goes on.")
                return
            self.processes[index] = new
            self.processes.pop()
            old.terminate()
            old.join()

    def stop_and_schedule(self, process: multiprocess.Process) -> None:
        """Kill a worker that died or hangs, and set the time at which its replacement is started."""
        process.kill()
        process.join()
        if has_started(process):
            pause, self.failures = 0.0, 0
        else:
            pause = RESTART_PAUSES[min(self.failures, len(RESTART_PAUSES) - 1)]
            self.failures += 1
        self.due[process] = time.monotonic() + pause
        multiprocess.logger.info(f"Child process [{process.pid}] died")
        if pause:
            multiprocess.logger.warning(f"A worker could not start; the next one is started in {pause:g} s.")

    def init_processes(self) -> None:
        """Start the workers and wait until they answer. A signal that arrives while they are started reaches each."""
        with deferred_signals(signal.SIGINT, signal.SIGTERM):
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
def deferred_signals(*numbers: int) -> Iterator[None]:
    """Handle the signals that arrive during the block after it."""
    received: list[int] = []
    handlers = {number: signal.signal(number, lambda number, _: received.append(number)) for number in numbers}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in received:
            signal.raise_signal(number)
