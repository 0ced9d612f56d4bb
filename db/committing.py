"""Transactions that are done or not done, and known to be: a COMMIT that was sent is waited for, whoever gives up."""

import asyncio
from collections.abc import Coroutine
from contextvars import ContextVar
from types import TracebackType
from typing import Any

import asyncpg

from .pool import is_lost


class Commits:
    """`with` it, `done` counts the transactions that the work inside commits, by tasks that it starts too."""

    def __init__(self) -> None:
        self.done = 0

    def __enter__(self) -> "Commits":
        self.before = COUNTED.set(self)
        return self

    def __exit__(self, *error: object) -> None:
        COUNTED.reset(self.before)


COUNTED: ContextVar[Commits | None] = ContextVar("commits", default=None)


class committing:
    """All of it or nothing. It gives a list for SQL without parameters, which is sent along with the COMMIT.

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
            await undisturbed(commit(self.connection, together(*self.last, "COMMIT")))
        elif isinstance(error, Exception | asyncio.CancelledError):
            await undo(self.connection, "ROLLBACK")


class part:
    """The same inside of a transaction: what fails is undone by itself."""

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
    """Where the connection is gone, Postgres has undone everything by itself, and why it went is told by others."""
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


async def undisturbed(work: Coroutine[Any, Any, None]) -> None:
    """To its end; only then is a cancellation heard. The same as `asyncio.shield` and waiting, in half the time."""
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
