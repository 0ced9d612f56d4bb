"""A wiki for the compiler to work in, and no way to any provider."""

import pydantic_ai.models
import pytest

from tests.resolvers.conftest import wiki

__all__ = ["wiki"]


@pytest.fixture(autouse=True)
def no_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pydantic_ai.models, "ALLOW_MODEL_REQUESTS", False)
