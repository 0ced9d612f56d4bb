"""What one request brings along."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import asyncpg

from db.database import Database
from db.scope import Scope
from selection.errors import Final, TooExpensive

from .errors import Unavailable
from .refusals import in_our_words
from .search import search


class Context:
    """The database, the caller's scope and the request's budget."""

    def __init__(self, database: Database, scope: Scope, budget: int = 20_000) -> None:
        """`budget` is the number of rows that one operation may return at most."""
        self.database, self.scope, self.budget = database, scope, budget
        self.spent = 0

    def reset(self) -> None:
        self.spent = 0

    def spend(self, cost: int) -> None:
        self.spent += cost
        if self.spent > self.budget:
            raise TooExpensive(self.spent, self.budget)

    async def fetch(self, sql: str, arguments: Sequence[Any]) -> bytes | None:
        with once_only():
            return await self.database.json(sql, arguments)

    async def search(self, query: str, limit: int | None, **where: str | None) -> list[tuple[Any, ...]]:
        with once_only():
            return await search(self.database, self.scope, query, limit, **where)


@contextmanager
def once_only() -> Iterator[None]:
    """A time limit or a lost database ends the operation: run again as values it would only meet the same."""
    try:
        with in_our_words():
            yield
    except Unavailable as error:
        slow = isinstance(error.__cause__, asyncpg.QueryCanceledError)
        message = "This operation took too long and was stopped. Ask for less at once." if slow else error.message
        raise Final(message, extensions={"code": "TIMEOUT" if slow else error.code}) from error
