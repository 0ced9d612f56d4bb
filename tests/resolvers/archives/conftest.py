"""The tests here are about connections themselves, or about databases to which nobody is connected."""

from collections.abc import Iterator

import pytest

from tests.connections import IDLE


@pytest.fixture(autouse=True)
def reuses_connections() -> Iterator[None]:
    with IDLE.left_out():
        yield
