"""Tests that the memory of large responses is returned to the operating system."""

import subprocess
import sys

import pytest

HOLES = """
import ctypes, sys
from app.server.server import return_large_blocks
from benchmarks.processes import resident_mb
import os
if sys.argv[1] == "set":
    return_large_blocks()
bytes(31_000_000)  # freed at once, which raises the threshold of glibc
kept = []
large = []
for _ in range(20):
    large.append(b"x" * 10_000_000)
    kept.append(b"x" * 100_000)  # small blocks between the large ones keep the heap from shrinking
large.clear()
print(resident_mb([os.getpid()]))
"""


def resident_after(choice: str) -> float:
    """Return the resident MB of a process that has freed 200 MB."""
    done = subprocess.run([sys.executable, "-c", HOLES, choice], check=True, capture_output=True, text=True, timeout=60)
    return float(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="as Linux counts memory")
def test_freed_large_blocks_are_returned_to_the_system() -> None:
    assert resident_after("set") < 150
