"""Connections that a server ends while they are handed on from test to test."""

import asyncio
import threading

import pytest

from tests.citus import run
from tests.connections import IDLE


def end_in_server(dsn: str, pid: int) -> None:
    """End a connection while the event loop of the tests sees nothing of it."""
    ending = threading.Thread(target=lambda: asyncio.run(run(dsn, "SELECT pg_terminate_backend($1, 5000)", pid)))
    ending.start()
    ending.join()


@pytest.mark.parametrize("passes", range(5))
async def test_one_that_the_server_has_ended_is_closed_however_much_was_read_of_that(dsn: str, passes: int) -> None:
    """The client first reads that the server goes, and in a later pass of the event loop that it is gone."""
    connection = await IDLE.connect(dsn, {})
    end_in_server(dsn, connection.get_server_pid())
    for _ in range(passes):
        await asyncio.sleep(0)
    await connection.close()
    assert connection not in list(IDLE)
    assert connection.is_closed()
