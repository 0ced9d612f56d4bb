"""Commands that open the database themselves open only the connections that they use."""

from typing import Any

import asyncpg
import pytest

from app.cli.session import run_in_session
from db.database import Database


@pytest.fixture
def connections(dsn: str, monkeypatch: pytest.MonkeyPatch) -> list[asyncpg.Connection]:
    """Return the list to which each opened connection is added."""
    opened: list[asyncpg.Connection] = []
    connect = asyncpg.connect

    async def recording(*arguments: Any, **options: Any) -> asyncpg.Connection:
        opened.append(await connect(*arguments, **options))
        return opened[-1]

    monkeypatch.setenv("CAIRN_DATABASE_URL", dsn)
    monkeypatch.setattr(asyncpg, "connect", recording)
    return opened


async def write_and_read(database: Database) -> None:
    async with database.connection() as connection:
        await connection.raw.fetchval("SELECT 1")
    async with database.searching() as connection:
        await connection.raw.fetchval("SELECT 1")


def test_a_command_opens_one_connection(connections: list[asyncpg.Connection]) -> None:
    run_in_session(Database.ping)
    assert len(connections) == 1


def test_a_command_that_also_searches_opens_a_second_connection(connections: list[asyncpg.Connection]) -> None:
    run_in_session(write_and_read)
    assert len(connections) == 2
    assert all(connection.is_closed() for connection in connections)
