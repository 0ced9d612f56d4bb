"""Processes that are made to be killed, forked from one that has imported what they need: that takes them longest."""

import os
import sys
from collections.abc import Mapping
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from app.cli.program import main

PROCESSES = get_context("forkserver")
PROCESSES.set_forkserver_preload([
    "app.cli.session", "app.settings", "resolvers.archives.backups", "resolvers.sources.moving_files",
    "resolvers.import_export.files", "tests.forked", "tests.resolvers.ingest.ingesting",
])  # fmt: skip


def begin(arguments: list[str], settings: Mapping[str, str], log: Path) -> ForkServerProcess:
    """Start a command with these variables alone, whose output goes to a file."""
    process = PROCESSES.Process(target=run, args=(arguments, dict(settings), log))
    process.start()
    return process


def run(arguments: list[str], settings: dict[str, str], log: Path) -> None:
    os.environ.clear()
    os.environ.update(settings)
    with log.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    sys.exit(main(arguments))


def end(process: ForkServerProcess) -> int:
    """Kill it, if it still runs, and return its exit code."""
    process.kill()
    process.join()
    code = process.exitcode
    assert code is not None
    process.close()
    return code
