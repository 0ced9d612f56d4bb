"""The time that an operation is given as a whole."""

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

from db.committing import Commits
from db.deadlines import Deadlines
from resolvers.errors import CairnError

T = TypeVar("T")
Task = asyncio.Task[Any]


class OutOfTime(CairnError):
    """It was stopped. `writes` have been done whole; whatever else it was to write has not been written."""

    code = "TIMEOUT"

    def __init__(self, seconds: float, writes: int) -> None:
        done = f"{writes} of its writes were done" if writes else "Nothing was written"
        super().__init__(f"The operation was stopped after {seconds:g} s. {done}. Ask for less at once.")
        self.writes = writes

    @property
    def extensions(self) -> dict[str, Any]:
        return {"code": self.code, "writes": self.writes}


class Deadline:
    """So many seconds for each operation, by one timer for all that run."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.running: Deadlines[Task] = Deadlines(self.stop)
        self.stopped: set[Task] = set()

    async def within(self, work: Awaitable[T]) -> T:
        """What it returns, or OutOfTime. The SQL that it was waiting for is stopped, a COMMIT is waited for."""
        task = asyncio.current_task()
        assert task is not None
        self.running.add(task, self.seconds)
        with Commits() as commits:
            try:
                return await work
            except asyncio.CancelledError:
                if task in self.stopped and task.cancelling() == 1:  # by nobody else as well
                    raise OutOfTime(self.seconds, commits.done) from None
                raise
            finally:
                self.running.remove(task)
                if task in self.stopped:
                    self.stopped.remove(task)
                    task.uncancel()

    def stop(self, task: Task) -> None:
        self.stopped.add(task)
        task.cancel()
