"""Searches every column of every table for what is left of a forgotten source."""

from tests.wiki import Wiki

TEXTS = ("text", "jsonb", "ARRAY", "tsvector", "bytea", "character varying")
COLUMNS = """
    SELECT table_name, column_name, data_type FROM information_schema.columns
    WHERE table_schema = 'public' AND data_type = ANY($1::text[]) ORDER BY 1, 2
"""


async def found_in(wiki: Wiki, word: str) -> set[str]:
    """Return `table.column` of each column that contains the word, in rows of any owner."""
    found = set()
    for row in await wiki.connection.fetch(COLUMNS, list(TEXTS)):
        table, column, kind = row.values()
        shown = f"encode({column}, 'escape')" if kind == "bytea" else f"CAST({column} AS text)"
        if await wiki.connection.fetchval(f'SELECT EXISTS (SELECT FROM "{table}" WHERE {shown} ILIKE $1)', f"%{word}%"):
            found.add(f"{table}.{column}")
    return found
