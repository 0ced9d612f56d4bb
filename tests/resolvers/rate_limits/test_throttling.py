"""Rate limits hold for a credential, for its tenant, and for all processes together."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import pytest

from db.scope import Actor, ActorKind, Role, Scope
from resolvers import rate_limits
from resolvers.rate_limits import Lease, Rate, Throttle, Throttled
from tests.resolvers.rate_limits import rate_limit_process
from tests.waiting import SOON
from tests.wiki import Wiki, close_wiki, open_wiki

FREE = Rate(0, 1)
ROOT = Path(__file__).parents[2]


@pytest.fixture
async def wiki(dsn: str) -> AsyncIterator[Wiki]:
    wiki = await open_wiki(dsn)
    yield wiki
    await close_wiki(wiki)


@pytest.fixture(autouse=True)
def patient_leases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for the shared buckets however busy the machine is. Otherwise a late lease comes from a second bucket."""
    monkeypatch.setattr(rate_limits, "LEASE_TIMEOUT", SOON)


def actor(wiki: Wiki, name: str) -> Scope:
    scope = wiki.scope
    return Scope(scope.tenant_id, scope.owner_id, Role.MEMBER, Actor(ActorKind.USER, name), scope.owners)


async def served(throttle: Throttle, scope: Scope, times: int, cost: int = 1) -> int:
    """Return how many of these requests are served before the first refusal."""
    for n in range(times):
        try:
            await throttle.account(scope).take(cost)
        except Throttled:
            return n
    return times


async def test_a_throttled_credential_does_not_throttle_another(wiki: Wiki) -> None:
    throttle = Throttle(wiki.database, credential=Rate(0.01, 50), tenant=FREE, max_concurrent=0)
    assert 50 <= await served(throttle, actor(wiki, "a"), 100) <= 56
    with pytest.raises(Throttled, match=r"Try again in \d+ s") as caught:
        await throttle.account(actor(wiki, "a")).take(3)
    assert caught.value.extensions == {"code": "THROTTLED", "retryAfter": caught.value.retry_after}
    assert 100 <= caught.value.retry_after <= 900
    assert await served(throttle, actor(wiki, "b"), 20) == 20
    subjects = await wiki.connection.fetch("SELECT subject FROM throttles WHERE tenant_id = $1", wiki.scope.tenant_id)
    assert {row["subject"] for row in subjects} == {"user:a", "user:b"}


async def test_the_limit_of_a_tenant_holds_for_all_its_credentials(wiki: Wiki) -> None:
    throttle = Throttle(wiki.database, credential=FREE, tenant=Rate(0.01, 50), max_concurrent=0)
    total = 0
    for n in range(20):
        total += await served(throttle, actor(wiki, f"user {n}"), 10)
    assert 50 <= total <= 56


async def test_a_rate_of_zero_is_no_limit_and_sends_no_statement(wiki: Wiki) -> None:
    throttle = Throttle(wiki.database, credential=FREE, tenant=FREE, max_concurrent=0)
    assert await served(throttle, wiki.scope, 1000, 10**9) == 1000
    assert throttle.account(wiki.scope).allowance() is None
    assert await wiki.connection.fetchval("SELECT count(*) FROM throttles") == 0


async def test_an_account_reports_its_remaining_limit(wiki: Wiki) -> None:
    throttle = Throttle(wiki.database, credential=Rate(0.01, 1000), tenant=Rate(0.01, 5000), max_concurrent=0)
    account = throttle.account(wiki.scope)
    await account.take(300)
    left = account.allowance()
    assert left is not None
    assert (left.limit, left.remaining) == (1000, 700)
    await account.take(300)
    left = account.allowance()
    assert left is not None
    assert left.remaining == 400
    assert (left.resets_at.timestamp() - time.time()) == pytest.approx(60_000, abs=600)


async def test_concurrent_requests_are_limited_per_credential(wiki: Wiki) -> None:
    throttle = Throttle(wiki.database, credential=FREE, tenant=FREE, max_concurrent=2)
    with throttle.account(wiki.scope), throttle.account(wiki.scope):
        with pytest.raises(Throttled, match="2 requests running"), throttle.account(wiki.scope):
            pass
        with throttle.account(actor(wiki, "another")):
            pass
    with throttle.account(wiki.scope):
        pass


async def test_refilled_buckets_are_deleted(wiki: Wiki) -> None:
    row = """INSERT INTO throttles (tenant_id, subject, tokens, leased, at)
        VALUES ($1, $2, 0, 0, extract(epoch FROM now()) - $3::float8)"""
    for subject, age in (("user:old", 1000), ("user:new", 5), ("", 1000)):
        await wiki.connection.execute(row, wiki.scope.tenant_id, subject, age)
    throttle = Throttle(wiki.database, credential=Rate(100, 1000), tenant=FREE, max_concurrent=0)
    throttle.account(wiki.scope)
    await asyncio.gather(*throttle.forgetting)
    left = await wiki.connection.fetch("SELECT subject FROM throttles ORDER BY 1")
    assert [row["subject"] for row in left] == ["", "user:new"]


async def test_a_bucket_refills_after_the_clock_of_postgres_was_set_back(wiki: Wiki) -> None:
    """As when a standby whose clock is right takes over from a server whose clock was an hour ahead."""
    rate, move = Rate(100, 1000), "UPDATE throttles SET at = at + $1"
    throttle = Throttle(wiki.database, credential=rate, tenant=FREE, max_concurrent=0)
    tenant_id = wiki.scope.tenant_id
    assert await throttle.lease(tenant_id, "user:ada", rate, 1000, 0) == Lease(1000, 0)
    await wiki.connection.execute(move, 3600.0)
    await throttle.lease(tenant_id, "user:ada", rate, 0, 0)
    await wiki.connection.execute(move, -2.0)
    assert 200 <= (await throttle.lease(tenant_id, "user:ada", rate, 1000, 0)).given < 1000


async def test_processes_together_exceed_the_limit_by_their_portions_at_most(dsn: str, wiki: Wiki) -> None:
    rate, processes = Rate(100, 400), 3  # a portion is 40
    place: tuple[UUID, UUID] = (wiki.scope.tenant_id, wiki.scope.owner_id)
    given = json.dumps({"dsn": dsn, "place": [str(id) for id in place], "credential": rate, "seconds": 1})
    started = time.monotonic()
    command = [sys.executable, "-m", rate_limit_process.__name__]
    running = [
        await asyncio.create_subprocess_exec(*command, given, cwd=ROOT, stdout=subprocess.PIPE)
        for _ in range(processes)
    ]
    taken = [json.loads((await process.communicate())[0]) for process in running]
    elapsed = time.monotonic() - started
    total = sum(taken)
    assert all(taken)
    assert rate.burst <= total + processes * rate.portion()
    assert total <= rate.burst + rate.per_second * elapsed + processes * rate.portion()
