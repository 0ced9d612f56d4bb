"""Processes that end while they are measured count for nothing, and fail no benchmark."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import pytest

from benchmarks.processes import cluster_cpu_seconds, cpu_seconds, process_tree, resident_mb

BUSY = "import sys; sum(range(5_000_000)); print('done', flush=True); sys.stdin.read()"


@contextmanager
def busy_child() -> Iterator[subprocess.Popen[str]]:
    """Run a child that has used some time of a processor and waits until the block ends."""
    with subprocess.Popen(
        [sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "done\n"
        yield child


def ended_child() -> int:
    with subprocess.Popen(["true"]) as child:
        pass
    return child.pid


@pytest.mark.parametrize("measure", [cpu_seconds, resident_mb])
def test_an_ended_process_counts_for_nothing(measure: Callable[[Iterable[int]], float]) -> None:
    with busy_child() as child:
        alone = measure([child.pid])
        assert alone > 0
        assert measure([ended_child(), child.pid]) == pytest.approx(alone, rel=0.1, abs=0.05)


def test_a_process_tree_ends_at_a_process_that_has_ended() -> None:
    gone = ended_child()
    assert list(process_tree([gone])) == [gone]


def test_the_time_of_ended_children_counts_for_a_cluster() -> None:
    before = cluster_cpu_seconds(os.getpid())
    with busy_child() as child:
        used = cpu_seconds([child.pid])
    assert cluster_cpu_seconds(os.getpid()) - before >= used
