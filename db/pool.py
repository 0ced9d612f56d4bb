"""A pool of connections to one Postgres server. Each connection is lent to one task at a time.

Acquiring and releasing an idle connection are plain function calls, without a round trip, a task or a timer. A
connection is reset before it is lent again only if it is released by a cancelled task, after an error that may have
left a statement running, or in an open transaction.

These invariants hold at any moment:
- There are never more than `size` connections, including those that are being opened or reset.
- No task waits while there is an idle connection that it may have.
- For each waiting task a connection is being opened, as long as there are fewer than `size`.

If the server refuses a further connection, the waiting tasks get the existing connections as these are released. If
there are none, all waiting tasks get the error.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from copy import copy
from functools import partial
from time import monotonic
from typing import Any

import asyncpg

from lib.fair_queue import BORROWER
from observability.trace import span

from .waiters import Exhausted, NoAnswer, Waiter, Waiters

SHARE_WINDOW = 60.0  # seconds for which the share of a borrower is limited, after another one has acquired a connection
POOL_TIMEOUT = 10.0  # seconds to wait for a connection, to reset or close a connection, and to close the pool
RETRY_AFTER_REFUSAL = 1.0  # seconds until the pool opens a further connection, after the server has refused one
# Errors after which a statement may still be running. A timeout is an OSError. asyncpg raises InternalClientError if
# the server disconnects in the middle of a message.
MAY_STILL_RUN = (asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)
OUTDATED = (asyncpg.InvalidCachedStatementError, asyncpg.OutdatedSchemaCacheError)
"""Errors of prepared statements whose tables have changed since."""

Connect = Callable[[], Awaitable[asyncpg.Connection]]


class Pool:
    """A pool of at most `size` connections, for which at most `queue` tasks wait, POOL_TIMEOUT seconds each.

    A released connection goes to the waiting borrower that holds the fewest connections, and among its tasks to the one
    that has waited longest. A borrower may fill half of the queue. If another borrower has acquired a connection in the
    last SHARE_WINDOW seconds, a borrower may hold three quarters of the connections, so that its slow statements leave
    some to the others. Tasks without a borrower have no such limits. While `is_cut`, every acquisition is refused.
    """

    def __init__(self, connect: Connect, *, size: int, queue: int) -> None:
        self.connect, self.size = connect, size
        self.share = max(1, size - size // 4)
        """The number of connections that a borrower may hold while others have acquired some, too."""
        self.last_borrower: Hashable = None
        self.shared_until = 0.0
        """The time until which the share of a borrower is limited."""
        self.refused_until = 0.0
        """The time until which no further connection is opened, after the server has refused one."""
        self.idle: list[asyncpg.Connection] = []
        """Connections that are not lent. The one that was released last is lent next, because its caches are warm."""
        self.lent: dict[asyncpg.Connection, Hashable] = {}
        """Connections that are lent or being reset, with their borrowers."""
        self.outdated: set[asyncpg.Connection] = set()
        """Lent connections whose prepared statements are outdated. They are closed when they are released."""
        self.waiting = Waiters(queue, self.refuse)
        self.tasks: set[asyncio.Task[None]] = set()
        self.total = 0
        """The number of connections, including those that are being opened, reset or closed."""
        self.opening = 0
        self.refused = self.opened = 0
        """Counters since the start: acquisitions refused with Exhausted, and opened connections."""
        self.answers = 0
        """A counter of releases after an answer of the server, by which the breaker knows that it is alive."""
        self.is_cut = False
        self.closed: asyncio.Event | None = None
        """None while the pool is open. It is set when all connections are closed."""

    @property
    def is_in_use(self) -> bool:
        """Return whether a connection is lent or being opened, so that an answer of the server may be due."""
        return bool(self.lent or self.opening)

    def cut(self, is_cut: bool) -> None:
        """Refuse all waiting tasks and all further acquisitions with NoAnswer, or accept acquisitions again."""
        self.is_cut = is_cut
        while is_cut and self.waiting:
            self.refuse(self.waiting.pop(), NoAnswer())

    def terminate_lent(self) -> None:
        """Terminate the lent connections. Statements that run on them fail with a connection error."""
        for connection in list(self.lent):
            connection.terminate()

    async def open(self) -> None:
        """Open a connection, or raise the error if the server cannot be reached."""
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
        """Open a connection if the pool has no live one. Raises the error if none can be opened."""
        if self.lent or self.opening or not all(connection.is_closed() for connection in self.idle):
            return
        self.total -= len(self.idle)
        self.idle.clear()
        if self.total < self.size:
            await self.open()

    async def fill(self) -> None:
        """Open connections until there are `size`. One that cannot be opened now is opened when a task waits for it."""
        adding = []
        while self.total < self.size:
            self.total += 1
            self.opening += 1
            adding.append(self.open_another())
        await asyncio.gather(*adding)

    def acquire(self) -> "acquire":
        """Acquire a connection for a `with` block. Raises Exhausted, or the error if none could be opened."""
        return acquire(self)

    # -- acquiring and releasing

    async def check_out(self) -> asyncpg.Connection:
        """Acquire a connection without a `with` block. The caller must release it in every case."""
        return self.check_out_idle() or await self.wait()

    def check_out_idle(self) -> asyncpg.Connection | None:
        """Acquire an idle connection without waiting, or return None."""
        if self.is_cut or self.has_its_share(BORROWER.get()):
            return None
        while self.idle:
            connection = self.idle.pop()
            if not connection.is_closed():
                return self.mark_lent(connection, BORROWER.get())
            self.decrease_total()
        return None

    def release(self, connection: asyncpg.Connection, error: BaseException | None = None) -> None:
        """Return a connection to the pool. `error` is the error with which its use ended."""
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

    # -- the queue

    def check_room(self) -> None:
        """Raise an error if this task may not wait for a connection."""
        if self.closed:
            raise asyncpg.InterfaceError("the pool is closed")
        if self.is_cut:
            self.refused += 1
            raise NoAnswer
        if not self.may_grow and not self.waiting.have_room(BORROWER.get(), self.opening):
            self.refused += 1
            raise Exhausted

    async def wait(self) -> asyncpg.Connection:
        """Wait in the queue for a connection. Raises Exhausted."""
        self.check_room()
        waiter = Waiter()
        future = waiter.future
        self.waiting.add(waiter, POOL_TIMEOUT)
        if 0 < (limited := self.shared_until - monotonic()) < POOL_TIMEOUT:
            asyncio.get_running_loop().call_later(limited + 0.01, self.offer_idle)  # timers may be early
        self.grow()
        try:
            with span("wait"):
                return await future
        except asyncio.CancelledError:
            self.waiting.remove(waiter)
            if not future.cancelled() and future.exception() is None:  # it got a connection before it was cancelled
                self.release(future.result())
            raise

    def refuse(self, waiter: Waiter, error: Exhausted | None = None) -> None:
        """End the wait of a task with an error, which is Exhausted after its time is over."""
        if not waiter.future.done():
            self.refused += 1
            waiter.future.set_exception(error or Exhausted())

    def offer(self, connection: asyncpg.Connection) -> None:
        """Give a connection to the waiting borrower with the fewest, to its longest waiting task, or keep it idle."""
        while self.waiting and (waiter := self.next_waiter()):
            self.waiting.remove(waiter)
            if not waiter.future.done():
                waiter.future.set_result(self.mark_lent(connection, waiter.borrower))
                return
        self.idle.append(connection)

    def offer_idle(self) -> None:
        """Offer the idle connections, at the end of SHARE_WINDOW, to the tasks of borrowers that had their share."""
        idle, self.idle = self.idle, []
        for connection in idle:
            if connection.is_closed():
                self.decrease_total()
            else:
                self.offer(connection)

    def next_waiter(self) -> Waiter | None:
        """Return the waiter that gets the next connection, or None if none may have it."""
        waiter = self.waiting.find_next(Counter(self.lent.values()))
        return None if self.has_its_share(waiter.borrower) else waiter

    def has_its_share(self, borrower: Hashable) -> bool:
        """Return whether this borrower holds as many connections as it may have now."""
        if borrower is None or len(self.lent) < self.share or monotonic() >= self.shared_until:
            return False
        return sum(other == borrower for other in self.lent.values()) >= self.share

    def mark_lent(self, connection: asyncpg.Connection, borrower: Hashable) -> asyncpg.Connection:
        """Record that a connection is lent to a borrower, and return it."""
        if borrower != self.last_borrower and borrower is not None:
            if self.last_borrower is not None:
                self.shared_until = monotonic() + SHARE_WINDOW
            self.last_borrower = borrower
        self.lent[connection] = borrower
        return connection

    # -- the number of connections

    @property
    def may_grow(self) -> bool:
        """Return whether a further connection may be opened.

        After the server has refused one, this waits for RETRY_AFTER_REFUSAL, unless there is no other connection.
        """
        return self.total < self.size and (not self.total or monotonic() >= self.refused_until)

    def grow(self) -> None:
        """Open a connection for each waiting task, as far as there may be more."""
        while self.opening < len(self.waiting) and self.may_grow:
            self.total += 1
            self.opening += 1
            self.start_task(self.open_another())

    async def open_another(self) -> None:
        """Open a connection, which `total` and `opening` count already.

        If that fails and there is no other connection, all waiting tasks get the error.
        """
        try:
            connection = await self.connect()
        except Exception as error:
            self.opening -= 1
            self.refused_until = monotonic() + RETRY_AFTER_REFUSAL
            asyncio.get_running_loop().call_later(RETRY_AFTER_REFUSAL, self.grow)
            if self.total == 1:
                self.waiting.fail_all(partial(copy, error))
            self.decrease_total()
            return
        self.opening -= 1
        self.opened += 1
        self.lent[connection] = None
        self.release(connection)

    def remove(self, connection: asyncpg.Connection) -> None:
        """Remove a closed connection from the pool."""
        self.lent.pop(connection, None)
        self.outdated.discard(connection)
        self.decrease_total()

    def decrease_total(self) -> None:
        """Count a connection less, and open another if tasks wait."""
        self.total -= 1
        self.grow()
        if self.closed and not self.total:
            self.closed.set()

    async def reset(self, connection: asyncpg.Connection) -> None:
        """Wait for the running statement, roll back and reset the session. Terminate the connection if that fails."""
        try:
            async with asyncio.timeout(POOL_TIMEOUT):
                await connection.execute("SELECT")  # returns when a cancelled statement has ended
                await connection.reset()
        except Exception:
            connection.terminate()
        self.release(connection)

    async def close_connection(self, connection: asyncpg.Connection) -> None:
        """Close a connection and remove it from the pool."""
        try:
            async with asyncio.timeout(POOL_TIMEOUT):
                await connection.close()
        except Exception:
            connection.terminate()
        self.remove(connection)

    def replace_all(self) -> None:
        """Close all connections, because tables have changed since their statements were prepared."""
        self.outdated.update(self.lent)
        self.close_idle()

    def close_idle(self) -> None:
        for connection in self.idle:
            self.start_task(self.close_connection(connection))
        self.idle.clear()

    async def close(self) -> None:
        """Close the pool. Lent connections are terminated if they are not released within POOL_TIMEOUT seconds."""
        self.closed = asyncio.Event()
        self.waiting.fail_all(partial(asyncpg.InterfaceError, "the pool is closed"))
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
    """Acquires a connection for a `with` block. It is a class because a generator function would be slower."""

    __slots__ = ("connection", "pool")

    def __init__(self, pool: Pool | None) -> None:
        self.pool = require_open(pool)

    async def __aenter__(self) -> asyncpg.Connection:
        self.connection = self.pool.check_out_idle() or await self.pool.wait()
        return self.connection

    async def __aexit__(self, kind: Any, error: BaseException | None, at: Any) -> None:
        self.pool.release(self.connection, error)


def require_open(pool: Pool | None) -> Pool:
    if pool is None:
        raise RuntimeError("the database is not open")
    return pool


def is_lost(error: BaseException) -> bool:
    """Return whether an error means that a connection was lost or could not be opened, and not that a statement failed.

    asyncpg raises InterfaceError both for its own misuse and for a closed connection. Only the message differs.
    """
    if isinstance(error, asyncpg.InterfaceError):
        return "closed" in str(error)
    if isinstance(error, asyncpg.PostgresError):
        return (error.sqlstate or "").startswith(("08", "57P"))
    return isinstance(error, (ConnectionError, asyncpg.InternalClientError))


def may_still_run(error: BaseException) -> bool:
    """Return whether a statement may still be running after this error: it is not an answer of Postgres."""
    return isinstance(error, MAY_STILL_RUN) or not isinstance(error, Exception)
