"""A pooler between Cairn and Postgres, which has to be told how Cairn uses its sessions.

In transaction mode each transaction may get another connection to Postgres, so that what a session was told at its
start, and the statements that it has prepared, are not there. One that gives each session a connection of its own, or
prepares statements itself where they are missing, needs no setting.
"""

import asyncio
from contextlib import suppress
from uuid import uuid4

import asyncpg

FORGOTTEN = (asyncpg.InvalidSQLStatementNameError, asyncpg.DuplicatePreparedStatementError)
IGNORED = "ignore_startup_parameters = statement_timeout, jit, plan_cache_mode"
WAIT = 2.0  # seconds: a pooler with a single connection has none for the other session


class PoolerUnfit(ConnectionError):
    """A pooler lacks a setting, or this process does because of the pooler. The message names it."""


def refused_settings(error: Exception) -> Exception:
    """Return an error that says what a pooler has to ignore, if it is why a session was refused."""
    if "startup parameter" not in str(error):
        return error
    return PoolerUnfit(f"The pooler refuses the settings of sessions ({error}). In PgBouncer set: {IGNORED}")


def forgotten_statements() -> PoolerUnfit:
    return PoolerUnfit(
        "The pooler gives each transaction another connection, which knows no prepared statements. Set: "
        "CAIRN_STATEMENT_CACHE=0"
    )


async def is_pooled(connection: asyncpg.Connection) -> bool:
    """Return whether the process that answers is not the one that the session was begun with."""
    answering: int = await connection.fetchval("SELECT pg_backend_pid()")
    begun: int = connection.get_server_pid()
    return answering != begun


async def check_statements(connection: asyncpg.Connection, other: asyncpg.Connection) -> None:
    """Prepare a statement, and run it while and after another session has a connection. Raises PoolerUnfit.

    If the other session took the one that knows the statement, the first run has another. Else the second run has one
    that does not: that which came back last.
    """
    try:
        statement = await connection.prepare("SELECT 1", name=f"cairn_{uuid4().hex}")  # no process had one so named
        await other.execute("BEGIN")
        with suppress(TimeoutError):
            async with asyncio.timeout(WAIT):
                await statement.fetchval()
        await other.execute("ROLLBACK")
        await statement.fetchval()
    except FORGOTTEN as error:
        raise forgotten_statements() from error
