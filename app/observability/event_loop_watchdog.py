"""A watchdog for the event loop: logs the stack of whatever keeps it from serving others for too long.

The loop notes the time again and again. A thread looks at that note, and takes the stack of the loop's thread once it
is too old; how long it took in all is known when the loop goes on.
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
FRAMES_MAX = 25  # the innermost ones
BEATS = 8  # in the time of the threshold


@dataclass(frozen=True, slots=True)
class Hold:
    """A stretch of `seconds` in which the loop was held by a call: `file:line function`, the innermost first.

    Its own thread computed for `computed` of them; for the others it waited for a processor, or for another thread.
    """

    seconds: float
    computed: float
    stack: tuple[str, ...]


def log_hold(hold: Hold) -> None:
    ms, cpu_ms = round(hold.seconds * 1000), round(hold.computed * 1000)
    log.warning("event loop held", ms=ms, cpu_ms=cpu_ms, frames=list(hold.stack))


class Watchdog:
    """Reports each time that the loop does nothing else for `threshold` seconds, as the clock has them."""

    def __init__(
        self,
        threshold: float,
        report: Callable[[Hold], None] = log_hold,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start watching. `clock` is read in both threads, and must be the loop's."""
        self.threshold, self.report, self.clock = threshold, report, clock
        self.interval = threshold / BEATS
        self.loop = asyncio.get_running_loop()
        self.thread_id = threading.get_ident()
        self.beaten_at, self.computed, self.beats = clock(), time.thread_time(), 0
        self.stack: tuple[str, ...] = ()
        self.stopping = threading.Event()
        self.timer = self.loop.call_later(self.interval, self.beat)
        self.thread = threading.Thread(target=self.watch, name="watchdog", daemon=True)
        self.thread.start()

    def beat(self) -> None:
        """Note that the loop is free, and report how long it was held."""
        now, computed = self.clock(), time.thread_time()
        hold = Hold(now - self.beaten_at, computed - self.computed, self.stack)
        self.beaten_at, self.computed, self.stack = now, computed, ()
        self.beats += 1
        self.timer = self.loop.call_later(self.interval, self.beat)
        if hold.seconds > self.threshold + self.interval:
            self.report(hold)

    def watch(self) -> None:
        """Take the stack of a loop that is held, from a thread of its own."""
        while not self.stopping.wait(self.interval):
            beats = self.beats
            if not self.stack and self.clock() - self.beaten_at > self.threshold:
                frame = sys._current_frames().get(self.thread_id)
                stack = tuple(format_frames(frame))
                if beats == self.beats:
                    self.stack = stack

    def stop(self) -> None:
        self.timer.cancel()
        self.stopping.set()
        self.thread.join()


def format_frames(frame: FrameType | None) -> Iterator[str]:
    """Yield the file, the line and the function of each frame, without any value.

    The thread may go on while its frames are read, and what was its caller may be no frame any more.
    """
    for _ in range(FRAMES_MAX):
        if not isinstance(frame, FrameType):
            return
        yield f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_qualname}"
        frame = frame.f_back


@contextmanager
def watch_loop(threshold: float) -> Iterator[None]:
    """Watch the running loop for the length of a block; a threshold of 0 watches nothing."""
    watchdog = Watchdog(threshold) if threshold else None
    try:
        yield
    finally:
        if watchdog:
            watchdog.stop()
