"""Disables reused connections: these tests are about connections, or about databases without connected sessions."""

from collections.abc import Iterator

import pytest

from tests.connections import IDLE


@pytest.fixture(autouse=True)
def reuses_connections() -> Iterator[None]:
    with IDLE.left_out():
        yield
