"""The tasks that wait for a connection of a pool, and the errors that end their waits."""

import asyncio
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

import asyncpg

from lib.deadlines import Deadlines
from lib.fair_queue import BORROWER


class Exhausted(Exception):
    """Raised if all connections are lent, and either the queue is full or the task has waited for POOL_TIMEOUT."""


class NoAnswer(Exhausted):
    """Raised while the server does not answer, instead of waiting for a connection."""


@dataclass(eq=False)
class Waiter:
    """A task that waits for a connection, and its borrower, which is the tenant of a request."""

    borrower: Hashable = field(default_factory=BORROWER.get)
    future: asyncio.Future[asyncpg.Connection] = field(default_factory=asyncio.Future)


class Waiters(Deadlines[Waiter]):
    """A queue of at most `limit` tasks that wait for a connection. A borrower may fill half of it."""

    def __init__(self, limit: int, expire: Callable[[Waiter], None]) -> None:
        """Create an empty queue. A task that has waited too long is removed, and then `expire` is called with it."""
        super().__init__(expire)
        self.limit = limit

    def have_room(self, borrower: Hashable, opening: int) -> bool:
        """Return whether a further task of this borrower may wait.

        `opening` is the number of connections that are being opened. The tasks that will get them do not count.
        """
        ahead = len(self) - opening
        if ahead >= self.limit:
            return False
        half = max(1, self.limit // 2)
        if borrower is None or ahead < half:
            return True
        return sum(waiter.borrower == borrower for waiter in self) < half

    def find_next(self, held: Counter[Hashable]) -> Waiter:
        """Return the longest waiting task of the borrower that holds the fewest connections."""
        return min(self, key=lambda waiter: held[waiter.borrower])

    def fail_all(self, make_error: Callable[[], Exception]) -> None:
        """End all waits, each with an error of its own, because raising an error changes it."""
        while self:
            waiter = self.pop()
            if not waiter.future.done():
                waiter.future.set_exception(make_error())
