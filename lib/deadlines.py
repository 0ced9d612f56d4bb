"""Timeouts by one timer of the event loop for all who wait.

A timer for each of them would cost more than the most of what is waited for.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Generic, TypeVar

T = TypeVar("T")


class Deadlines(Generic[T]):
    """A queue of those who wait, in the order they came. All may wait equally long: the first is the next to end."""

    def __init__(self, expire: Callable[[T], object]) -> None:
        """Make an empty queue. `expire` is called with each who has waited too long, and does not wait any more."""
        self.expire = expire
        self.ends: OrderedDict[T, float] = OrderedDict()
        self.timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self.ends)

    def __iter__(self) -> Iterator[T]:
        return iter(self.ends)

    def add(self, one: T, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        self.ends[one] = loop.time() + seconds
        if self.timer is None:
            self.timer = loop.call_later(seconds, self.check)

    def remove(self, one: T) -> None:
        """Remove one who waits; do nothing for one who does not wait any more."""
        self.ends.pop(one, None)

    def pop(self) -> T:
        """Remove and return the one who has waited longest."""
        return self.ends.popitem(last=False)[0]

    def check(self) -> None:
        self.timer = None
        loop = asyncio.get_running_loop()
        while self.ends:
            left = next(iter(self.ends.values())) - loop.time()
            if left > 0:
                self.timer = loop.call_later(left, self.check)
                return
            self.expire(self.pop())


async def wait_for_event(event: asyncio.Event, seconds: float) -> bool:
    """Return whether the event was set within that time."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()
