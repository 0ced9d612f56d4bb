"""Connections to one server, each lent to one task at a time.

Taking an idle one and giving it back are two plain calls: no round trip, no task, no timer. Only a connection that
comes back in doubt, from a task that was cancelled or in an open transaction, is reset before it is lent again.

What holds at any moment: there are never more than `size`, those being opened or reset included; nobody waits
while one is idle that they may have; and for everybody who waits, one more is being opened as long as there is room.
Where the server refuses one more, who waits is served by those that are there; without any, all are told why.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from copy import copy
from dataclasses import dataclass, field
from time import monotonic
from types import TracebackType
from typing import Any

import asyncpg

from lib.deadlines import Deadlines
from lib.fair_queue import BORROWER
from observability.trace import span

SHARE_WINDOW = 60.0  # seconds after which those who took no connection are no longer counted on
POOL_TIMEOUT = 10.0  # seconds: to wait for a connection, to make one clean, to let go of them all
RETRY_AFTER_REFUSAL = 1.0  # seconds until the server is asked for one more again, after it has refused one
# What may leave a statement running. A time-out is an OSError; the client's own is a server that goes in mid-sentence.
MAY_STILL_RUN = (asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)
OUTDATED = (asyncpg.InvalidCachedStatementError, asyncpg.OutdatedSchemaCacheError)

Connect = Callable[[], Awaitable[asyncpg.Connection]]


@dataclass(eq=False)
class Waiter:
    """A task that waits for a connection."""

    borrower: Hashable = field(default_factory=BORROWER.get)
    future: asyncio.Future[asyncpg.Connection] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class Exhausted(Exception):
    """Every connection is lent, and too many wait already or this one has waited too long."""


class NoAnswer(Exhausted):
    """The server has stopped answering: whoever asks is refused until it answers again."""


class Pool:
    """A pool of at most `size` connections, for which at most `queue` tasks wait, POOL_TIMEOUT seconds each. One
    that comes back goes to the borrower who has the fewest, and of that one's tasks to the first that came. One
    borrower may fill half of the queue, and if there have been others in the last SHARE_WINDOW seconds hold three quarters of
    the connections, so that slow statements of one leave some to the others.

    Cut off (`cut`), nobody is given a connection. `answers` counts what the server has answered, for the breaker.

    For gauges: `size` is the limit, `total` what there is of it, `idle` those that are lent to nobody, `waiting` the
    tasks that wait for one. For counters, since the start: `acquired`, `refused` (Exhausted) and `opened`.
    """

    def __init__(self, connect: Connect, *, size: int, queue: int) -> None:
        self.connect, self.size, self.queue = connect, size, queue
        self.share = max(1, size - size // 4)
        self.last_borrower: Hashable = None
        self.shared_until = self.refused_until = 0.0
        self.idle: list[asyncpg.Connection] = []  # the last one back is the next to go: its caches are warm
        self.lent: dict[asyncpg.Connection, Hashable] = {}
        self.outdated: set[asyncpg.Connection] = set()
        self.waiting: Deadlines[Waiter] = Deadlines(self.refuse)
        self.tasks: set[asyncio.Task[None]] = set()
        self.total = self.opening = self.acquired = self.refused = self.opened = 0
        self.answers = 0
        self.is_cut = False
        self.closed: asyncio.Event | None = None

    @property
    def is_in_use(self) -> bool:
        """Return whether a connection is lent or being opened, so that the server owes an answer, as far as known."""
        return bool(self.lent or self.opening)

    def cut(self, is_cut: bool) -> None:
        """Refuse those who wait and those who come, or serve them again."""
        self.is_cut = is_cut
        while is_cut and self.waiting:
            self.refuse(self.waiting.pop(), NoAnswer())

    def terminate_lent(self) -> None:
        """Close the connections that are lent: whoever waits for an answer on one is told that it is lost."""
        for connection in list(self.lent):
            connection.terminate()

    async def open(self) -> None:
        """Open one connection, so that a server that cannot be reached is known at once."""
        self.total += 1
        try:
            connection = await self.connect()
        except BaseException:
            self.decrease_total()
            raise
        self.opened += 1
        self.lent[connection] = None
        self.release(connection)

    async def revive(self) -> None:
        """Open a connection if there is none that lives. Raises why none can be opened."""
        if self.lent or self.opening or not all(connection.is_closed() for connection in self.idle):
            return
        self.total -= len(self.idle)
        self.idle.clear()
        if self.total < self.size:
            await self.open()

    async def fill(self) -> None:
        """Open all connections that there may be; one that cannot be opened now will be when somebody waits for it."""
        adding = []
        while self.total < self.size:
            self.total += 1
            self.opening += 1
            adding.append(self.open_another())
        await asyncio.gather(*adding)

    def acquire(self) -> "acquire":
        """Acquire a connection for the length of a block. Raises Exhausted, or why none could be opened."""
        return acquire(self)

    # -- the two calls

    async def check_out(self) -> asyncpg.Connection:
        """Acquire a connection without a block: whoever takes one must give it back, whatever happens."""
        return self.check_out_idle() or await self.wait()

    def check_out_idle(self) -> asyncpg.Connection | None:
        """Return a connection that can be had without waiting, or None."""
        if self.is_cut or self.has_its_share(BORROWER.get()):
            return None
        while self.idle:
            connection = self.idle.pop()
            if not connection.is_closed():
                return self.mark_lent(connection, BORROWER.get())
            self.decrease_total()
        return None

    def release(self, connection: asyncpg.Connection, error: BaseException | None = None) -> None:
        """Give a connection back. `error` is what ended its use."""
        if error is None or not may_still_run(error):
            self.answers += 1
        if isinstance(error, OUTDATED):
            self.replace_all()
        if connection.is_closed():
            self.remove(connection)
        elif self.closed or connection in self.outdated:
            self.start_task(self.close_connection(connection))
        elif connection.is_in_transaction() or (error is not None and may_still_run(error)):
            self.start_task(self.reset(connection))
        else:
            del self.lent[connection]
            self.offer(connection)

    # -- who waits

    def check_room(self) -> None:
        if self.closed:
            raise asyncpg.InterfaceError("the pool is closed")
        if self.is_cut:
            self.refused += 1
            raise NoAnswer
        ahead = len(self.waiting) - self.opening
        if not self.may_grow and (ahead >= self.queue or self.fills_half_of_queue(ahead)):
            self.refused += 1
            raise Exhausted

    def fills_half_of_queue(self, ahead: int) -> bool:
        """Return whether this borrower waits in half of the queue already. A task without one may fill all of it."""
        borrower, most = BORROWER.get(), max(1, self.queue // 2)
        if borrower is None or ahead < most:
            return False
        return sum(waiter.borrower == borrower for waiter in self.waiting) >= most

    async def wait(self) -> asyncpg.Connection:
        self.check_room()
        waiter = Waiter()
        future = waiter.future
        self.waiting.add(waiter, POOL_TIMEOUT)
        self.grow()
        try:
            with span("wait"):
                return await future
        except asyncio.CancelledError:
            self.waiting.remove(waiter)
            if not future.cancelled() and future.exception() is None:  # it came, and then its task was cancelled
                self.release(future.result())
            raise

    def refuse(self, waiter: Waiter, error: Exhausted | None = None) -> None:
        if not waiter.future.done():
            self.refused += 1
            waiter.future.set_exception(error or Exhausted())

    def offer(self, connection: asyncpg.Connection) -> None:
        """Give a connection to the borrower who has the fewest, and of its tasks to the one that has waited longest."""
        while self.waiting and (waiter := self.next_waiter()):
            self.waiting.remove(waiter)
            if not waiter.future.done():
                waiter.future.set_result(self.mark_lent(connection, waiter.borrower))
                return
        self.idle.append(connection)

    def next_waiter(self) -> Waiter | None:
        holding = Counter(self.lent.values())
        first = min(self.waiting, key=lambda waiter: holding[waiter.borrower], default=None)
        return None if first is None or self.has_its_share(first.borrower) else first

    def has_its_share(self, borrower: Hashable) -> bool:
        """Return whether this borrower may have no more connections now. A task without one may have all."""
        if borrower is None or len(self.lent) < self.share:
            return False
        return monotonic() < self.shared_until and sum(one == borrower for one in self.lent.values()) >= self.share

    def mark_lent(self, connection: asyncpg.Connection, borrower: Hashable) -> asyncpg.Connection:
        if borrower != self.last_borrower and borrower is not None:
            if self.last_borrower is not None:
                self.shared_until = monotonic() + SHARE_WINDOW
            self.last_borrower = borrower
        self.lent[connection] = borrower
        self.acquired += 1
        return connection

    # -- how many there are

    @property
    def may_grow(self) -> bool:
        """Return whether one more may be opened: not right after the server has refused one beside others."""
        return self.total < self.size and (not self.total or monotonic() >= self.refused_until)

    def grow(self) -> None:
        while self.opening < len(self.waiting) and self.may_grow:
            self.total += 1
            self.opening += 1
            self.start_task(self.open_another())

    async def open_another(self) -> None:
        """Open one more. If that fails, and there is no other, those who wait get the error."""
        try:
            connection = await self.connect()
        except Exception as error:
            self.opening -= 1
            self.refused_until = monotonic() + RETRY_AFTER_REFUSAL
            asyncio.get_running_loop().call_later(RETRY_AFTER_REFUSAL, self.grow)
            while self.total == 1 and self.waiting:
                if not (waiter := self.waiting.pop()).future.done():
                    waiter.future.set_exception(copy(error))  # each is raised by a task, which changes it
            self.decrease_total()
            return
        self.opening -= 1
        self.opened += 1
        self.lent[connection] = None
        self.release(connection)

    def remove(self, connection: asyncpg.Connection) -> None:
        self.lent.pop(connection, None)
        self.outdated.discard(connection)
        self.decrease_total()

    def decrease_total(self) -> None:
        """Count one connection less."""
        self.total -= 1
        self.grow()
        if self.closed and not self.total:
            self.closed.set()

    async def reset(self, connection: asyncpg.Connection) -> None:
        """Wait until nothing runs on a connection, leave its transaction, forget its session; or part with it."""
        try:
            async with asyncio.timeout(POOL_TIMEOUT):
                await connection.execute("")  # comes back once a cancelled statement has ended
                await connection.reset()
        except Exception:
            connection.terminate()
        self.release(connection)

    async def close_connection(self, connection: asyncpg.Connection) -> None:
        try:
            async with asyncio.timeout(POOL_TIMEOUT):
                await connection.close()
        except Exception:
            connection.terminate()
        self.remove(connection)

    def replace_all(self) -> None:
        """Replace all connections: the tables are not what they were when the statements were prepared."""
        self.outdated.update(self.lent)
        self.close_idle()

    def close_idle(self) -> None:
        for connection in self.idle:
            self.start_task(self.close_connection(connection))
        self.idle.clear()

    async def close(self) -> None:
        """Refuse more acquisitions; those that are lent have POOL_TIMEOUT seconds to come back."""
        self.closed = asyncio.Event()
        while self.waiting:
            if not (waiter := self.waiting.pop()).future.done():
                waiter.future.set_exception(asyncpg.InterfaceError("the pool is closed"))
        self.close_idle()
        try:
            async with asyncio.timeout(POOL_TIMEOUT):
                if self.total:
                    await self.closed.wait()
        except TimeoutError:
            for connection in self.lent:
                connection.terminate()
        await asyncio.gather(*self.tasks)

    def start_task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)


class acquire:
    """Acquire a connection for the length of a block. Each statement passes here: a generator would take longer."""

    __slots__ = ("connection", "pool")

    def __init__(self, pool: Pool | None) -> None:
        self.pool = require_open(pool)

    async def __aenter__(self) -> asyncpg.Connection:
        self.connection = self.pool.check_out_idle() or await self.pool.wait()
        return self.connection

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.pool.release(self.connection, error)


def require_open(pool: Pool | None) -> Pool:
    if pool is None:
        raise RuntimeError("the database is not open")
    return pool


def is_lost(error: BaseException) -> bool:
    """Return whether an error says that a connection is gone or failed to open, and not that a statement is wrong.

    asyncpg has one class for its own misuse and for a connection that is closed: the message tells them apart.
    """
    if isinstance(error, asyncpg.InterfaceError):
        return "closed" in str(error)
    if isinstance(error, asyncpg.PostgresError):
        return (error.sqlstate or "").startswith(("08", "57P"))
    return isinstance(error, (ConnectionError, asyncpg.InternalClientError))


def may_still_run(error: BaseException) -> bool:
    """Return whether a statement can still be running. One that Postgres answers, even with an error, has ended."""
    return isinstance(error, MAY_STILL_RUN) or not isinstance(error, Exception)
