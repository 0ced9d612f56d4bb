"""Whether something takes longer than its input grows: in time of the processor, whatever else the machine does.

Input of `largest` characters is compared with an eighth of it. What grows as the text does takes 8 times as long then,
what grows as its square 64 times. A machine that is shared can slow either of the two, so it fails only where each of
several rounds says the same; input that is dealt with in a blink says nothing and passes.
"""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
STEP = 8
TOO_MUCH = 24.0  # times as long for STEP times as much
BLINK = 0.005  # seconds
ROUNDS = 4


def processor_time(work: Callable[[], object], clock: Callable[[], float] = time.thread_time) -> float:
    """Seconds that it takes."""
    start = clock()
    work()
    return clock() - start


def growth(make: Callable[[int], T], read: Callable[[T], object], largest: int) -> float:
    """How much longer the large input takes than the small one; 0 where neither takes long."""
    small, large = make(largest // STEP), make(largest)
    took = processor_time(lambda: read(large))
    if took <= BLINK:
        return 0.0
    return took / max(processor_time(lambda: read(small)), BLINK / STEP)


def assert_grows_like_the_text(make: Callable[[int], T], read: Callable[[T], object], largest: int) -> None:
    """`make` gives input of about so many characters, or of whatever is counted."""
    found = []
    for _ in range(ROUNDS):
        found.append(growth(make, read, largest))
        if found[-1] < TOO_MUCH:
            return
    times = min(found)
    raise AssertionError(f"{STEP} times as much text takes {times:.0f} times as long: {str(make(40))[:300]}")
