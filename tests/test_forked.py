"""Processes that tests start are forked from one that has imported what they need, whichever test starts the first."""

import re
import subprocess
import sys
from pathlib import Path

from tests.forked import ROOT, forked

SETS = re.compile(r"\.set_forkserver_preload\(\[")


def write_modules(place: Path) -> None:
    place.write_text("\n".join(sys.modules))


def test_a_process_has_imported_the_service_and_what_is_killed_before_it_begins(tmp_path: Path) -> None:
    process = forked(write_modules, (tmp_path / "modules",))
    process.start()
    process.join()
    modules = set((tmp_path / "modules").read_text().split())
    assert {"app.asgi", "tests.compiler.killed.crashing_worker", "tests.resolvers.sync.killed"} <= modules


def test_the_process_that_they_are_forked_from_starts_no_other() -> None:
    """It imports `tests.forked`, too, which starts one only for a process that is asked for."""
    asked = "import tests.forked\nfrom multiprocessing import forkserver\nprint(forkserver._forkserver._forkserver_pid)"
    done = subprocess.run([sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["None"]


def test_no_test_says_by_itself_what_is_imported() -> None:
    """All share one process to fork from, and the last to say it would say it for all."""
    found = {path for path in ROOT.joinpath("tests").rglob("*.py") if SETS.search(path.read_text(encoding="utf-8"))}
    assert found == {ROOT / "tests" / "forked.py"}
