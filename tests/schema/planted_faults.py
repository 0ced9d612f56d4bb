"""Shows that each planted fault is found: python -m tests.schema.planted_faults [words of the files to try]

Copies the tree, plants one fault at a time and runs the tests of reads on it, the random documents first. The variable
DOCUMENTS sets how many (150), and CAIRN_TEST_DATABASE_URL the server. Takes some minutes, so `make test` leaves it out.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from db.embedded import EmbeddedServer
from tests.schema.faults import FAULTS, Fault

ROOT = Path(__file__).parents[2]
PACKAGES = ("app", "content", "db", "migrations", "resolvers", "schema", "selection", "tests")
GATES = (
    ["tests/schema/execution/test_differential.py"],
    [
        "tests/schema/execution/test_engine.py",
        "tests/schema/execution/test_lists.py",
        "tests/schema/execution/test_plans.py",
        "tests/schema/search/test_search.py",
        "tests/schema/search/test_suggestions.py",
        "tests/schema/execution/test_relations.py",
    ],
    ["tests/schema/access/test_access.py"],
)
FAILED = re.compile(r"^FAILED \S*?::(\S+)", re.MULTILINE)


@contextmanager
def database() -> Iterator[str]:
    if given := os.environ.get("CAIRN_TEST_DATABASE_URL"):
        yield given
        return
    folder = tempfile.mkdtemp(prefix="cairn-faults-")
    try:
        with EmbeddedServer(Path(folder), durable=False) as dsn:
            yield dsn
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def copy_of_the_tree() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        for name in PACKAGES:
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", tree)
        yield tree


@contextmanager
def planted(tree: Path, fault: Fault) -> Iterator[None]:
    path = tree / fault.file
    whole = path.read_text()
    if whole.count(fault.before) != 1:
        raise SystemExit(f"{fault.file} has this {whole.count(fault.before)} times, not once: {fault.before}")
    path.write_text(whole.replace(fault.before, fault.after))
    try:
        yield
    finally:
        path.write_text(whole)


def found_by(tree: Path, dsn: str) -> str | None:
    """Return the first test that fails, or None."""
    environment = {"DOCUMENTS": "150"} | os.environ | {"CAIRN_TEST_DATABASE_URL": dsn, "PYTHONDONTWRITEBYTECODE": "1"}
    for gate in GATES:
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider", *gate]
        run = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
        if run.returncode not in (0, 1):
            return f"the tests do not even start: {run.stdout[-300:]}{run.stderr[-300:]}"
        if named := FAILED.search(run.stdout):
            return named[1]
    return None


def main(words: list[str]) -> int:
    wanted = [fault for fault in FAULTS if not words or any(word in fault.file for word in words)]
    missed = 0
    with database() as dsn, copy_of_the_tree() as tree:
        for fault in wanted:
            with planted(tree, fault):
                test = found_by(tree, dsn)
            missed += test is None
            print(f"{'found' if test else 'MISSED'}  {fault.file}  {fault.before.strip()}  {test or ''}", flush=True)
    print(f"{len(wanted) - missed} of {len(wanted)} found")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
