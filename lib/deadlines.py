"""Timeouts of many waiting tasks with a single timer of the event loop.

A timer for each task would cost more than most of the operations that the tasks wait for.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Generic, TypeVar

T = TypeVar("T")


class Deadlines(Generic[T]):
    """A queue of waiting items in the order of their arrival.

    All items of a queue must have the same timeout, so that the first item is the next to expire.
    """

    def __init__(self, expire: Callable[[T], object]) -> None:
        """Create an empty queue. An item that has waited too long is removed, and then `expire` is called with it."""
        self.expire = expire
        self.ends: OrderedDict[T, float] = OrderedDict()
        """The items, each with the time of the event loop's clock at which it expires."""
        self.timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self.ends)

    def __iter__(self) -> Iterator[T]:
        return iter(self.ends)

    def add(self, item: T, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        self.ends[item] = loop.time() + seconds
        if self.timer is None:
            self.timer = loop.call_later(seconds, self.check)

    def remove(self, item: T) -> None:
        """Remove an item; do nothing if it does not wait any more."""
        self.ends.pop(item, None)

    def pop(self) -> T:
        """Remove and return the item that has waited longest."""
        return self.ends.popitem(last=False)[0]

    def check(self) -> None:
        """Expire the items whose time is over, and set the timer for the next one."""
        self.timer = None
        loop = asyncio.get_running_loop()
        while self.ends:
            left = next(iter(self.ends.values())) - loop.time()
            if left > 0:
                self.timer = loop.call_later(left, self.check)
                return
            self.expire(self.pop())


async def wait_for_event(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event for so many seconds at most, and return whether it is set."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()
