"""Plans of statements, as Postgres makes them where they are prepared."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from secrets import token_hex
from typing import Any

import asyncpg

GENERIC, CUSTOM = "force_generic_plan", "force_custom_plan"
TYPES = "SELECT parameter_types::text[] FROM pg_prepared_statements WHERE name = $1"


async def generic_plan(connection: asyncpg.Connection, sql: str) -> str:
    """Return how Postgres would run a statement whatever its values; it is not run. It needs a transaction.

    `EXPLAIN (GENERIC_PLAN)` would do the same, but a driver has to bind its parameters, and what is bound is known:
    a plan for NULLs finds nothing, and is empty.
    """
    return "\n".join(await explain(connection, sql))


async def explain(
    connection: asyncpg.Connection,
    sql: str,
    arguments: Sequence[Any] | None = None,
    options: Sequence[str] = (),
    planning: str = GENERIC,
) -> list[Any]:
    """Return the rows of EXPLAIN with these options. It needs a transaction.

    A custom plan, and ANALYZE, need the arguments. With them the statement is executed as a prepared one, because
    parameters of EXPLAIN itself are known to the planner.
    """
    chosen = f"({', '.join(options)})" if options else ""
    async with prepared(connection, sql, planning) as name:
        types = await connection.fetchval(TYPES, name)
        values = ["NULL"] * len(types) if arguments is None else await literals(connection, types, arguments)
        given = f"({', '.join(values)})" if values else ""
        return [row[0] for row in await connection.fetch(f"EXPLAIN {chosen} EXECUTE {name}{given}")]


@asynccontextmanager
async def prepared(connection: asyncpg.Connection, sql: str, planning: str) -> AsyncIterator[str]:
    """Prepare the statement for the length of a block, which is given its name and may fail."""
    name = f"explained_{token_hex(4)}"  # a name that is left behind by one who was cancelled is in nobody's way
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
    """A connection that asks for the plans of compiled reads."""

    def __init__(self, raw: asyncpg.Connection, on_citus: bool) -> None:
        self.raw, self.on_citus = raw, on_citus

    async def rows(self, sql: str, arguments: Sequence[Any] | None, options: Sequence[str], anew: bool) -> list[Any]:
        """Return the rows of EXPLAIN. `anew` says that the statement is planned for its values each time."""
        if self.on_citus and arguments is None:
            return ["Citus plans a statement only with its values, some of which are found when it runs."]
        is_custom = (anew or self.on_citus) and arguments is not None
        return await explain(self.raw, sql, arguments, options, CUSTOM if is_custom else GENERIC)

    async def value(self, sql: str, arguments: Sequence[Any]) -> bytes | None:
        """Return the one JSON value of the statement."""
        value: bytes | None = await self.raw.fetchval(sql, *arguments)
        return value
