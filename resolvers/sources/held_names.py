"""Names that a wiki holds without a page, and what each of them lacks for one."""

from dataclasses import dataclass
from math import ceil

from content.names import normalise
from db.connection import Row
from db.database import Database
from db.scope import Scope
from db.sql import statements

from ..errors import NotFound
from ..permissions import Action, authorise
from ..search.ranking_query import parse_request
from ..search.request import SearchRequest
from ..search.search import in_wiki
from ..transactions.transaction import read_connection

HELD_NAMES = statements("links/held_names")
EARNED_LEAST = 3
"""So many sources have to say a name before it is worth a look whether it has earned a page."""
HELD_MOST = 3  # of these that a search shows
QUERY_WORDS_MAX, NAME_WORDS_MAX = 40, 5  # of a query that are compared with names


@dataclass(frozen=True, slots=True)
class HeldName:
    """A name without a page, in how many sources it was seen, and what it lacks of the evidence of 3."""

    name: str
    suggested_type: str | None
    mention_count: int
    evidence: float
    missing: str


async def find_nearest(database: Database, scope: Scope, size: int) -> tuple[int, list[HeldName]]:
    """Return how many names the scope's wiki holds, and those that are nearest to a page."""
    async with read_connection(database) as connection:
        await authorise(connection, scope, scope.owner_id, Action.READ)
        wanted = {"tenant_id": scope.tenant_id, "owner_id": scope.owner_id}
        rows = await connection.all(HELD_NAMES["find_nearest"], **wanted, size=size)
    return rows[0]["total"] if rows else 0, list(map(held_name, rows))


async def find_held_names(database: Database, scope: Scope, asked: SearchRequest) -> list[HeldName]:
    """Return the names in a question that the wiki holds without a page, those that most sources say first.

    A wiki that the caller may not read has none.
    """
    meant = await parse_request(asked)
    words = normalise(meant.query.words).split()[:QUERY_WORDS_MAX]
    runs = range(1, NAME_WORDS_MAX + 1)
    aliases = sorted({" ".join(words[start : start + length]) for length in runs for start in range(len(words))})
    try:
        scope = await in_wiki(database, scope, asked.owner_id, meant.query)
        async with read_connection(database) as connection:
            await authorise(connection, scope, scope.owner_id, Action.READ)
            wanted = {"tenant_id": scope.tenant_id, "owner_id": scope.owner_id}
            rows = await connection.all(HELD_NAMES["find_named"], **wanted, aliases=aliases, size=HELD_MOST)
    except NotFound:
        return []
    return list(map(held_name, rows))


def held_name(mention: Row) -> HeldName:
    seen = mention["suggested_type"], mention["mention_count"], mention["evidence"]
    return HeldName(mention["name"], *seen, missing(mention))


def missing(mention: Row) -> str:
    """Return what a mention lacks for its page, as the end of a sentence."""
    name, wanted = mention["name"], ceil(EARNED_LEAST - mention["evidence"])
    if mention["lacks"] == "naming":
        return f"nothing says yet that it is a name; write it as [[{name}]] or #tag where a note is about it"
    if wanted <= 0:
        return "the next sweep makes its page"
    more = "one more source" if wanted == 1 else f"{wanted} more sources"
    return f"{more} that say{'s' if wanted == 1 else ''} something of it"
