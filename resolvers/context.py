"""What one request brings along."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import asyncpg
from graphql import GraphQLError

from db.database import Database
from db.scope import Scope
from selection.errors import Final, TooExpensive

from .errors import CairnError, Unavailable
from .refusals import in_our_words
from .search.asking import search
from .search.related import related
from .search.results import Asked, Found


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
        except Exception:
            with once_only():
                raise

    async def search(self, asked: Asked) -> Found:
        """What a step asks before the statement that shows it."""
        with once_only():
            return await search(self.database, self.scope, asked)

    async def related(self, page_id: UUID, limit: int) -> list[tuple[UUID, float]]:
        """(page id, how like it is), the likest first."""
        with once_only():
            return await related(self.database, self.scope, page_id, limit)


@contextmanager
def once_only() -> Iterator[None]:
    """A time limit or a lost database ends the operation: run again as values it would only meet the same.

    What else is wrong is of one field, and graphql-core says of which.
    """
    try:
        with in_our_words():
            yield
    except Unavailable as error:
        slow = isinstance(error.__cause__, asyncpg.QueryCanceledError)
        message = "This operation took too long and was stopped. Ask for less at once." if slow else error.message
        raise Final(message, extensions={"code": "TIMEOUT" if slow else error.code}) from error
    except CairnError as error:
        raise GraphQLError(error.message, extensions=error.extensions) from error
