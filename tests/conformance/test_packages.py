"""The npm packages of the conformance suites are pinned by hash, without the address of a registry."""

import json
import re

import pytest

from tests.conformance.packages import HERE, LOCK
from tests.conformance.programs import ROOT, lines
from tests.conformance.suites import READER_FILES

LOCKED = json.loads(LOCK.read_text())["packages"]


def test_locked_packages_have_a_hash_and_no_registry_address() -> None:
    assert len(LOCKED) > 100
    for name, package in LOCKED.items():
        assert "resolved" not in package, name
        assert "integrity" in package or name == "", name
    assert "://" not in LOCK.read_text()


def test_requested_versions_are_exactly_the_locked_ones() -> None:
    requested = json.loads((HERE / "package.json").read_text())["dependencies"]
    assert requested == {name: LOCKED[f"node_modules/{name}"]["version"] for name in requested}


async def test_output_lines_become_checks_and_a_crash_or_silence_fails() -> None:
    checks = await lines("sh", "-c", "echo ok one; echo noise; echo 'not ok two: why'; exit 1", environment={})
    assert [(check.name, check.passed) for check in checks] == [("one", True), ("two: why", False)]
    crashed = await lines("sh", "-c", "echo ok one; echo broken >&2; exit 3", environment={})
    assert [check.passed for check in crashed] == [True, False]
    assert "broken" in crashed[1].detail
    silent = await lines("sh", "-c", "exit 0", environment={})
    assert [check.passed for check in silent] == [False]


@pytest.mark.parametrize("path", READER_FILES)
def test_reader_test_files_have_a_test_that_needs_npm_packages(path: str) -> None:
    assert re.search(r"^async def test_\w*(?:axe|real)", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
