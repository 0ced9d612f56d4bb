"""Disables reused connections, because these tests are about connections, and sets up a small pool."""

from collections.abc import AsyncIterator, Iterator

import pytest

from db.database import Database
from db.pool import Pool
from tests.connections import IDLE


@pytest.fixture(autouse=True)
def connection_reuse() -> Iterator[None]:
    """Open and close each connection anew, instead of reusing connections of earlier tests."""
    with IDLE.disabled():
        yield


@pytest.fixture
async def database(shared_dsn: str) -> AsyncIterator[Database]:
    database = Database(shared_dsn, size=2, queue=3)
    await database.open()
    yield database
    await database.close()


@pytest.fixture
def pool(database: Database) -> Pool:
    assert database.pool is not None
    return database.pool
