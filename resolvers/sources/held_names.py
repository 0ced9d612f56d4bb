"""Names that a wiki knows from mentions but that have no page yet, and what each of them lacks for a page."""

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
MIN_SOURCES = 3
"""The minimum number of sources with a name before its evidence for a page is checked."""
MAX_HELD_NAMES = 3  # names that a search shows
QUERY_WORDS_MAX = 40  # words of a query that are compared with names
NAME_WORDS_MAX = 5  # words of one name


@dataclass(frozen=True, slots=True)
class HeldName:
    """A name without a page, with the number of its sources, its evidence (3 make a page), and what it lacks."""

    name: str
    suggested_type: str | None
    mention_count: int
    evidence: float
    missing: str


async def find_nearest(database: Database, scope: Scope, size: int) -> tuple[int, list[HeldName]]:
    """Return how many names without a page the scope's wiki has, and the `size` names with the most evidence."""
    async with read_connection(database) as connection:
        await authorise(connection, scope, scope.owner_id, Action.READ)
        wanted = scope.wiki_values
        rows = await connection.all(HELD_NAMES["find_nearest"], **wanted, size=size)
    return rows[0]["total"] if rows else 0, list(map(held_name, rows))


async def find_held_names(database: Database, scope: Scope, request: SearchRequest) -> list[HeldName]:
    """Return the names without a page that occur in a search query, those with the most sources first.

    Return none for a wiki that the caller may not read.
    """
    parsed = await parse_request(request)
    words = normalise(parsed.query.words).split()[:QUERY_WORDS_MAX]
    lengths = range(1, NAME_WORDS_MAX + 1)
    aliases = sorted({" ".join(words[start : start + length]) for length in lengths for start in range(len(words))})
    try:
        scope = await in_wiki(database, scope, request.owner_id, parsed.query)
        async with read_connection(database) as connection:
            await authorise(connection, scope, scope.owner_id, Action.READ)
            wanted = scope.wiki_values
            rows = await connection.all(HELD_NAMES["find_named"], **wanted, aliases=aliases, size=MAX_HELD_NAMES)
    except NotFound:
        return []
    return list(map(held_name, rows))


def held_name(mention: Row) -> HeldName:
    return HeldName(
        name=mention["name"],
        suggested_type=mention["suggested_type"],
        mention_count=mention["mention_count"],
        evidence=mention["evidence"],
        missing=describe_missing(mention),
    )


def describe_missing(mention: Row) -> str:
    """Return what a mention lacks for a page, as the end of a sentence."""
    name, wanted = mention["name"], ceil(MIN_SOURCES - mention["evidence"])
    if mention["lacks"] == "naming":
        return f"nothing says yet that it is a name; write it as [[{name}]] or #tag where a note is about it"
    if wanted <= 0:
        return "the next sweep makes its page"
    more = "one more source" if wanted == 1 else f"{wanted} more sources"
    return f"{more} that say{'s' if wanted == 1 else ''} something of it"
