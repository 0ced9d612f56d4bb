"""Invariants of the pool when tasks are cancelled, connections break, and the server refuses connections.

The connections are stand-ins for the driver's, so that thousands of accidents take a second. A failure names its seed.
"""

import asyncio
import random

import asyncpg
import pytest

from db.pool import Pool
from db.waiters import Exhausted
from tests.waiting import within

TASKS = 120
SEEDS = range(24)


class Line:
    """A connection that records when two tasks use it, or when it is lent in the state that another task left."""

    def __init__(self, server: "Server") -> None:
        self.server = server
        self.is_open, self.is_used, self.is_running, self.in_transaction = True, False, False, False
        server.lines.add(self)

    def is_closed(self) -> bool:
        return not self.is_open

    def is_in_transaction(self) -> bool:
        return self.in_transaction

    async def execute(self, sql: str) -> None:
        """End a cancelled statement before the next one, as the driver does."""
        await self.server.moment()
        self.is_running = False

    async def reset(self) -> None:
        self.server.is_wronged |= self.is_running
        await self.server.moment()
        if self.server.rng.random() < 0.1:
            raise asyncpg.ConnectionDoesNotExistError
        self.in_transaction = False

    async def close(self) -> None:
        self.server.is_wronged |= self.is_used
        try:
            await self.server.moment()
        finally:
            self.terminate()

    def terminate(self) -> None:
        self.is_open = False
        self.server.lines.discard(self)


class Server:
    """The server of the connections, which sometimes refuses to open one."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lines: set[Line] = set()
        self.is_wronged = False

    async def connect(self) -> Line:
        await self.moment()
        if self.rng.random() < 0.15:
            raise ConnectionRefusedError
        return Line(self)

    async def moment(self) -> None:
        for _ in range(self.rng.randrange(4)):
            await asyncio.sleep(0)


async def use(pool: Pool, server: Server) -> str:
    """Run one task: acquire a connection, work, and perhaps have an accident."""
    async with pool.acquire() as line:
        assert not line.is_closed()
        assert not any((line.is_used, line.is_running, line.in_transaction))
        line.is_used = line.is_running = True
        try:
            await server.moment()
            match server.rng.randrange(10):
                case 0:
                    line.terminate()
                    raise asyncpg.ConnectionDoesNotExistError
                case 1:
                    line.is_running = False
                    raise asyncpg.UniqueViolationError
                case 2:
                    line.in_transaction = True
                    raise TimeoutError
                case 3:
                    line.is_running, line.in_transaction = False, True
                    return "left open"
                case 4:
                    line.is_running = False
                    raise asyncpg.InvalidCachedStatementError
            line.is_running = False
            return "done"
        finally:
            line.is_used = False


def check(pool: Pool, server: Server) -> None:
    assert not server.is_wronged
    assert len(server.lines) <= pool.size
    assert len(pool.idle) + len(pool.lent) + pool.opening <= pool.total <= pool.size
    assert not (pool.waiting and any(not line.is_closed() for line in pool.idle))
    waited_for_refused = pool.size if pool.refused_until else 0
    assert len(pool.waiting) - pool.opening <= pool.waiting.limit + waited_for_refused
    assert pool.total or not pool.waiting
    if pool.total < pool.size and not pool.refused_until:  # else one was refused, and the others serve who waits
        assert pool.opening >= len(pool.waiting)


@pytest.mark.parametrize("full", [0.0, 0.01])
@pytest.mark.parametrize("seed", SEEDS)
async def test_the_pool_loses_and_shares_no_connection_under_random_failures(
    seed: int, full: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("db.pool.RETRY_AFTER_REFUSAL", full)
    server = Server(seed)
    rng = server.rng
    pool = Pool(server.connect, size=rng.randint(1, 5), queue=rng.randint(0, 60))
    running: list[asyncio.Task[str]] = []
    for _ in range(TASKS):
        running.append(asyncio.create_task(use(pool, server)))
        while rng.random() < 0.5:
            await asyncio.sleep(0)
            check(pool, server)
        if rng.random() < 0.3:
            rng.choice(running).cancel()
        if pool.idle and rng.random() < 0.1:
            rng.choice(pool.idle).terminate()  # the server went away while nobody looked
    ends = await asyncio.gather(*running, return_exceptions=True)
    assert not [end for end in ends if isinstance(end, AssertionError)], ends
    async with within("the pool still had tasks"):
        while pool.tasks:
            await asyncio.sleep(0)
    check(pool, server)
    assert not pool.lent
    assert not pool.waiting
    assert not pool.opening
    assert not pool.outdated
    assert len(pool.idle) == pool.total
    assert pool.refused == sum(isinstance(end, Exhausted) for end in ends)
    assert "done" in ends
    await pool.close()
    assert not server.lines
    assert pool.total == 0


async def test_waiting_tasks_are_served_in_order_of_arrival() -> None:
    server = Server(0)
    server.moment = lambda: asyncio.sleep(0)
    server.rng.random = lambda: 1.0
    pool = Pool(server.connect, size=2, queue=100)
    served: list[int] = []

    async def visit(number: int) -> None:
        async with pool.acquire():
            served.append(number)
            await asyncio.sleep(0)

    async with pool.acquire(), pool.acquire():
        visits = [asyncio.create_task(visit(number)) for number in range(20)]
        await asyncio.sleep(0)
        visits.pop(7).cancel()
        await asyncio.sleep(0)
        assert len(pool.waiting) == 19
    await asyncio.gather(*visits)
    assert served == [number for number in range(20) if number != 7]
    await pool.close()
