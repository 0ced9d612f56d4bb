"""The protocol by which searches and jobs get vectors, and which database has an embedder.

It imports no HTTP client: commands that read load it.
"""

from collections.abc import Sequence
from typing import Protocol
from weakref import WeakKeyDictionary

from db.database import Database
from db.restricted import pooled

Vector = list[float]


class Embedder(Protocol):
    """Says what texts mean, as vectors of a fixed number of dimensions. Other models' vectors are not comparable."""

    @property
    def model(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    @property
    def batch(self) -> int: ...

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector for each text. Raises Unavailable, which says what is wrong with the server."""

    async def of_question(self, text: str) -> Vector | None:
        """Return the vector of a question within a bounded time, or None: then its words have to do."""


USED: WeakKeyDictionary[Database, Embedder] = WeakKeyDictionary()


def use(database: Database, embedder: Embedder) -> None:
    """Let searches of this database ask that embedder."""
    USED[database] = embedder


def embedder_of(database: Database) -> Embedder | None:
    """Return the embedder of a database, or None where search knows words alone."""
    return USED.get(pooled(database))
