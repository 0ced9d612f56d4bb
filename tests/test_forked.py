"""Processes that tests start are forked from one that has imported what they need, whichever test starts the first."""

import re
import sys
from pathlib import Path

from tests.forked import PROCESSES, ROOT

SETS = re.compile(r"\.set_forkserver_preload\(\[")


def write_modules(place: Path) -> None:
    place.write_text("\n".join(sys.modules))


def test_a_process_has_imported_the_service_and_what_is_killed_before_it_begins(tmp_path: Path) -> None:
    process = PROCESSES.Process(target=write_modules, args=(tmp_path / "modules",))
    process.start()
    process.join()
    modules = set((tmp_path / "modules").read_text().split())
    assert {"app.asgi", "tests.compiler.killed.crashing_worker", "tests.resolvers.sync.killed"} <= modules


def test_nobody_else_says_what_is_imported() -> None:
    """All share one process to fork from, and the last to say it would say it for all."""
    found = {path for path in ROOT.joinpath("tests").rglob("*.py") if SETS.search(path.read_text(encoding="utf-8"))}
    assert found == {ROOT / "tests" / "forked.py"}
