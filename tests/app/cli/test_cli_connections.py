"""Commands that open the database themselves hold as few connections as they use."""

from typing import Any

import asyncpg
import pytest

from app.cli.session import run_in_session
from db.database import Database


@pytest.fixture
def opened(dsn: str, monkeypatch: pytest.MonkeyPatch) -> list[asyncpg.Connection]:
    """The connections that are opened to a database of yours from now on."""
    made: list[asyncpg.Connection] = []
    connect = asyncpg.connect

    async def counted(*arguments: Any, **options: Any) -> asyncpg.Connection:
        made.append(await connect(*arguments, **options))
        return made[-1]

    monkeypatch.setenv("CAIRN_DATABASE_URL", dsn)
    monkeypatch.setattr(asyncpg, "connect", counted)
    return made


async def write_and_read(database: Database) -> None:
    async with database.connection() as connection:
        await connection.raw.fetchval("SELECT 1")
    async with database.searching() as connection:
        await connection.raw.fetchval("SELECT 1")


def test_a_command_opens_one_connection(opened: list[asyncpg.Connection]) -> None:
    run_in_session(Database.ping)
    assert len(opened) == 1


def test_a_command_that_reads_as_the_service_does_opens_another(opened: list[asyncpg.Connection]) -> None:
    run_in_session(write_and_read)
    assert len(opened) == 2
    assert all(connection.is_closed() for connection in opened)
