"""Runs `cairn` as processes of their own, as a terminal does."""

import io
import json
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from app.cli.program import main

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "import sys; from app.cli import main; sys.exit(main())"]
READY = re.compile(r"^(?:curl|Cairn serves) .*\n", re.MULTILINE)


class Ran(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> dict[str, str]:
        """The last line of stderr: the lines before it tell what was done until then."""
        error: dict[str, str] = json.loads(self.err.splitlines()[-1])["error"]
        return error


MARA = ("--tenant", "acme", "--owner", "mara")
Cairn = Callable[..., Ran]
"""A function that runs a command with these arguments."""


def environment(data_dir: Path) -> dict[str, str]:
    """Nothing is swept and no slow loop is logged: neither the hour nor a busy machine is to make a difference."""
    paths = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "CAIRN_DATA_DIR": str(data_dir)}
    if "TMPDIR" in os.environ:
        paths["TMPDIR"] = os.environ["TMPDIR"]
    return {**paths, "CAIRN_SWEEP_AT": "never", "CAIRN_SLOW_LOOP": "0"}


def cairn(data_dir: Path, *arguments: str) -> Ran:
    """Waits for a command that uses the embedded server in that folder."""
    ran = subprocess.run(
        [*COMMAND, *arguments], cwd=ROOT, env=environment(data_dir), capture_output=True, text=True, timeout=60
    )
    assert "Traceback" not in ran.stderr
    return Ran(ran.returncode, ran.stdout, ran.stderr)


def cairn_here(data_dir: Path, *arguments: str, **settings: str) -> Ran:
    """The same in this process, which has imported everything that commands need."""
    wanted = {name: value for name, value in environment(data_dir).items() if name.startswith("CAIRN_")}
    wanted |= {f"CAIRN_{name.upper()}": value for name, value in settings.items()}
    others = {name: value for name, value in os.environ.items() if not name.startswith("CAIRN_")}
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with patch.dict(os.environ, others | wanted, clear=True), redirect_stdout(out), redirect_stderr(err):
        code = main(arguments)
        out.flush()
        err.flush()
    return Ran(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))


class Serving:
    """A command that serves, in a process group of its own, and what it said when it was ready."""

    def __init__(self, data_dir: Path, *arguments: str, cwd: Path = ROOT, **settings: str) -> None:
        set = {f"CAIRN_{name.upper()}": value for name, value in settings.items()}
        self.process = subprocess.Popen(
            [*COMMAND, *arguments], cwd=cwd, env=environment(data_dir) | set, text=True, process_group=0,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.said = ""
        while not READY.search(self.said):
            line = self.process.stdout.readline()
            assert line, self.process.communicate()[1]
            self.said += line

    def __enter__(self) -> "Serving":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def found(self, pattern: str) -> str:
        found = re.search(pattern, self.said)
        assert found, self.said
        return found[1]

    @property
    def url(self) -> str:
        return self.found(r"(http://\S+/graphql)\b")

    def ask(self, query: str, token: str | None = None) -> Any:
        """The data of one operation."""
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token or self.found('Token +(.+)')}"}
        request = urllib.request.Request(self.url, json.dumps({"query": query}).encode(), headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            body = json.load(answer)
        assert "errors" not in body, body
        return body["data"]


def processes(data_dir: Path) -> str:
    """Those that name the folder: a Postgres does."""
    return subprocess.run(["pgrep", "-af", str(data_dir)], capture_output=True, text=True).stdout
