"""Search over one wiki: what a query means, and which pages answer it."""

from typing import Any
from uuid import UUID

from content.names import normalise
from db.database import Database
from db.scope import Scope
from db.sql import statements

from .page_search import searchable

DEFAULT, MOST = 20, 50
LONGEST, MOST_WORDS = 1_000, 48  # characters, words
LAST = "\U0010ffff"

Found = list[tuple[Any, ...]]


async def search(database: Database, scope: Scope, query: str, limit: int | None = None, **where: str | None) -> Found:
    """(page id, score, matched name), the best first; blank or mere punctuation finds nothing, without SQL.

    `where` may name the owner. Who may see the pages is settled by the read that shows them.
    """
    query = query[:LONGEST]
    words = searchable(query).split()[:MOST_WORDS]
    if not words:
        return []
    needle = normalise(query)
    async with database.connection() as connection:
        rows = await connection.all(
            statements("search")["find_pages"],
            tenant_id=scope.tenant_id,
            owner_id=owner_named(where) or scope.owner_id,
            words=" ".join(words),
            prefixes=" & ".join(f"{quoted(word)}:*" for word in words),
            needle=needle,
            needle_end=needle + LAST,
            inside=f"%{literal(needle)}%" if len(needle) > 2 else None,
            size=DEFAULT if limit is None else max(1, min(limit, MOST)),
        )
    return [(row["page_id"], row["score"], row["matched_alias"]) for row in rows]


def owner_named(where: dict[str, str | None]) -> UUID | None:
    for name in ("owner_id", "user_id", "agent_id"):
        if text := where.get(name):
            try:
                return UUID(text)
            except ValueError:
                return UUID(int=0)
    return None


def quoted(word: str) -> str:
    """As a lexeme of a tsquery: nothing in it is an operator."""
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"


def literal(text: str) -> str:
    """For LIKE: nothing in it is a wildcard."""
    return text.replace("\\", "\\\\").replace("%", r"\%").replace("_", r"\_")
