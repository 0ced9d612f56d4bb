"""A service over a wiki of its own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.app.service import Service, serving
from tests.wiki import Wiki, close_wiki, open_wiki


@pytest.fixture
async def wiki(dsn: str) -> AsyncIterator[Wiki]:
    """An empty wiki and an admin in it."""
    wiki = await open_wiki(dsn)
    yield wiki
    await close_wiki(wiki)


@pytest.fixture
async def service(dsn: str, tmp_path: Path) -> AsyncIterator[Service]:
    async with serving(dsn, tmp_path) as service:
        yield service


@pytest.fixture
def token(service: Service, wiki: Wiki) -> str:
    """For the wiki's own admin."""
    return service.token(wiki.scope.tenant_id, wiki.scope.owner_id, wiki.scope.role)
