"""Provides Cairn's ranking as an SQL function to the servers that have no search of their own.

The parameters of the ranking statement are stored for each question before the run. The peers look them up where Cairn
analyses the question. So all servers find the same pages, and only the way of serving them differs.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import asyncpg

from db.database import Database
from resolvers.search.ranking_query import RANKING
from resolvers.search.request import SearchRequest
from resolvers.search.search import ranking_values

from .database import connected
from .operations import Drawn
from .recording import scope_of

RANK = RANKING["rank_pages"]
FIRST = 10
SEARCH = """
    CREATE FUNCTION peers.search(tenant uuid, owner uuid, query text) RETURNS SETOF peers.hits LANGUAGE sql STABLE AS $$
        SELECT search.tenant, found.page_id, found.score
        FROM peers.questions AS q CROSS JOIN LATERAL peers.ranked({columns}) AS found
        WHERE q.owner = search.owner AND q.query = search.query
    $$
"""


async def store_questions(dsn: str, drawn: Sequence[Drawn]) -> None:
    """Create the table of questions and the function that answers them."""
    rows = await ranking_parameters(dsn, drawn)
    async with connected(dsn) as connection:
        statement = await connection.prepare(RANK.sql)
        types = [f"a{number} {type_name(parameter)}" for number, parameter in enumerate(statement.get_parameters(), 1)]
        found = [f"{attribute.name} {type_name(attribute.type)}" for attribute in statement.get_attributes()]
        columns = [column.split()[0] for column in types]
        await connection.execute(
            f"CREATE TABLE peers.questions (owner uuid, query text, {', '.join(types)}, PRIMARY KEY (owner, query))"
        )
        # The statement is planned once for all values, as in Cairn.
        await connection.execute(
            f"CREATE FUNCTION peers.ranked({', '.join(types)}) RETURNS TABLE ({', '.join(found)}) "
            "LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $ranked$\n"
            f"#variable_conflict use_column\nBEGIN RETURN QUERY {RANK.sql}; END $ranked$"
        )
        await connection.execute(SEARCH.format(columns=", ".join(f"q.{name}" for name in columns)))
        places = ", ".join(f"${number}" for number in range(1, len(types) + 3))
        insert = f"INSERT INTO peers.questions VALUES ({places})"
        await connection.executemany(insert, [(*key, *values) for key, values in rows.items()])
        await connection.execute("COMMENT ON TABLE peers.questions IS E'@behavior -*'")
        await connection.execute("COMMENT ON FUNCTION peers.ranked IS E'@behavior -*'")
        await connection.execute("ANALYZE peers.questions")


async def ranking_parameters(dsn: str, drawn: Sequence[Drawn]) -> dict[tuple[UUID, str], list[Any]]:
    """Return the parameters of the ranking by owner and question. Questions without known words are left out."""
    database, found = Database(dsn, size=1), {}
    await database.open()
    try:
        for request in drawn:
            asked = SearchRequest(request.variables["query"], first=FIRST)
            known = await ranking_values(database, scope_of(request.wiki), asked, is_stale=False)
            if known is not None:
                found[request.wiki.owner_id, asked.text] = RANK.arguments(known)
    finally:
        await database.close()
    return found


def type_name(type_: asyncpg.Type) -> str:
    """Return the SQL name of a type: asyncpg gives an array the name of its element followed by []."""
    return f"{type_.name.removesuffix('[]')}[]" if type_.kind == "array" else str(type_.name)
