"""Bounds on one pass of the event loop: on the requests that begin in it, and on the work of the garbage collector.

Nobody else computes while either of them works.
"""

import asyncio
import gc
from collections import deque
from collections.abc import Sized
from typing import Protocol

REQUESTS_PER_PASS = 64  # requests that begin in one pass of the event loop: some ten milliseconds
COLLECT_AFTER = 256  # requests after which the garbage collector looks at what they made


class Waiting(Protocol):
    """A connection with the beginning of a request that it was told to keep."""

    def begin(self) -> None: ...


class Intake:
    """Lets a number of requests begin in each pass of the event loop; the others wait for the next ones, in order.

    A pass handles everything that is ready, and timers and other clients wait for its end.

    The garbage collector is called here too, to look at the objects of these requests only. By itself it would begin
    when there are many more new objects than gone ones, and look at those of every request that waits.
    """

    def __init__(self) -> None:
        self.waiting: deque[Waiting] = deque()
        self.begun = self.uncollected = 0

    def has_room(self) -> bool:
        """Return whether a request may begin now, and count it if so."""
        if self.begun == 0:
            asyncio.get_running_loop().call_soon(self.next_pass)
        elif self.begun >= REQUESTS_PER_PASS or self.waiting:
            return False
        self.begun += 1
        return True

    def next_pass(self) -> None:
        self.uncollected += self.begun
        self.begun = min(REQUESTS_PER_PASS, len(self.waiting))
        if self.begun:
            asyncio.get_running_loop().call_soon(self.next_pass)
        for _ in range(self.begun):
            self.waiting.popleft().begin()
        if self.uncollected >= COLLECT_AFTER and gc.isenabled():
            self.uncollected = 0
            gc.collect(1)


NEW = 700  # new objects, as usual in Python: the command line has it collect more seldom while it imports
SELDOM = 1_000  # collections of generation 0 before one of generation 1 begins by itself
NEVER = 1_000_000_000
EVERY = 60.0  # seconds between two looks at everything
FEW = 100  # requests: a thousand that wait are 200,000 objects, and take it 100 ms and more
PUT_OFF_MOST = 10  # times in a row that more requests than that put it off


class GarbageCollection:
    """Has the garbage collector look at everything once a minute, when few requests are running, and never by
    itself: it would do so in the midst of a crowd, whose requests are what there is most of.

    What lives as long as the process is kept from it: the schema, its types and all modules are a quarter of a million
    objects, and take it 100 ms and more. It looks at what requests have made after every few of them, see Intake, and
    at what plans have left behind after each of them, see lib/lru.py.
    """

    def __init__(self, requests: Sized) -> None:
        self.requests, self.put_off = requests, 0
        self.before = gc.get_threshold()

    def start(self) -> None:
        gc.freeze()
        self.before = gc.get_threshold()
        gc.set_threshold(NEW, SELDOM, NEVER)
        self.timer = asyncio.get_running_loop().call_later(EVERY, self.look)

    def look(self) -> None:
        self.timer = asyncio.get_running_loop().call_later(EVERY, self.look)
        self.put_off += 1
        if gc.isenabled() and (len(self.requests) <= FEW or self.put_off > PUT_OFF_MOST):
            self.put_off = 0
            gc.collect()

    def stop(self) -> None:
        self.timer.cancel()
        gc.set_threshold(*self.before)
