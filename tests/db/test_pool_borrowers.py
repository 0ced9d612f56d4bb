"""Borrowers share the connections of a pool and the queue of its waiting tasks."""

import asyncio

import pytest

from db.database import Database
from db.pool import Pool
from db.waiters import Exhausted
from lib.fair_queue import BORROWER
from tests.waiting import within


async def borrow(pool: Pool, borrower: str, order: list[str], release: asyncio.Event) -> None:
    BORROWER.set(borrower)
    async with pool.acquire():
        order.append(borrower)
        await release.wait()


async def test_the_borrower_with_the_fewest_connections_is_served_next(pool: Pool) -> None:
    """A borrower that asks for everything keeps no other one waiting behind all of its requests."""
    order: list[str] = []
    release = [asyncio.Event() for _ in range(4)]
    tasks = []
    for number, borrower in enumerate(("greedy", "greedy", "greedy", "modest")):
        tasks.append(asyncio.create_task(borrow(pool, borrower, order, release[number])))
        async with within("the borrowers were not in line"):
            while len(order) < min(number + 1, 2) or len(order) + len(pool.waiting) <= number:
                await asyncio.sleep(0.01)
    release[0].set()
    await tasks[0]
    async with within("the pool had lent too few connections"):
        while len(order) < 3:
            await asyncio.sleep(0.01)
    assert order == ["greedy", "greedy", "modest"]
    for event in release:
        event.set()
    await asyncio.gather(*tasks)
    assert not pool.lent


async def test_a_borrower_leaves_connections_to_others(shared_dsn: str) -> None:
    database = Database(shared_dsn, size=4)
    await database.open()
    pool = database.pool
    assert pool is not None
    order: list[str] = []
    release = asyncio.Event()
    await asyncio.create_task(borrow_once(pool, "greedy"))
    await asyncio.create_task(borrow_once(pool, "modest"))
    tasks = [asyncio.create_task(borrow(pool, "greedy", order, release)) for _ in range(6)]
    async with within("the borrowers were not in line"):
        while len(order) < 3 or len(pool.waiting) < 3 or pool.opening:
            await asyncio.sleep(0.01)
    await asyncio.wait_for(asyncio.create_task(borrow_once(pool, "modest")), 5)
    async with pool.acquire():
        assert order == ["greedy"] * 3
    release.set()
    await asyncio.gather(*tasks)
    assert order == ["greedy"] * 6
    assert not pool.lent
    await database.close()


async def test_a_borrower_that_waits_gets_more_connections_once_others_need_none(
    shared_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("db.pool.SHARE_WINDOW", 0.5)
    database = Database(shared_dsn, size=4)
    await database.open()
    pool = database.pool
    assert pool is not None
    order: list[str] = []
    release = asyncio.Event()
    await asyncio.create_task(borrow_once(pool, "modest"))
    tasks = [asyncio.create_task(borrow(pool, "greedy", order, release)) for _ in range(4)]
    async with within("the last connection stayed idle"):
        while len(order) < 4:
            await asyncio.sleep(0.01)
    release.set()
    await asyncio.gather(*tasks)
    await database.close()


async def test_a_single_borrower_may_use_all_connections(shared_dsn: str) -> None:
    database = Database(shared_dsn, size=4)
    await database.open()
    pool = database.pool
    assert pool is not None
    order: list[str] = []
    release = asyncio.Event()
    tasks = [asyncio.create_task(borrow(pool, "only", order, release)) for _ in range(6)]
    async with within("the pool had lent too few connections"):
        while len(order) < 4:
            await asyncio.sleep(0.01)
    release.set()
    await asyncio.gather(*tasks)
    await database.close()


async def borrow_once(pool: Pool, borrower: str) -> None:
    BORROWER.set(borrower)
    async with pool.acquire() as connection:
        await connection.fetchval("SELECT 1")


async def test_a_borrower_fills_at_most_half_of_the_queue(shared_dsn: str) -> None:
    database = Database(shared_dsn, size=1, queue=4)
    await database.open()
    pool = database.pool
    assert pool is not None
    order: list[str] = []
    release = asyncio.Event()
    async with pool.acquire():
        tasks = [asyncio.create_task(borrow(pool, "greedy", order, release)) for _ in range(5)]
        modest = asyncio.create_task(borrow(pool, "modest", order, release))
        done, _ = await asyncio.wait(tasks, timeout=5, return_when=asyncio.FIRST_COMPLETED)
        assert all(isinstance(task.exception(), Exhausted) for task in done)
        assert sum(waiter.borrower == "greedy" for waiter in pool.waiting) == 2
        assert sum(waiter.borrower == "modest" for waiter in pool.waiting) == 1
        release.set()
    await asyncio.gather(*tasks, modest, return_exceptions=True)
    await database.close()
