"""A watchdog for the event loop: it logs the stack of a call that blocks the loop for too long.

The loop records the time at short intervals. A thread watches that time, and takes the stack of the loop's thread once
it is too old. The loop itself reports the duration of the block when it continues.
"""

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

import structlog

log = structlog.get_logger()
FRAMES_MAX = 25  # of a stack, from the innermost frame
BEATS = 8  # heartbeats of the loop within the threshold


@dataclass(frozen=True, slots=True)
class Hold:
    """A period in which a call blocked the event loop."""

    seconds: float
    computed: float
    """Seconds of CPU time of the loop's thread. The rest it waited for a CPU, or for another thread."""
    stack: tuple[str, ...]
    """The frames as `file:line function`, the innermost first."""


def log_hold(hold: Hold) -> None:
    ms, cpu_ms = round(hold.seconds * 1000), round(hold.computed * 1000)
    log.warning("event loop held", ms=ms, cpu_ms=cpu_ms, frames=list(hold.stack))


class Watchdog:
    """Reports each call that blocks the event loop for longer than `threshold` seconds."""

    def __init__(
        self,
        threshold: float,
        report: Callable[[Hold], None] = log_hold,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start watching the running loop. Both threads read `clock`, which must be the clock of the loop."""
        self.threshold, self.report, self.clock = threshold, report, clock
        self.interval = threshold / BEATS
        self.loop = asyncio.get_running_loop()
        self.thread_id = threading.get_ident()
        self.beaten_at, self.computed = clock(), time.thread_time()
        self.beats = 0
        self.stack: tuple[str, ...] = ()
        """The stack of the current block, once the threshold is exceeded."""
        self.stopping = threading.Event()
        self.timer = self.loop.call_later(self.interval, self.beat)
        self.thread = threading.Thread(target=self.watch, name="watchdog", daemon=True)
        self.thread.start()

    def beat(self) -> None:
        """Record the time on the event loop, and report the block if the previous heartbeat is too long ago."""
        now, computed = self.clock(), time.thread_time()
        hold = Hold(now - self.beaten_at, computed - self.computed, self.stack)
        self.beaten_at, self.computed, self.stack = now, computed, ()
        self.beats += 1
        self.timer = self.loop.call_later(self.interval, self.beat)
        if hold.seconds > self.threshold + self.interval:
            self.report(hold)

    def watch(self) -> None:
        """Take the stack of the loop's thread while it is blocked. This runs in the watchdog's thread."""
        while not self.stopping.wait(self.interval):
            beats = self.beats
            if not self.stack and self.clock() - self.beaten_at > self.threshold:
                frame = sys._current_frames().get(self.thread_id)
                stack = tuple(format_frames(frame))
                if beats == self.beats:  # else the loop continued meanwhile, and the stack is of another call
                    self.stack = stack

    def stop(self) -> None:
        self.timer.cancel()
        self.stopping.set()
        self.thread.join()


def format_frames(frame: FrameType | None) -> Iterator[str]:
    """Yield the file, the line and the function of each frame, without values of variables.

    The thread may continue while its frames are read, so `f_back` may be something else than a frame.
    """
    for _ in range(FRAMES_MAX):
        if not isinstance(frame, FrameType):
            return
        yield f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_qualname}"
        frame = frame.f_back


@contextmanager
def watch_loop(threshold: float) -> Iterator[None]:
    """Watch the running loop during the block. A threshold of 0 disables the watchdog."""
    watchdog = Watchdog(threshold) if threshold else None
    try:
        yield
    finally:
        if watchdog:
            watchdog.stop()
