"""Fixtures that the tests of operations share."""

from collections.abc import AsyncIterator
from uuid import UUID

import pytest

from db.database import Database
from resolvers.auth.owners import OwnerKind, create_owner
from resolvers.tenants.tenants import create_tenant
from tests.recording_database import STATEMENT_TIMEOUT
from tests.wiki import Wiki, check_derived_rows, close_wiki, open_wiki


@pytest.fixture
async def wiki(dsn: str) -> AsyncIterator[Wiki]:
    """An empty wiki with an admin's credential. After the test its derived rows must be consistent."""
    wiki = await open_wiki(dsn)
    try:
        yield wiki
        await check_derived_rows(wiki)
    finally:
        await close_wiki(wiki)


@pytest.fixture
async def database(dsn: str) -> AsyncIterator[Database]:
    """A database for tests of tenants and owners."""
    database = Database(dsn, size=8, statement_timeout=STATEMENT_TIMEOUT)
    await database.open()
    try:
        yield database
    finally:
        await database.close()


@pytest.fixture
async def tenant_id(database: Database) -> UUID:
    return (await create_tenant(database, "harbour", "Harbour Coffee")).id


@pytest.fixture
async def mara_id(database: Database, tenant_id: UUID) -> UUID:
    return (await create_owner(database, tenant_id, OwnerKind.USER, "mara", "Mara")).id


@pytest.fixture
async def ines_id(database: Database, tenant_id: UUID) -> UUID:
    return (await create_owner(database, tenant_id, OwnerKind.USER, "ines", "Ines")).id
