"""A fair queue, which shares a limited number of slots between borrowers, such as the tenants of requests."""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Hashable
from contextvars import ContextVar
from math import inf
from types import TracebackType

BORROWER: ContextVar[Hashable] = ContextVar("borrower", default=None)
"""The borrower on whose behalf this task runs. Borrowers share connections, threads and slots fairly."""


LAG = 0.005
"""Seconds from a task's slot to its resumption; a longer lag means that the event loop is overloaded."""


class QueueFull(Exception):
    """Too many tasks wait for a slot, in total or for this borrower."""


class FairQueue:
    """A limited number of slots, and a queue of the tasks that wait for a free slot.

    A free slot goes to the waiting borrower that holds the fewest slots; among equals, to the borrower that was served
    longest ago. A borrower may hold three quarters of the slots, so that its slow work does not block the others, and
    fill half of the queue. A task without a borrower may use all slots.

    If the slots stand for work of the event loop, its lag shows an overload: a task resumes late after it got its slot.
    The share of a borrower then shrinks, down to one slot, and grows again while the loop keeps up.
    """

    def __init__(self, size: int, max_waiting: float = inf) -> None:
        self.size, self.max_waiting = size, max_waiting
        self.max_share = float(max(1, size - size // 4))
        self.share = self.max_share
        self.held: Counter[Hashable] = Counter()
        """The number of slots that each borrower holds."""
        self.waiting: OrderedDict[Hashable, deque[asyncio.Future[float]]] = OrderedDict()
        """The waiting tasks of each borrower. The borrower that was served longest ago comes first."""
        self.taken = 0
        """The number of slots in use."""
        self.waiters = 0

    async def acquire(self, borrower: Hashable) -> None:
        """Wait for a slot. Raises QueueFull."""
        if self.taken < self.size and self.may_take_slot(borrower):
            self.take_slot(borrower)
            return
        queue = self.waiting.get(borrower, ())
        if self.waiters >= self.max_waiting or (borrower is not None and len(queue) >= self.max_waiting / 2):
            raise QueueFull
        future: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self.waiting.setdefault(borrower, deque()).append(future)
        self.waiters += 1
        try:
            self.adapt_share(asyncio.get_running_loop().time() - await future)
        except asyncio.CancelledError:
            if not future.cancelled():  # the task got its slot and was cancelled before it resumed
                self.release(borrower)
            elif future in self.waiting.get(borrower, ()):
                self.remove_waiter(borrower, future)
            raise

    def release(self, borrower: Hashable) -> None:
        """Return a slot, and give the free slots to waiting tasks."""
        self.taken -= 1
        self.held[borrower] -= 1
        if not self.held[borrower]:
            del self.held[borrower]
        while self.taken < self.size and (found := self.pop_next_waiter()):
            next_borrower, future = found
            if not future.cancelled():
                self.take_slot(next_borrower)
                future.set_result(future.get_loop().time())

    def adapt_share(self, lag: float) -> None:
        self.share = max(1.0, self.share * 0.9) if lag > LAG else min(self.max_share, self.share + 0.1)

    def pop_next_waiter(self) -> tuple[Hashable, asyncio.Future[float]] | None:
        """Remove and return the next borrower and the future of its task, which may have been cancelled."""
        eligible = (borrower for borrower in self.waiting if self.may_take_slot(borrower))
        borrower = min(eligible, key=lambda borrower: self.held[borrower], default=self)
        if borrower is self:
            return None
        future = self.waiting[borrower][0]
        self.remove_waiter(borrower, future)
        if borrower in self.waiting:
            self.waiting.move_to_end(borrower)
        return borrower, future

    def may_take_slot(self, borrower: Hashable) -> bool:
        return borrower is None or self.held[borrower] < self.share

    def take_slot(self, borrower: Hashable) -> None:
        self.taken += 1
        self.held[borrower] += 1

    def remove_waiter(self, borrower: Hashable, future: asyncio.Future[float]) -> None:
        self.waiters -= 1
        self.waiting[borrower].remove(future)
        if not self.waiting[borrower]:
            del self.waiting[borrower]


class slot:
    """`async with slot(queue): …` holds a slot for the borrower of the current task while the block runs."""

    __slots__ = ("borrower", "queue")

    def __init__(self, queue: FairQueue) -> None:
        self.queue, self.borrower = queue, BORROWER.get()

    async def __aenter__(self) -> None:
        await self.queue.acquire(self.borrower)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.queue.release(self.borrower)
