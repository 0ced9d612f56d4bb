"""Runs commands in processes forked from one that has imported the program, because importing takes longest."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir
from multiprocessing import connection, forkserver, get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from threading import Lock
from typing import Any

from app.cli.program import main

Settings = Mapping[str, str]
"""The environment variables of a process."""
ROOT = Path(__file__).parents[1]
COMMAND = [sys.executable, "-c", "import sys; from app.cli import main; sys.exit(main())"]
PROCESSES = get_context("forkserver")
APPEND_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND
PROCESS_LOCK = Lock()
"""A lock held while a process is started or polled: multiprocessing polls all processes whenever it starts one."""


def start_server() -> None:
    """Start the process that all others are forked from, in the root of the project, unless it runs.

    It imports from the working directory, which tests change, and skips modules that it does not find. So if it has
    died, it must be started again here, and not by the next process in the folder of a test.
    """
    with chdir(ROOT):
        PROCESSES.set_forkserver_preload(["tests.preloaded"])
        forkserver.ensure_running()


def forked_process(target: Callable[..., object], args: tuple[Any, ...] = (), **named: Any) -> ForkServerProcess:
    """Return a process that will be forked from one that has imported what tests need."""
    start_server()
    return PROCESSES.Process(target=target, args=args, **named)


class Streams:
    """Files that replace the standard streams of a process: unlike pipes, they never fill up."""

    def __init__(self, given: str = "") -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="cairn-test-")
        self.given, self.out, self.err = self.files = [Path(self.folder.name) / name for name in ("in", "out", "err")]
        for file in self.files:
            file.write_text(given if file == self.given else "", encoding="utf-8")


class Command:
    """A command in its own process group, with only these environment variables."""

    def __init__(self, arguments: Sequence[str], settings: Settings, cwd: Path = ROOT, given: str = "") -> None:
        self.streams = Streams(given)
        with PROCESS_LOCK:
            self.process = forked_process(
                target=run_in_fork, args=([*arguments], dict(settings), self.streams.files), kwargs={"cwd": cwd}
            )
            self.process.start()
        assert self.process.pid is not None
        self.pid: int = self.process.pid

    def __enter__(self) -> "Command":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Kill the process if it still runs, and delete its output."""
        self.kill()
        self.wait()
        self.streams.folder.cleanup()

    @property
    def out(self) -> str:
        """What the process has written to stdout until now."""
        return self.streams.out.read_text(encoding="utf-8")

    @property
    def err(self) -> str:
        """What the process has written to stderr until now."""
        return self.streams.err.read_text(encoding="utf-8")

    def lines(self) -> Iterator[str]:
        """Yield the lines of stdout, each once it is complete, until the process has ended."""
        with self.streams.out.open(encoding="utf-8") as out:
            begun, runs = "", True
            while (text := out.readline()) or runs:
                begun += text
                if begun.endswith("\n"):
                    yield begun
                    begun = ""
                elif not text:
                    runs = self.poll() is None
                    time.sleep(0.01)

    @property
    def returncode(self) -> int | None:
        return self.poll()

    def poll(self) -> int | None:
        """Return the exit code, or None while the process runs."""
        with PROCESS_LOCK:
            return self.process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        connection.wait([self.process.sentinel], timeout)
        code = self.poll()
        if code is None:
            raise TimeoutError(f"The command has not ended after {timeout} s.")
        return code

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for the process to end, and return what it wrote to stdout and to stderr."""
        self.wait(timeout)
        return self.out, self.err

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class FreshCommand(Command):
    """A command in a new interpreter, as a terminal starts it."""

    def __init__(self, arguments: Sequence[str], settings: Settings, cwd: Path = ROOT, given: str = "") -> None:
        self.streams = Streams(given)
        with self.streams.given.open() as stdin, self.streams.out.open("a") as out, self.streams.err.open("a") as err:
            self.started = subprocess.Popen(
                [*COMMAND, *arguments], cwd=cwd, env=settings, stdin=stdin, stdout=out, stderr=err, process_group=0
            )
        self.pid = self.started.pid

    def poll(self) -> int | None:
        return self.started.poll()

    def wait(self, timeout: float | None = None) -> int:
        return self.started.wait(timeout)


def start_command(arguments: list[str], settings: Settings, log: Path) -> ForkServerProcess:
    """Start a command that a test will kill, with only these variables. Its output goes to a file."""
    files = [Path(os.devnull), log, log]
    with PROCESS_LOCK:
        process = forked_process(run_in_fork, args=(arguments, dict(settings), files))
        process.start()
    return process


def run_in_fork(arguments: list[str], settings: dict[str, str], files: Sequence[Path], cwd: Path = ROOT) -> None:
    """Run the command in the new process."""
    os.setpgid(0, 0)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(settings)
    tempfile.tempdir = None
    for number, (file, flags) in enumerate(zip(files, (os.O_RDONLY, APPEND_FLAGS, APPEND_FLAGS), strict=True)):
        opened = os.open(file, flags, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - open as long as the process
    sys.exit(main(arguments))


def stop_process(process: ForkServerProcess) -> int:
    """Kill the process if it still runs, and return its exit code."""
    process.kill()
    process.join()
    code = process.exitcode
    assert code is not None
    process.close()
    return code
