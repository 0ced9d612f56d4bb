"""Checks whether a pooler (such as PgBouncer) between Cairn and Postgres has the settings that Cairn needs.

In transaction mode, a pooler may run each transaction on another connection to Postgres, which has neither the settings
nor the prepared statements of the session. A pooler in session mode, or one that supports prepared statements, needs no
setting.
"""

import asyncio
from contextlib import suppress
from uuid import uuid4

import asyncpg

FORGOTTEN = (asyncpg.InvalidSQLStatementNameError, asyncpg.DuplicatePreparedStatementError)
"""Errors of a session whose prepared statements are on another connection."""
IGNORED = "ignore_startup_parameters = statement_timeout, jit, plan_cache_mode"
WAIT = 2.0  # seconds to wait for a connection; a pooler with a single connection has none for a second session


class PoolerUnfit(ConnectionError):
    """Raised if the pooler, or Cairn because of the pooler, needs another setting. The message names the setting."""


def refused_settings(error: Exception) -> Exception:
    """Return PoolerUnfit if a pooler refused the session because of its startup parameters, else the error itself."""
    if "startup parameter" not in str(error):
        return error
    return PoolerUnfit(f"The pooler refuses the settings of sessions ({error}). In PgBouncer set: {IGNORED}")


def forgotten_statements() -> PoolerUnfit:
    return PoolerUnfit(
        "The pooler gives each transaction another connection, which knows no prepared statements. Set: "
        "CAIRN_STATEMENT_CACHE=0"
    )


async def is_pooled(connection: asyncpg.Connection) -> bool:
    """Return whether there is a pooler: the server process that answers is not the one that the session reported."""
    actual_pid: int = await connection.fetchval("SELECT pg_backend_pid()")
    reported_pid: int = connection.get_server_pid()
    return actual_pid != reported_pid


async def check_statements(connection: asyncpg.Connection, other: asyncpg.Connection) -> None:
    """Raise PoolerUnfit if prepared statements are lost when the pooler moves the session to another connection.

    A statement is prepared and run twice: while another session is in a transaction, and after it. If the other
    session's transaction got the connection on which the statement was prepared, the first run uses another connection.
    Otherwise the second run does, because the pooler assigns the connection that was released last.
    """
    try:
        statement = await connection.prepare("SELECT 1", name=f"cairn_{uuid4().hex}")  # a name that was never used
        await other.execute("BEGIN")
        with suppress(TimeoutError):
            async with asyncio.timeout(WAIT):
                await statement.fetchval()
        await other.execute("ROLLBACK")
        await statement.fetchval()
    except FORGOTTEN as error:
        raise forgotten_statements() from error
