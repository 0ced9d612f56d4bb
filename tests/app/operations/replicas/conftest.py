"""Provides a primary and a replica, and a wiki on them."""

import socket
from collections.abc import AsyncIterator, Iterator

import asyncpg
import pytest

from tests.app.operations.database.test_pgbouncer import running
from tests.standby import Pair, running_pair
from tests.wiki import Wiki, close_wiki, open_wiki


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with running_pair(is_synchronous=False) as servers:
        yield servers


@pytest.fixture
def synchronous_pair() -> Iterator[Pair]:
    with running_pair(is_synchronous=True) as servers:
        yield servers


@pytest.fixture
def pooled_replica(pair: Pair) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = int(listening.getsockname()[1])
    with running(pair.dsn(pair.sockets()[1]), port) as url:
        yield url


@pytest.fixture
async def wiki(pair: Pair) -> AsyncIterator[Wiki]:
    wiki = await open_wiki(pair.dsn(pair.sockets()[0]))
    yield wiki
    await close_wiki(wiki)


@pytest.fixture
async def replica(pair: Pair) -> AsyncIterator[asyncpg.Connection]:
    """Return a connection to the replica, whose WAL replay is resumed when the test ends."""
    connection = await asyncpg.connect(pair.dsn(pair.sockets()[1]))
    yield connection
    if not connection.is_closed():
        await connection.execute("SELECT pg_wal_replay_resume()")
    await connection.close()
