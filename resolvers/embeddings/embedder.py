"""The protocol by which searches and jobs get vectors, and the registry of the embedder of each database.

This module imports no HTTP client, because commands that only read import it.
"""

from collections.abc import Sequence
from typing import Protocol
from weakref import WeakKeyDictionary

from db.database import Database
from db.sensitivity import pooled

Vector = list[float]


class Embedder(Protocol):
    """Computes vectors of texts, with a fixed number of dimensions. Vectors of different models are not comparable."""

    @property
    def model(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    @property
    def batch(self) -> int: ...

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector for each text. Raises Unavailable, with the reason, if the server fails."""

    async def of_question(self, text: str) -> Vector | None:
        """Return the vector of a query within a bounded time, or None, in which case the query is searched by words."""


USED: WeakKeyDictionary[Database, Embedder] = WeakKeyDictionary()


def use(database: Database, embedder: Embedder) -> None:
    """Register the embedder that searches of this database use."""
    USED[database] = embedder


def embedder_of(database: Database) -> Embedder | None:
    """Return the embedder of a database, or None if semantic search is off."""
    return USED.get(pooled(database))
