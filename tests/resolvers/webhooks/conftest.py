"""The receiver of a test of webhooks."""

from collections.abc import Iterator

import pytest

from tests.resolvers.webhooks.receiver import Receiver, receiving


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver
