"""Answers of compiled reads: one JSON value, exactly as Postgres wrote it."""

from collections.abc import Mapping, Sequence
from typing import Any

import asyncpg

from observability.trace import span

PLANNED_ANEW = "SET LOCAL plan_cache_mode = force_custom_plan"


class AnswerTooLarge(Exception):
    """A compiled read whose value has more bytes than its statement lets pass."""


def answer_in(row: Mapping[str, Any]) -> bytes | None:
    """Return the value of a compiled read; its statement returns the size alone if that is too large."""
    value: bytes | None = row["answer"]
    if value is None and row["size"] is not None:
        raise AnswerTooLarge(f"This answer would have {row['size']:,} bytes, more than one answer may have.")
    return value


async def read_answer(connection: asyncpg.Connection, sql: str, arguments: Sequence[Any]) -> bytes | None:
    with span("sql", sql):
        row = await connection.fetchrow(sql, *arguments)
    return answer_in(row)


async def read_answer_anew(connection: asyncpg.Connection, sql: str, arguments: Sequence[Any]) -> bytes | None:
    async with connection.transaction(readonly=True):
        await connection.execute(PLANNED_ANEW)
        return await read_answer(connection, sql, arguments)
