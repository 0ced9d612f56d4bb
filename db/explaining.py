"""Explains how Postgres plans a statement that it runs as a prepared statement."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from secrets import token_hex
from typing import Any

import asyncpg

GENERIC, CUSTOM = "force_generic_plan", "force_custom_plan"
TYPES = "SELECT parameter_types::text[] FROM pg_prepared_statements WHERE name = $1"


async def generic_plan(connection: asyncpg.Connection, sql: str) -> str:
    """Return the generic plan of a statement, without running it. It must be called in a transaction.

    `EXPLAIN (GENERIC_PLAN)` would be the same, but asyncpg has to bind parameters, so that Postgres would plan for
    NULLs.
    """
    return "\n".join(await explain(connection, sql))


async def explain(
    connection: asyncpg.Connection,
    sql: str,
    arguments: Sequence[Any] | None = None,
    options: Sequence[str] = (),
    planning: str = GENERIC,
) -> list[Any]:
    """Return the rows of EXPLAIN with these options. It must be called in a transaction.

    A custom plan, and ANALYZE, need the arguments. The statement is explained as a prepared statement, because the
    planner would see the values of parameters of EXPLAIN itself.
    """
    option_list = f"({', '.join(options)})" if options else ""
    async with prepared(connection, sql, planning) as name:
        types = await connection.fetchval(TYPES, name)
        values = ["NULL"] * len(types) if arguments is None else await literals(connection, types, arguments)
        value_list = f"({', '.join(values)})" if values else ""
        return [row[0] for row in await connection.fetch(f"EXPLAIN {option_list} EXECUTE {name}{value_list}")]


@asynccontextmanager
async def prepared(connection: asyncpg.Connection, sql: str, planning: str) -> AsyncIterator[str]:
    """Prepare a statement for a `with` block, and return its name. An error in the block is rolled back."""
    name = f"explained_{token_hex(4)}"  # unique, because a cancelled task may leave its statement behind
    await connection.execute(f"SET LOCAL plan_cache_mode = {planning}; PREPARE {name} AS {sql}")
    try:
        async with connection.transaction():
            yield name
    finally:
        await connection.execute(f"DEALLOCATE {name}")


async def literals(connection: asyncpg.Connection, types: Sequence[str], arguments: Sequence[Any]) -> list[str]:
    """Return the arguments as SQL literals, quoted by Postgres."""
    if not arguments:
        return []
    quoted = ", ".join(f"quote_nullable(CAST(CAST(${n} AS {type}) AS text))" for n, type in enumerate(types, 1))
    found: list[str] = await connection.fetchval(f"SELECT ARRAY[{quoted}]", *arguments)
    return found


class Explaining:
    """A connection that explains compiled reads."""

    def __init__(self, raw: asyncpg.Connection, on_citus: bool) -> None:
        self.raw, self.on_citus = raw, on_citus

    async def rows(self, sql: str, arguments: Sequence[Any] | None, options: Sequence[str], anew: bool) -> list[Any]:
        """Return the rows of EXPLAIN. `anew` says that Postgres plans the statement at each execution."""
        if self.on_citus and arguments is None:
            return ["Citus plans a statement only with its values, some of which are found when it runs."]
        is_custom = (anew or self.on_citus) and arguments is not None
        return await explain(self.raw, sql, arguments, options, CUSTOM if is_custom else GENERIC)

    async def value(self, sql: str, arguments: Sequence[Any]) -> bytes | None:
        """Run the statement and return its JSON value."""
        value: bytes | None = await self.raw.fetchval(sql, *arguments)
        return value
