"""Provides a wiki for the compiler, and blocks requests to real providers."""

import pydantic_ai.models
import pytest

from resolvers.auth.wiki_settings import WikiSettings, update_wiki_settings
from tests.resolvers.conftest import wiki as new_wiki
from tests.wiki import Wiki

__all__ = ["new_wiki", "wiki"]


@pytest.fixture
async def wiki(new_wiki: Wiki) -> Wiki:
    """A wiki whose pages a model writes from their first source on."""
    await update_wiki_settings(new_wiki.database, new_wiki.scope, WikiSettings(min_sources_for_synthesis=1))
    await new_wiki.connection.execute("DELETE FROM activity WHERE tenant_id = $1", new_wiki.scope.tenant_id)
    return new_wiki


@pytest.fixture(autouse=True)
def no_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pydantic_ai.models, "ALLOW_MODEL_REQUESTS", False)
