"""The tests here are about connections themselves, or end them."""

import pytest


@pytest.fixture(autouse=True)
def reuses_connections() -> None:
    """Open each connection anew, and close it."""
