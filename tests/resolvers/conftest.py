"""What the tests of the operations have in common."""

from collections.abc import AsyncIterator

import pytest

from tests.wiki import Wiki, check, close_wiki, open_wiki


@pytest.fixture
async def wiki(dsn: str) -> AsyncIterator[Wiki]:
    """An empty wiki and an admin in it. After the test everything in it must be in step."""
    wiki = await open_wiki(dsn)
    try:
        yield wiki
        await check(wiki)
    finally:
        await close_wiki(wiki)
