"""Disables reused connections: these tests are about connections, or about databases without connected sessions."""

from collections.abc import Iterator

import pytest

from tests.connections import IDLE


@pytest.fixture(autouse=True)
def connection_reuse() -> Iterator[None]:
    """Open and close each connection anew, instead of reusing connections of earlier tests."""
    with IDLE.disabled():
        yield
