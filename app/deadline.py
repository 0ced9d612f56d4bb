"""The time that an operation is given as a whole."""

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

from db.committing import Commits
from resolvers.errors import CairnError

T = TypeVar("T")


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


async def within(seconds: float, work: Awaitable[T]) -> T:
    """What it returns, or OutOfTime. The SQL that it was waiting for is stopped, a COMMIT is waited for."""
    with Commits() as commits:
        try:
            async with asyncio.timeout(seconds) as limit:
                return await work
        except TimeoutError:
            if not limit.expired():
                raise
            raise OutOfTime(seconds, commits.done) from None
