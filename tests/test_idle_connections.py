"""A shared idle connection that the server has ended is closed instead of being handed to the next test."""

import asyncio
import threading

import pytest

from tests.citus import execute
from tests.connections import IDLE


def end_in_server(dsn: str, pid: int) -> None:
    """End a connection while the event loop of the tests sees nothing of it."""
    ending = threading.Thread(target=lambda: asyncio.run(execute(dsn, "SELECT pg_terminate_backend($1, 5000)", pid)))
    ending.start()
    ending.join()


@pytest.mark.parametrize("passes", range(5))
async def test_a_connection_ended_by_the_server_is_closed_and_not_reused(dsn: str, passes: int) -> None:
    """The client reads the notice of the server first, and the end of the connection in a later pass of the loop."""
    connection = await IDLE.connect(dsn, {})
    end_in_server(dsn, connection.get_server_pid())
    for _ in range(passes):
        await asyncio.sleep(0)
    await connection.close()
    assert connection not in list(IDLE)
    assert connection.is_closed()
