"""Transactions that are committed or not, and known to be: a COMMIT that was sent is waited for, whoever gives up."""

import asyncio
from collections.abc import Coroutine
from contextvars import ContextVar
from types import TracebackType
from typing import Any

import asyncpg

from .pool import is_lost
from .replicas.routing import record_commit


class Commits:
    """A count, in `done`, of transactions that were committed."""

    done = 0


COUNTED: ContextVar[Commits | None] = ContextVar("commits", default=None)
"""What counts the commits of this task, and of tasks that it starts."""


class committing:
    """A transaction, all of it or nothing. It returns a list for SQL without parameters to send along with the COMMIT.

    `first` is a statement without parameters that is sent along with the BEGIN; `begun` is what Postgres said of it.
    """

    __slots__ = ("begun", "connection", "first", "last")

    def __init__(self, connection: asyncpg.Connection, first: str = "") -> None:
        self.connection, self.first, self.last = connection, first, list[str]()

    async def __aenter__(self) -> list[str]:
        self.begun = await self.connection.execute(f"BEGIN;{self.first}")
        return self.last

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if error is None:
            await run_to_end(commit(self.connection, together(*self.last, "COMMIT")))
        elif isinstance(error, Exception | asyncio.CancelledError):
            await undo(self.connection, "ROLLBACK")


class savepoint:
    """A part of a transaction, used like `committing`, in a savepoint: what fails is undone by itself."""

    __slots__ = ("begun", "connection", "first", "last")

    def __init__(self, connection: asyncpg.Connection, first: str = "") -> None:
        self.connection, self.first, self.last = connection, first, list[str]()

    async def __aenter__(self) -> list[str]:
        self.begun = await self.connection.execute(f"SAVEPOINT part;{self.first}")
        return self.last

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if error is None:
            await self.connection.execute(together(*self.last, "RELEASE SAVEPOINT part"))
        else:
            await undo(self.connection, "ROLLBACK TO SAVEPOINT part", "RELEASE SAVEPOINT part")


async def undo(connection: asyncpg.Connection, *statements: str) -> None:
    """Roll back. If the connection is gone, Postgres has undone everything by itself, and others report why it went."""
    try:
        await connection.execute(together(*statements))
    except Exception as error:
        if not is_lost(error):
            raise
        connection.terminate()


def together(*statements: str) -> str:
    return ";".join((*statements, ""))


async def commit(connection: asyncpg.Connection, statements: str) -> None:
    await connection.execute(statements)
    if (commits := COUNTED.get()) is not None:
        commits.done += 1
    record_commit()


async def run_to_end(work: Coroutine[Any, Any, None]) -> None:
    """Run the work to its end, and only then be cancelled: like waiting with `asyncio.shield`, in half the time."""
    loop = asyncio.get_running_loop()
    task, ended = loop.create_task(work), loop.create_future()
    task.add_done_callback(lambda _: None if ended.done() else ended.set_result(None))
    try:
        await ended
    except asyncio.CancelledError:
        await asyncio.wait({task})
        task.exception()  # looked at, so that nobody is told of it later: the cancellation is what counts
        raise
    task.result()
