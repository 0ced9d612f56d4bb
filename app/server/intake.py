"""Bounds of what one pass of the event loop takes in, when a thousand connections are ready at once."""

import asyncio
import gc
from collections import deque
from typing import Protocol

AT_ONCE = 64  # requests that begin in one pass of the event loop: some ten milliseconds
COLLECT_AFTER = 256  # requests after which the garbage collector looks at what they made


class Waiting(Protocol):
    """A connection with the beginning of a request that it was told to keep."""

    def begin(self) -> None: ...


class Intake:
    """Lets a number of requests begin in each pass of the event loop; the others wait for the next ones, in order.

    A pass handles everything that is ready, and timers and other clients wait for its end.

    The garbage collector is called here too. By itself it begins when there are more new objects than gone ones: in a
    steady stream of requests that is seldom, and it then looks at those of every request that waits.
    """

    def __init__(self) -> None:
        self.waiting: deque[Waiting] = deque()
        self.begun = self.uncollected = 0

    def has_room(self) -> bool:
        """Return whether a request may begin now, and count it if so."""
        if self.begun == 0:
            asyncio.get_running_loop().call_soon(self.next_pass)
        elif self.begun >= AT_ONCE or self.waiting:
            return False
        self.begun += 1
        return True

    def next_pass(self) -> None:
        self.uncollected += self.begun
        self.begun = min(AT_ONCE, len(self.waiting))
        if self.begun:
            asyncio.get_running_loop().call_soon(self.next_pass)
        for _ in range(self.begun):
            self.waiting.popleft().begin()
        if self.uncollected >= COLLECT_AFTER and gc.isenabled():
            self.uncollected = 0
            gc.collect(1)
