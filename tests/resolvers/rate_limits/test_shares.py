"""A process's share of a bucket: it runs ahead by one portion, refills once at a time, and never waits for long."""

import asyncio

import pytest

from resolvers import rate_limits
from resolvers.rate_limits import Bucket, Lease, Rate, Share

RATE = Rate(per_second=10, burst=100)  # a portion is 10


class Common:
    """A bucket that can be slow, or fail."""

    def __init__(self) -> None:
        self.bucket, self.now = Bucket(RATE, RATE.burst, 0.0), 0.0
        self.requests: list[float] = []
        self.fault: Exception | None = None
        self.open = asyncio.Event()
        self.open.set()

    async def ask(self, wanted: float, owed: float) -> Lease:
        self.requests.append(wanted)
        await self.open.wait()
        if self.fault is not None:
            raise self.fault
        return Lease(self.bucket.take(wanted, owed, self.now), self.bucket.level(self.now))

    def share(self) -> Share:
        return Share(RATE, self.ask, lambda: self.now)


@pytest.fixture
async def common() -> Common:
    return Common()


async def paid(share: Share, cost: float) -> bool:
    if not share.covers(cost):
        await share.fetch(cost)
    if not share.covers(cost):
        return False
    share.spend(cost)
    return True


async def settled(share: Share) -> None:
    while share.leasing is not None:
        await asyncio.wait({share.leasing})


async def test_the_first_request_does_not_wait_for_a_lease(common: Common) -> None:
    share = common.share()
    common.open.clear()
    assert await paid(share, 10)
    assert common.requests == []
    await asyncio.sleep(0)
    assert common.requests == [10]
    common.open.set()
    await settled(share)
    assert share.tokens == 10


async def test_concurrent_requests_fetch_one_lease(common: Common) -> None:
    share = common.share()
    assert all(await asyncio.gather(*(paid(share, 1) for _ in range(8))))
    await settled(share)
    assert len(common.requests) == 1


async def test_processes_together_serve_the_burst_give_or_take_a_portion_each(common: Common) -> None:
    processes = [common.share() for _ in range(4)]
    served = 0
    for _ in range(200):
        for share in processes:
            served += await paid(share, 1)
    assert RATE.burst - 4 * RATE.portion() <= served <= RATE.burst + 4 * RATE.portion()


async def test_no_lease_is_fetched_while_the_bucket_is_empty(common: Common) -> None:
    share = common.share()
    while await paid(share, 5):
        pass
    requests = len(common.requests)
    for _ in range(100):
        assert not await paid(share, 5)
    assert len(common.requests) == requests
    common.now += 2
    assert await paid(share, 5)
    assert len(common.requests) == requests + 1


async def test_tokens_taken_ahead_are_paid_back(common: Common) -> None:
    share = common.share()
    share.spend(40)
    await settled(share)
    assert share.tokens == RATE.portion()
    assert common.bucket.level(0) == RATE.burst - 40 - RATE.portion()


async def test_a_request_costlier_than_the_burst_leaves_a_debt(common: Common) -> None:
    share = common.share()
    assert await paid(share, 1000)
    await settled(share)
    common.now += 80
    assert not await paid(share, 1)
    common.now += 30
    assert await paid(share, 1)


async def test_a_request_does_not_wait_for_a_hanging_lease(common: Common, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "LEASE_TIMEOUT", 0.01)
    share = common.share()
    common.open.clear()
    assert await asyncio.wait_for(paid(share, 60), 5)


async def test_without_postgres_a_process_serves_one_burst_of_its_own(common: Common) -> None:
    share = common.share()
    common.fault = OSError("gone")
    served = 0
    for _ in range(500):
        served += await paid(share, 1)
    assert RATE.burst <= served <= RATE.burst + 2 * RATE.portion()
    common.fault = None
    common.now += 2
    assert await paid(share, 10)
