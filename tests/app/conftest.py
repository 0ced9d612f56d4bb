"""A service over a wiki of its own."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from db import database
from tests.app.service import Service, serving
from tests.wiki import Wiki, close_wiki, open_wiki


@pytest.fixture
async def wiki(dsn: str) -> AsyncIterator[Wiki]:
    """An empty wiki and an admin in it."""
    wiki = await open_wiki(dsn)
    yield wiki
    await close_wiki(wiki)


@pytest.fixture
async def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is sent to Postgres, but for leases and the cleaning of connections: they are of nobody's operation."""
    sent: list[str] = []
    prepare = database.prepare_connection

    def note(record: Any) -> None:
        if record.query and "throttles" not in record.query:
            sent.append(record.query)

    async def listening(connection: asyncpg.Connection) -> None:
        await prepare(connection)
        connection.add_query_logger(note)

    monkeypatch.setattr(database, "prepare_connection", listening)
    return sent


@pytest.fixture
async def service(dsn: str, tmp_path: Path) -> AsyncIterator[Service]:
    async with serving(dsn, tmp_path) as service:
        yield service


@pytest.fixture
def token(service: Service, wiki: Wiki) -> str:
    """For the wiki's own admin."""
    return service.token(wiki.scope.tenant_id, wiki.scope.owner_id, wiki.scope.role)
