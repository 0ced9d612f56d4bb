"""The processes that tests start are forked from one server process that has preloaded the service."""

import re
import subprocess
import sys
from pathlib import Path

from tests.forked import ROOT, forked_process

SETS = re.compile(r"\.set_forkserver_preload\(\[")


def write_modules(place: Path) -> None:
    place.write_text("\n".join(sys.modules))


def test_forked_processes_start_with_the_service_preloaded(tmp_path: Path) -> None:
    process = forked_process(write_modules, (tmp_path / "modules",))
    process.start()
    process.join()
    modules = set((tmp_path / "modules").read_text().split())
    assert {"app.asgi", "tests.compiler.killed.crashing_worker", "tests.resolvers.sync.killable_sync"} <= modules


def test_importing_the_forked_module_starts_no_fork_server() -> None:
    """The fork server imports `tests.forked` too, which starts a server only when a process is requested."""
    script = (
        "import tests.forked\nfrom multiprocessing import forkserver\nprint(forkserver._forkserver._forkserver_pid)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["None"]


def test_only_the_forked_module_sets_the_preload_list() -> None:
    """All tests share one fork server, so a list that one test sets would apply to all of them."""
    found = {path for path in ROOT.joinpath("tests").rglob("*.py") if SETS.search(path.read_text(encoding="utf-8"))}
    assert found == {ROOT / "tests" / "forked.py"}
