"""The search that Cairn began with, as a peer: one statement over English full-text search, with a bonus for aliases.

A page matches if it has all the words, has words that begin with them all, or has an alias that contains the whole
question. Pages are ordered by ts_rank; matches of beginnings count half, and an alias counts 1. The search is
unchanged, with its known defects: a page is found once for each matching alias, and scripts other than Latin find
nothing.
"""

import re
from asyncio import Runner
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

import asyncpg
import uvloop

from db.scope import Scope

from ..wikis import wiki
from . import seed_tables
from .cairn import articles, number_of, scope_of
from .collection import Collection
from .corpus import create, dsn_of
from .peers import MAX_HITS, Search
from .wiki import rows

DATABASE = "seed"
PLANNED_EACH_TIME = {"plan_cache_mode": "force_custom_plan", "jit": "off"}
BEGINNING = re.compile(r"[a-z0-9]{2,}")
SEARCH = """
    WITH named AS (
        SELECT DISTINCT aliases.page_id, aliases.alias
        FROM aliases JOIN pages ON pages.id = aliases.page_id
        WHERE pages.tenant_id = $1 AND pages.owner_id = $2 AND pages.status = 'active'
          AND (aliases.alias = $3 OR aliases.alias ILIKE '%' || $3 || '%')
    )
    SELECT pages.*, named.alias AS matched_alias,
           ts_rank(pages.search_tsv, plainto_tsquery('english', $3))
           + 0.5 * ts_rank(pages.search_tsv, to_tsquery('english', $4))
           + CASE WHEN named.page_id IS NULL THEN 0 ELSE 1 END AS score
    FROM pages LEFT JOIN named ON named.page_id = pages.id
    WHERE pages.tenant_id = $1 AND pages.owner_id = $2 AND pages.status = 'active'
      AND (pages.search_tsv @@ plainto_tsquery('english', $3)
           OR pages.search_tsv @@ to_tsquery('english', $4)
           OR named.page_id IS NOT NULL)
    ORDER BY score DESC, pages.last_compiled_at DESC NULLS LAST
    LIMIT $5
"""


async def search(connection: asyncpg.Connection, scope: Scope, text: str, first: int) -> list[UUID]:
    """Return pages, the best first; returns none without a statement if the question has no Latin word."""
    prefixes = beginnings(text)
    if not prefixes:
        return []
    found = await connection.fetch(SEARCH, scope.tenant_id, scope.owner_id, text, prefixes, first)
    return [row["id"] for row in found]


def beginnings(text: str) -> str:
    """Turn `New C++ templates` into `new:* & templates:*`: in raw form, most questions would be syntax errors."""
    return " & ".join(f"{word}:*" for word in BEGINNING.findall(text.lower()))


async def connect(dsn: str, database: str) -> asyncpg.Connection:
    """Connect to a database of the server, which is created if it is missing.

    Each question is planned for its own words, which is far faster in a large wiki.
    """
    await create(dsn, database)
    return await asyncpg.connect(dsn_of(dsn, database), server_settings=PLANNED_EACH_TIME)


class Seed:
    """One tenant with a wiki for each loaded collection."""

    def __init__(self, connection: asyncpg.Connection, runner: Runner) -> None:
        self.connection, self.runner, self.wikis = connection, runner, 0

    def load(self, collection: Collection) -> Search:
        self.wikis += 1
        own = wiki(1, self.wikis, len(collection.documents))
        records = rows(own, enumerate(articles(own, collection)))
        self.runner.run(seed_tables.write(self.connection, records))
        scope, ids = scope_of(own), [document.id for document in collection.documents]

        def ask(text: str) -> list[str]:
            found = self.runner.run(search(self.connection, scope, text, MAX_HITS))
            return [ids[number_of(own, page_id.int)] for page_id in found]

        return ask


@contextmanager
def opened(dsn: str) -> Iterator[Seed]:
    """Create the search in its own database on the server."""
    with Runner(loop_factory=uvloop.new_event_loop) as runner:
        connection = runner.run(connect(dsn, DATABASE))
        try:
            runner.run(seed_tables.make(connection))
            yield Seed(connection, runner)
        finally:
            runner.run(connection.close())
