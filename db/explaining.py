"""The plan of a statement whose values nobody knows."""

from secrets import token_hex

import asyncpg

ONE_PLAN = "SET LOCAL plan_cache_mode = force_generic_plan"
COUNT = "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = $1"


async def generic_plan(connection: asyncpg.Connection, sql: str) -> str:
    """How Postgres would run it whatever its values; it is not run. Within a transaction.

    `EXPLAIN (GENERIC_PLAN)` would do the same, but a driver has to bind its parameters, and what is bound is known:
    a plan for NULLs finds nothing, and is empty.
    """
    name = f"explained_{token_hex(4)}"  # a name that is left behind by one who was cancelled is in nobody's way
    await connection.execute(f"{ONE_PLAN}; PREPARE {name} AS {sql}")
    try:
        async with connection.transaction():
            values = ["NULL"] * await connection.fetchval(COUNT, name)
            given = f"({', '.join(values)})" if values else ""
            return "\n".join(row[0] for row in await connection.fetch(f"EXPLAIN EXECUTE {name}{given}"))
    finally:
        await connection.execute(f"DEALLOCATE {name}")
