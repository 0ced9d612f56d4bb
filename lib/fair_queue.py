"""A fair queue: work of which only so much is done at once is shared fairly among those for whom it is done."""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Hashable
from contextvars import ContextVar
from math import inf
from types import TracebackType

BORROWER: ContextVar[Hashable] = ContextVar("borrower", default=None)
"""Whose request this is: those who wait for connections, threads and slots share them fairly."""


LAG = 0.005  # seconds that a task may take to go on


class QueueFull(Exception):
    """Too many wait already, or too many of this borrower."""


class FairQueue:
    """A limit of slots, with a queue of those who wait for one.

    The next slot goes to the borrower who has the fewest, and of these to who was served longest ago. One borrower may
    have three quarters of the slots, so that another one need not wait for slow work, and fill half of the queue. A
    task without a borrower may have all.

    Where the slots are work of the event loop, its lag shows when that is too much: a task that is given its slot goes
    on late. The share of one borrower then shrinks, down to one slot, and grows again while the loop keeps up.
    """

    def __init__(self, size: int, queue: float = inf) -> None:
        self.size, self.queue = size, queue
        self.most = self.share = float(max(1, size - size // 4))
        self.held: Counter[Hashable] = Counter()
        self.waiting: OrderedDict[Hashable, deque[asyncio.Future[float]]] = OrderedDict()
        self.taken = self.waiters = 0

    async def acquire(self, borrower: Hashable) -> None:
        """Wait for a slot. Raises QueueFull."""
        if self.taken < self.size and self.may_have_more(borrower):
            self.count(borrower)
            return
        queue = self.waiting.get(borrower, ())
        if self.waiters >= self.queue or (borrower is not None and len(queue) >= self.queue / 2):
            raise QueueFull
        future: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self.waiting.setdefault(borrower, deque()).append(future)
        self.waiters += 1
        try:
            self.adapt(asyncio.get_running_loop().time() - await future)
        except asyncio.CancelledError:
            if not future.cancelled():  # it came, and then its task was cancelled
                self.release(borrower)
            elif future in self.waiting.get(borrower, ()):
                self.leave(borrower, future)
            raise

    def release(self, borrower: Hashable) -> None:
        """Give a slot back."""
        self.taken -= 1
        self.held[borrower] -= 1
        if not self.held[borrower]:
            del self.held[borrower]
        while self.taken < self.size and (found := self.next()):
            borrower, future = found
            if not future.cancelled():
                self.count(borrower)
                future.set_result(future.get_loop().time())

    def adapt(self, lag: float) -> None:
        self.share = max(1.0, self.share * 0.9) if lag > LAG else min(self.most, self.share + 0.1)

    def next(self) -> tuple[Hashable, asyncio.Future[float]] | None:
        """Return who is next, and what it waits for, which it may have ceased to."""
        able = (one for one in self.waiting if self.may_have_more(one))
        borrower = min(able, key=lambda one: self.held[one], default=self)
        if borrower is self:
            return None
        future = self.waiting[borrower][0]
        self.leave(borrower, future)
        if borrower in self.waiting:
            self.waiting.move_to_end(borrower)
        return borrower, future

    def may_have_more(self, borrower: Hashable) -> bool:
        return borrower is None or self.held[borrower] < self.share

    def count(self, borrower: Hashable) -> None:
        self.taken += 1
        self.held[borrower] += 1

    def leave(self, borrower: Hashable, future: asyncio.Future[float]) -> None:
        self.waiters -= 1
        self.waiting[borrower].remove(future)
        if not self.waiting[borrower]:
            del self.waiting[borrower]


class slot:
    """`async with slot(queue): …` has a slot of the borrower of this task for the length of the block."""

    __slots__ = ("borrower", "queue")

    def __init__(self, queue: FairQueue) -> None:
        self.queue, self.borrower = queue, BORROWER.get()

    async def __aenter__(self) -> None:
        await self.queue.acquire(self.borrower)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.queue.release(self.borrower)
