"""The temporary folder of a run is kept while the run lives, and removed after the run was killed."""

import signal
import sys
from pathlib import Path
from subprocess import PIPE, Popen

from tests.temporary import remove_abandoned

MAKES = """
import sys, time
from pathlib import Path
from tests.temporary import make_folder

print(make_folder(Path(sys.argv[1])), flush=True)
time.sleep(60)
"""


def test_the_folder_of_a_killed_run_is_removed_by_the_next_run(tmp_path: Path) -> None:
    foreign = tmp_path / "cairn-tests-of-somebody-else"
    foreign.mkdir()
    with Popen(
        [sys.executable, "-c", MAKES, tmp_path], env={"PYTHONPATH": str(Path.cwd())}, stdout=PIPE, text=True
    ) as run:
        assert run.stdout
        place = Path(run.stdout.readline().strip())
        remove_abandoned(tmp_path)
        assert place.parent == tmp_path
        assert place.exists(), "its run lives"
        run.send_signal(signal.SIGKILL)
    remove_abandoned(tmp_path)
    assert [*tmp_path.iterdir()] == [foreign]
