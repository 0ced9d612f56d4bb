"""What one request brings along."""

from collections.abc import Sequence
from typing import Any

import asyncpg

from db.database import Database
from db.scope import Scope
from selection.errors import Final, TooExpensive

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
        try:
            return await self.database.json(sql, arguments)
        except asyncpg.QueryCanceledError as error:
            raise TooSlow from error

    async def search(self, query: str, limit: int | None, **where: str | None) -> list[tuple[Any, ...]]:
        return await search(self.database, self.scope, query, limit, **where)


class TooSlow(Final):
    """The statement ran into the time limit; once more would only do the same."""

    def __init__(self) -> None:
        message = "This operation took too long and was stopped. Ask for less at once."
        super().__init__(message, extensions={"code": "TIMEOUT"})
