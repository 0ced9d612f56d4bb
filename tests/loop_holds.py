"""Measures how long the event loop is held, in CPU time of its thread, so that other load does not matter."""

import asyncio
import gc
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from app.observability.event_loop_watchdog import Hold, Watchdog


@dataclass
class LongestHold:
    """The longest time in CPU seconds during which no other task got a turn."""

    longest: float = 0.0


@asynccontextmanager
async def heartbeat() -> AsyncIterator[LongestHold]:
    """Measure the longest hold while the block runs. Existing objects are exempt from garbage collection."""
    held = LongestHold()
    gc.collect()
    gc.freeze()
    beating = asyncio.create_task(beat(held))
    try:
        yield held
        await asyncio.sleep(0.01)
    finally:
        beating.cancel()


async def beat(held: LongestHold) -> None:
    last = time.thread_time()
    while True:
        await asyncio.sleep(0.001)
        now = time.thread_time()
        held.longest, last = max(held.longest, now - last), now


PRODUCT_PATHS = tuple(
    f"{Path(__file__).parents[1] / name}/" for name in ("app", "content", "db", "resolvers", "schema", "selection")
)
TESTS_PATH = f"{Path(__file__).parent}/"
HELD_MAX = 0.5  # seconds of processor time: work that grows with its input takes many times as long


class LoopTime:
    """Reads the CPU time of the thread in which it was created, from any thread, without time of the garbage collector.

    A test run has far more objects for the collector to traverse than a service.
    """

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        get_clock = getattr(time, "pthread_getcpuclockid", None)
        self.read = partial(time.clock_gettime, get_clock(self.thread)) if get_clock else time.monotonic
        self.collecting, self.began = 0.0, 0.0
        gc.callbacks.append(self.note)

    def __call__(self) -> float:
        return self.read() - self.collecting

    def note(self, phase: str, _: object) -> None:
        if threading.get_ident() == self.thread:
            if phase == "start":
                self.began = self.read()
            else:
                self.collecting += self.read() - self.began

    def close(self) -> None:
        gc.callbacks.remove(self.note)


@contextmanager
def assert_loop_not_held() -> Iterator[None]:
    """Fail if code of the product, called from anywhere, computes on the event loop for more than HELD_MAX seconds."""
    holds: list[Hold] = []
    clock = LoopTime()
    watchdog = Watchdog(HELD_MAX, holds.append, clock)
    try:
        yield
    finally:
        watchdog.stop()
        clock.close()
    if ours := [hold for hold in holds if is_product_code(hold)]:
        raise AssertionError(f"The event loop was held: {ours}")


def is_product_code(hold: Hold) -> bool:
    """Return whether a function of the product was running. Computation in a test itself does not count."""
    first = next((frame for frame in hold.stack if frame.startswith((*PRODUCT_PATHS, TESTS_PATH))), "")
    return first.startswith(PRODUCT_PATHS)
