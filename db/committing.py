"""Transactions whose outcome is always known: a task that is cancelled during a COMMIT still waits for its result."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from contextvars import ContextVar
from types import TracebackType
from typing import Any

import asyncpg

from .pool import is_lost
from .replicas.routing import record_commit


class Commits:
    """A counter of committed transactions: `done`."""

    done = 0


COUNTED: ContextVar[Commits | None] = ContextVar("commits", default=None)
"""The counter of commits of this task and of tasks that it starts."""


class committing:
    """A transaction, as a context manager. It returns a list, to which SQL is added that is sent with the COMMIT.

    `first` is a statement that is sent with the BEGIN, and `begun` its status, like `SELECT 1`. Neither `first` nor the
    SQL in the list may have parameters.
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
            await run_to_end(commit(self.connection, joined(*self.last, "COMMIT")))
        elif isinstance(error, Exception | asyncio.CancelledError):
            await undo(self.connection, "ROLLBACK")


class savepoint:
    """A part of a transaction in a savepoint, used like `committing`. On an error, only this part is undone."""

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
            await self.connection.execute(joined(*self.last, "RELEASE SAVEPOINT part"))
        else:
            await undo(self.connection, "ROLLBACK TO SAVEPOINT part", "RELEASE SAVEPOINT part")


async def undo(connection: asyncpg.Connection, *statements: str) -> None:
    """Roll back. If the connection is lost, Postgres has rolled back already, and the original error is reported."""
    try:
        await connection.execute(joined(*statements))
    except Exception as error:
        if not is_lost(error):
            raise
        connection.terminate()


def joined(*statements: str) -> str:
    """Return statements as one text, which is sent in one round trip."""
    return ";".join((*statements, ""))


async def commit(connection: asyncpg.Connection, statements: str) -> None:
    await connection.execute(statements)
    if (commits := COUNTED.get()) is not None:
        commits.done += 1
    record_commit()


async def run_to_end(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine to its end, however often this task is cancelled, and only then raise CancelledError.

    It does what waiting with `asyncio.shield` does, in half the time.
    """
    loop = asyncio.get_running_loop()
    task, ended = loop.create_task(work), loop.create_future()
    task.add_done_callback(lambda _: None if ended.done() else ended.set_result(None))
    try:
        await ended
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({task})
        task.exception()  # retrieved, so that asyncio does not log it: the cancellation is raised instead
        raise
    task.result()
