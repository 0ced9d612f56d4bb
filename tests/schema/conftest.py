"""Provides the generated world in its own database, and ways to query it."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from db.database import Database
from schema.root import make_engine
from selection import Engine, Limits
from tests.conftest import database_copy
from tests.schema.executing import RecordingContext
from tests.schema.world import CALLERS, World, make_world, read_back, store
from tests.wiki import Wiki, check_derived_rows, close_wiki, open_wiki


@pytest.fixture(scope="session")
def world_dsn(server_dsn: str, template: str) -> Iterator[str]:
    """The database with the world, which tests must not change."""
    with database_copy(server_dsn, template) as dsn:
        asyncio.run(store(dsn, make_world()))
        yield dsn


@pytest.fixture(scope="session")
def world(world_dsn: str) -> World:
    return asyncio.run(read_back(world_dsn))


@pytest.fixture
async def database(world_dsn: str) -> AsyncIterator[Database]:
    database = Database(world_dsn, size=4)
    await database.open()
    yield database
    await database.close()


@pytest.fixture
def context(database: Database) -> RecordingContext:
    """The context of a member in its own wiki."""
    return RecordingContext(database, CALLERS[0])


@pytest.fixture
def engine() -> Engine:
    return make_engine()


@pytest.fixture(scope="session")
def walk_engine() -> Engine:
    """One engine for the many calls of a walk, which request every field: its plans are cached across calls."""
    return make_engine(Limits(fields=10_000))


@pytest.fixture
async def wiki(dsn: str) -> AsyncIterator[Wiki]:
    """An empty wiki with an admin's credential. After the test its derived rows must be consistent."""
    wiki = await open_wiki(dsn)
    yield wiki
    await check_derived_rows(wiki)
    await close_wiki(wiki)
