"""Helpers that run `cairn` in new processes, as a terminal does, or in the process of the test."""

import io
import json
import os
import re
import subprocess
import time
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from app.cli.program import main
from tests.forked import ROOT, Command, FreshCommand, Settings

READY = re.compile(r"^(?:curl|Cairn serves) .*\n", re.MULTILINE)


class CommandResult(NamedTuple):
    """The exit code and the output of a command that has ended."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> dict[str, str]:
        """The error in the last line of stderr; the lines before it report progress."""
        error: dict[str, str] = json.loads(self.err.splitlines()[-1])["error"]
        return error


MARA = ("--tenant", "acme", "--owner", "mara")
"""The options that name the wiki of Mara in the tenant acme."""
RunCommand = Callable[..., CommandResult]
"""A function that runs a command with the given arguments."""


def environment(data_dir: Path) -> dict[str, str]:
    """Return a command's environment, without sweeps and slow-loop logs, which depend on time and load."""
    paths = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "CAIRN_DATA_DIR": str(data_dir)}
    if "TMPDIR" in os.environ:
        paths["TMPDIR"] = os.environ["TMPDIR"]
    return {**paths, "CAIRN_SWEEP_AT": "never", "CAIRN_SLOW_LOOP": "0"}


def run_in_new_process(data_dir: Path, *arguments: str) -> CommandResult:
    """Run a command in its own process with the embedded server in that folder, and wait for it."""
    return run_command(arguments, environment(data_dir))


def run_command(arguments: Sequence[str], settings: Settings, given: str = "") -> CommandResult:
    """Run a command in its own process with only these variables, and wait for it."""
    with Command(arguments, settings, given=given) as command:
        out, err = command.communicate(60)
        assert "Traceback" not in err
        return CommandResult(command.wait(), out, err)


def run_in_this_process(data_dir: Path, *arguments: str, **settings: str) -> CommandResult:
    """Run a command in this process, with that data folder."""
    wanted = {name: value for name, value in environment(data_dir).items() if name.startswith("CAIRN_")}
    wanted |= {f"CAIRN_{name.upper()}": value for name, value in settings.items()}
    others = {name: value for name, value in os.environ.items() if not name.startswith("CAIRN_")}
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with patch.dict(os.environ, others | wanted, clear=True), redirect_stdout(out), redirect_stderr(err):
        code = main(arguments)
        out.flush()
        err.flush()
    return CommandResult(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))


class ServingCommand:
    """A running command that serves requests, in its own process group. With `is_fresh`, it has a new interpreter."""

    def __init__(
        self, data_dir: Path, *arguments: str, cwd: Path = ROOT, is_fresh: bool = False, **settings: str
    ) -> None:
        given = environment(data_dir) | {f"CAIRN_{name.upper()}": value for name, value in settings.items()}
        self.process = (FreshCommand if is_fresh else Command)(arguments, given, cwd)
        while not READY.search(self.stdout):
            assert self.process.poll() is None, self.process.err
            time.sleep(0.01)

    def __enter__(self) -> "ServingCommand":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.close()

    @property
    def stdout(self) -> str:
        """The text that the command has written to stdout."""
        return self.process.out

    def find_in_stdout(self, pattern: str) -> str:
        """Return the first group of a pattern that stdout must match."""
        found = re.search(pattern, self.stdout)
        assert found, self.stdout
        return found[1]

    @property
    def url(self) -> str:
        return self.find_in_stdout(r"(http://\S+/graphql)\b")

    def ask(self, query: str, token: str | None = None) -> Any:
        """Return the data of one operation."""
        headers = {
            "Content-Type": "application/json",
            "Authorization": f"Bearer {token or self.find_in_stdout('Token +(.+)')}",
        }
        request = urllib.request.Request(self.url, json.dumps({"query": query}).encode(), headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            body = json.load(answer)
        assert "errors" not in body, body
        return body["data"]


def processes(data_dir: Path) -> str:
    """Return the processes whose command line names the folder: a Postgres does."""
    return subprocess.run(["pgrep", "-af", str(data_dir)], capture_output=True, text=True).stdout
