"""Tests that a tenant with many requests does not delay the requests of other tenants."""

import asyncio
import random
from collections import Counter
from pathlib import Path

import httpx
import pytest

from lib.fair_queue import BORROWER, FairQueue, QueueFull, slot
from tests.app.service import serving
from tests.wiki import Wiki, close_wiki, open_wiki

READ = "{ wikiPages(first: 5) { nodes { title } } }"
CROWD = 300


async def test_a_borrower_with_many_requests_does_not_delay_other_borrowers() -> None:
    queue, order = FairQueue(2), list[str]()
    free = asyncio.Event()

    async def work(borrower: str) -> None:
        BORROWER.set(borrower)
        async with slot(queue):
            order.append(borrower)
            await free.wait()

    tasks = [asyncio.create_task(work(name)) for name in [*("heavy" for _ in range(10)), "light", "other", "light"]]
    await asyncio.sleep(0.01)
    assert order == ["heavy", "heavy"]
    free.set()
    await asyncio.gather(*tasks)
    assert set(order[2:5]) >= {"light", "other"}
    assert (queue.taken, queue.waiters, queue.held, queue.waiting) == (0, 0, {}, {})


async def test_a_tenant_leaves_a_quarter_of_the_pool_to_other_tenants() -> None:
    queue = FairQueue(8)
    for _ in range(6):
        await queue.acquire("heavy")
    seventh = asyncio.create_task(queue.acquire("heavy"))
    await asyncio.wait_for(queue.acquire("light"), 1)
    assert not seventh.done()
    queue.release("heavy")
    await asyncio.wait_for(seventh, 1)


async def test_a_tenant_fills_at_most_half_of_the_queue() -> None:
    queue = FairQueue(1, max_waiting=4)
    await queue.acquire("heavy")
    waiting = [asyncio.create_task(queue.acquire("heavy")) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(QueueFull):
        await queue.acquire("heavy")
    waiting += [asyncio.create_task(queue.acquire("light")) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(QueueFull):
        await queue.acquire("other")
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert queue.waiters == 0


@pytest.mark.parametrize("seed", range(10))
async def test_cancelled_waiters_lose_no_slot_of_the_queue(seed: int) -> None:
    chance, queue, at_once = random.Random(seed), FairQueue(4), Counter[str]()

    async def work(borrower: str) -> None:
        BORROWER.set(borrower)
        async with slot(queue):
            at_once[borrower] += 1
            assert at_once[borrower] <= 3
            assert at_once.total() <= 4
            try:
                await asyncio.sleep(chance.random() / 1000)
            finally:
                at_once[borrower] -= 1

    tasks = [asyncio.create_task(work(chance.choice("aaaab"))) for _ in range(300)]
    while not all(task.done() for task in tasks):
        chance.choice(tasks).cancel()
        await asyncio.sleep(chance.random() / 1000)
    assert not [task for task in tasks if not task.cancelled() and task.exception()]
    assert (queue.taken, queue.waiters, queue.held, queue.waiting) == (0, 0, {}, {})


async def test_a_request_overtakes_the_queued_requests_of_another_tenant(dsn: str, tmp_path: Path, wiki: Wiki) -> None:
    light = await open_wiki(dsn)
    async with (
        serving(dsn, tmp_path, pool_size=2) as service,
        httpx.AsyncClient(base_url=service.url, timeout=60, limits=httpx.Limits()) as http,
    ):
        crowd_token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
        light_token = service.token(light.scope.tenant_id, light.scope.owner_id)
        for token in (crowd_token, light_token):
            assert (await service.post(READ, token)).status_code == 200
        await wiki.connection.execute("BEGIN; LOCK TABLE pages IN ACCESS EXCLUSIVE MODE")
        statuses = list[int]()

        async def read(token: str) -> int:
            answer = await http.post("/graphql", json={"query": READ}, headers={"authorization": f"Bearer {token}"})
            statuses.append(answer.status_code)
            return answer.status_code

        crowd = [asyncio.create_task(read(crowd_token)) for _ in range(CROWD)]
        await asyncio.sleep(1)
        assert (await service.http.get("/readyz")).status_code == 200
        light_read = asyncio.create_task(read(light_token))
        await asyncio.sleep(0.5)
        await wiki.connection.execute("COMMIT")
        assert await light_read == 200
        before = len(statuses)
        assert set(await asyncio.gather(*crowd)) == {200}
    await close_wiki(light)
    assert before < CROWD / 4
