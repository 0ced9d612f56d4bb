"""What the suites are made of is pinned, and comes from wherever npm is set up to fetch it."""

import json
import re

import pytest

from tests.conformance.packages import HERE, LOCK
from tests.conformance.running import ROOT, lines
from tests.conformance.suites import READER_FILES

LOCKED = json.loads(LOCK.read_text())["packages"]


def test_every_package_is_pinned_by_a_hash_and_by_no_address() -> None:
    assert len(LOCKED) > 100
    for name, package in LOCKED.items():
        assert "resolved" not in package, name
        assert "integrity" in package or name == "", name
    assert "://" not in LOCK.read_text()


def test_every_version_that_is_asked_for_is_exact_and_the_locked_one() -> None:
    asked = json.loads((HERE / "package.json").read_text())["dependencies"]
    assert asked == {name: LOCKED[f"node_modules/{name}"]["version"] for name in asked}


async def test_what_a_program_says_is_counted_and_its_death_is_a_failure() -> None:
    said = await lines("sh", "-c", "echo ok one; echo noise; echo 'not ok two: why'; exit 1", environment={})
    assert [(check.name, check.passed) for check in said] == [("one", True), ("two: why", False)]
    died = await lines("sh", "-c", "echo ok one; echo broken >&2; exit 3", environment={})
    assert [check.passed for check in died] == [True, False]
    assert "broken" in died[1].detail
    silent = await lines("sh", "-c", "exit 0", environment={})
    assert [check.passed for check in silent] == [False]


@pytest.mark.parametrize("path", READER_FILES)
def test_each_file_of_the_reader_has_a_test_that_needs_packages(path: str) -> None:
    assert re.search(r"^async def test_\w*(?:axe|real)", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
