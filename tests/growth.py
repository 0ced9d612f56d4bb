"""Checks whether CPU time grows faster than the input, independently of other load on the machine.

Input of `largest` characters is compared with an eighth of it. Linear work takes 8 times as long then, quadratic work
64 times. A shared machine can slow either of the two, so the check fails only if each of several rounds finds the same.
Input that takes next to no time passes.
"""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
STEP = 8
GROWTH_MAX = 24.0  # times the CPU time for STEP times the input
NEGLIGIBLE = 0.005  # seconds
ROUNDS = 4


def processor_time(work: Callable[[], object], clock: Callable[[], float] = time.thread_time) -> float:
    """Return the CPU seconds of the work."""
    start = clock()
    work()
    return clock() - start


def growth(make: Callable[[int], T], read: Callable[[T], object], largest: int) -> float:
    """Return how much longer the large input takes than the small one, or 0 if neither takes long."""
    small, large = make(largest // STEP), make(largest)
    took = processor_time(lambda: read(large))
    if took <= NEGLIGIBLE:
        return 0.0
    return took / max(processor_time(lambda: read(small)), NEGLIGIBLE / STEP)


def assert_linear_time(make: Callable[[int], T], read: Callable[[T], object], largest: int) -> None:
    """Fail if reading takes more than linear time. `make` returns input of about that many characters or items."""
    found = []
    for _ in range(ROUNDS):
        found.append(growth(make, read, largest))
        if found[-1] < GROWTH_MAX:
            return
    times = min(found)
    raise AssertionError(f"{STEP} times as much text takes {times:.0f} times as long: {str(make(40))[:300]}")
