"""The queue of compile jobs: no job is lost or run twice, and one worker at a time compiles a wiki."""

import asyncio
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from compiler.jobs.periodic import RetentionCheck
from db.database import Database
from db.scope import Role
from resolvers.archives import retention
from resolvers.errors import BadInput, Forbidden, NotFound
from resolvers.jobs import queue
from resolvers.jobs.queue import JobLost, ask_for_compile, beat, cancel, claim, enqueue, fail, finish, follow_up, retry
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from resolvers.tenants.tenants import create_tenant, list_tenants
from resolvers.transactions.transaction import writing
from tests.wiki import Wiki


async def enqueue_job(wiki: Wiki, bucket: int | None = None, trigger: str = "retain"):
    async with writing(wiki.database, wiki.scope) as writer:
        return await enqueue(writer, wiki.scope.tenant_id, wiki.scope.owner_id, trigger, bucket=bucket)


async def finish_job(wiki: Wiki, job: queue.Job) -> None:
    async with writing(wiki.database, wiki.scope) as writer:
        await finish(writer, job, {"sources": 3})


async def age_heartbeats(wiki: Wiki, minutes: int) -> None:
    since = timedelta(minutes=minutes)
    await wiki.connection.execute(
        "UPDATE compile_jobs SET heartbeat_at = now() - $1::interval WHERE status = 'running'", since
    )


async def test_a_wiki_has_one_job_per_bucket(wiki: Wiki) -> None:
    first = await enqueue_job(wiki, 7)
    assert await enqueue_job(wiki, 7) == first
    assert await enqueue_job(wiki, 8) != first
    row = await wiki.row("compile_jobs", id=first)
    assert row["dedupe_key"] == f"{wiki.scope.tenant_id}:{wiki.scope.owner_id}:7"
    assert (row["status"], row["trigger"], row["attempt"]) == ("pending", "retain", 0)


@pytest.mark.parametrize("hours", [-1, 1])
async def test_jobs_of_a_machine_with_a_wrong_clock_run_at_once(
    wiki: Wiki, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    class Wrong(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> "Wrong":
            return cls.fromtimestamp(datetime.now(tz).timestamp() + 3600 * hours, tz)

    monkeypatch.setattr(queue, "BUCKET", 300)
    with monkeypatch.context() as patched:
        patched.setattr(queue, "datetime", Wrong)
        await enqueue_job(wiki)
        assert 0 <= (await queue.count_open_jobs(wiki.database)).oldest < 600
    assert 0 <= (await queue.count_open_jobs(wiki.database)).oldest < 600
    job = await claim(wiki.database, "w")
    assert job
    with monkeypatch.context() as patched:
        patched.setattr(queue, "datetime", Wrong)
        await beat(wiki.database, job)
        assert await claim(wiki.database, "another") is None
        wait = job.next_bucket_begins - (await wiki.row("compile_jobs", id=job.id))["created_at"]
        assert timedelta(0) < wait <= timedelta(minutes=5), "what a cap leaves to the next bucket waits no hour"
    assert await claim(wiki.database, "another") is None, "its worker is alive"


async def test_a_finished_job_does_not_block_a_new_one(wiki: Wiki) -> None:
    first = await enqueue_job(wiki, 7)
    job = await claim(wiki.database, "w")
    assert job
    assert job.id == first
    assert await enqueue_job(wiki, 7) == first, "one that runs reads what comes before it ends"
    await finish_job(wiki, job)
    assert await enqueue_job(wiki, 7) != first
    row = await wiki.row("compile_jobs", id=first)
    assert (row["status"], row["metrics"], row["claimed_by"]) == ("succeeded", {"sources": 3}, None)


async def test_a_rolled_back_enqueue_leaves_no_job(wiki: Wiki) -> None:
    with suppress(ZeroDivisionError):
        async with writing(wiki.database, wiki.scope) as writer:
            await enqueue(writer, wiki.scope.tenant_id, wiki.scope.owner_id, "retain")
            raise ZeroDivisionError
    assert await wiki.rows("compile_jobs") == []


async def test_the_oldest_job_runs_first_and_one_job_per_wiki(wiki: Wiki) -> None:
    other = await wiki.neighbour()
    first, _, third = await enqueue_job(wiki, 1), await enqueue_job(wiki, 2), await enqueue_job(other, 1)
    first_claimed, second_claimed = await claim(wiki.database, "w"), await claim(wiki.database, "w")
    assert first_claimed
    assert second_claimed
    assert (first_claimed.id, second_claimed.id) == (first, third)
    assert await claim(wiki.database, "w") is None
    await finish_job(wiki, first_claimed)
    assert await claim(wiki.database, "w") is not None


async def test_the_oldest_job_of_all_tenants_runs_first(dsn: str, wiki: Wiki) -> None:
    from tests.wiki import close_wiki, open_wiki

    elsewhere = await open_wiki(dsn)
    try:
        first, second = await enqueue_job(elsewhere), await enqueue_job(wiki)
        claimed = [await claim(wiki.database, "w"), await claim(wiki.database, "w")]
        assert [job.id for job in claimed if job] == [first, second]
    finally:
        await close_wiki(elsewhere)


async def test_a_job_without_heartbeats_is_given_to_another_worker(wiki: Wiki) -> None:
    await enqueue_job(wiki)
    lost = await claim(wiki.database, "w")
    assert lost
    await age_heartbeats(wiki, 9)
    assert await claim(wiki.database, "w") is None
    await beat(wiki.database, lost)
    await age_heartbeats(wiki, 11)
    taken_over = await claim(wiki.database, "w")
    assert taken_over
    assert (taken_over.id, taken_over.attempt) == (lost.id, 2)
    for late in (beat(wiki.database, lost), finish_job(wiki, lost), fail(wiki.database, lost, "x", {})):
        with pytest.raises(JobLost):
            await late
    await finish_job(wiki, taken_over)


async def test_a_job_without_heartbeats_counts_as_waiting_for_another_worker(wiki: Wiki) -> None:
    await enqueue_job(wiki)
    assert await claim(wiki.database, "w")
    await age_heartbeats(wiki, 9)
    assert await queue.count_open_jobs(wiki.database) == queue.OpenJobs(pending=0, running=1, oldest=0.0)
    await age_heartbeats(wiki, 130)
    counted = await queue.count_open_jobs(wiki.database)
    assert (counted.pending, counted.running) == (1, 0)
    assert 7200 <= counted.oldest < 7260


async def test_a_failed_job_is_retried_with_growing_pauses_up_to_a_limit(wiki: Wiki) -> None:
    job_id, waits = await enqueue_job(wiki), []
    for _ in range(queue.ATTEMPTS_MAX):
        job = await claim(wiki.database, "w")
        assert job
        await fail(wiki.database, job, "the model is away", {})
        row = await wiki.row("compile_jobs", id=job_id)
        waits.append((row["run_after"] - await wiki.connection.fetchval("SELECT now()")) / timedelta(seconds=1))
        assert await claim(wiki.database, "w") is None
        await wiki.connection.execute("UPDATE compile_jobs SET run_after = created_at")
    assert (row["status"], row["error"], row["attempt"]) == ("failed", "the model is away", 5)
    assert [round(wait / 30) for wait in waits] == [1, 2, 4, 8, 16]


async def test_a_follow_up_job_is_in_the_bucket_after_its_parents(wiki: Wiki) -> None:
    await enqueue_job(wiki, 41, "bootstrap_import")
    job = await claim(wiki.database, "w")
    assert job
    async with writing(wiki.database, wiki.scope) as writer:
        next_id = await follow_up(writer, job)
        await finish(writer, job, {})
    row = await wiki.row("compile_jobs", id=next_id)
    assert (row["dedupe_key"].rpartition(":")[2], row["trigger"]) == ("42", "bootstrap_import")


async def test_a_follow_up_of_a_job_with_a_subject_is_separate_from_other_jobs(wiki: Wiki) -> None:
    wanted: dict[str, Any] = {"bucket": 41, "subject": "rebuild"}
    async with writing(wiki.database, wiki.scope) as writer:
        await enqueue(writer, wiki.scope.tenant_id, wiki.scope.owner_id, "rebuild", **wanted)
    job = await claim(wiki.database, "w")
    assert job
    compiling = await enqueue_job(wiki, 50)
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    async with writing(wiki.database, wiki.scope) as writer:
        rest = await follow_up(writer, job, after=tomorrow)
        assert await follow_up(writer, job, after=tomorrow) == rest != compiling
        await finish(writer, job, {})
    row = await wiki.row("compile_jobs", id=rest)
    assert row["dedupe_key"] == f"{wiki.scope.tenant_id}:{wiki.scope.owner_id}:rebuild:42"
    assert (row["trigger"], row["run_after"]) == ("rebuild", tomorrow)


async def test_a_cancelled_job_is_lost_for_its_worker(wiki: Wiki) -> None:
    await enqueue_job(wiki)
    job = await claim(wiki.database, "w")
    assert job
    assert await cancel(wiki.database, wiki.scope, job.id)
    assert not await cancel(wiki.database, wiki.scope, job.id)
    with pytest.raises(JobLost):
        await finish_job(wiki, job)


async def test_only_admins_request_and_cancel_compiles(wiki: Wiki) -> None:
    job_id = await ask_for_compile(wiki.database, wiki.scope)
    service = wiki.with_role(Role.SERVICE)
    with pytest.raises(Forbidden):
        await ask_for_compile(wiki.database, service.scope)
    with pytest.raises(Forbidden):
        await cancel(wiki.database, service.scope, job_id)
    with pytest.raises(NotFound):
        await cancel(wiki.database, wiki.scope, wiki.scope.owner_id)


async def test_concurrent_workers_run_each_job_once_and_one_per_wiki(dsn: str, wiki: Wiki) -> None:
    wikis = [wiki, *[await wiki.neighbour() for _ in range(9)]]
    job_ids = {await enqueue_job(each_wiki, bucket) for each_wiki in wikis for bucket in range(3)}
    run_counts, running = Counter(), Counter()

    async def worker(name: str) -> None:
        database = Database(dsn, size=2)
        await database.open()
        while len(run_counts) < len(job_ids):
            job = await claim(database, name)
            if job is None:
                await asyncio.sleep(0.005)
                continue
            running[job.owner_id] += 1
            assert running[job.owner_id] == 1
            await asyncio.sleep(0.001)
            running[job.owner_id] -= 1
            scope = wiki.scope.in_owner(job.owner_id)
            async with writing(database, scope) as writer:
                await finish(writer, job, {})
            run_counts[job.id] += 1
        await database.close()

    async with asyncio.timeout(30):
        await asyncio.gather(*(worker(f"w{n}") for n in range(4)))
    assert set(run_counts) == job_ids
    assert set(run_counts.values()) == {1}


async def test_a_manually_retried_job_has_all_its_attempts_again(wiki: Wiki) -> None:
    admin = wiki.with_role(Role.ADMIN).scope
    first = await enqueue_job(wiki, 7)
    job = await claim(wiki.database, "w")
    assert job
    with pytest.raises(BadInput, match="running"):
        await retry(wiki.database, admin, first)
    await fail(wiki.database, job, "The disk is full.", {}, is_hopeless=True)
    assert await retry(wiki.database, admin, first) == first
    row = await wiki.row("compile_jobs", id=first)
    assert (row["status"], row["attempt"], row["finished_at"], row["error"]) == (
        "pending",
        0,
        None,
        "The disk is full.",
    )
    assert await cancel(wiki.database, admin, first)
    second = await enqueue_job(wiki, 7)
    assert await retry(wiki.database, admin, first) == second, "one of its key is open"


async def test_old_jobs_are_pruned_in_batches(wiki: Wiki, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resolvers.archives.retention.ROWS_PER_BATCH", 2)
    for number in range(5):
        await create_page(wiki.database, wiki.scope, PageDraft("topic", f"Page {number}"))
    cancelled, waiting = await enqueue_job(wiki, 7), await enqueue_job(wiki, 8)
    await cancel(wiki.database, wiki.with_role(Role.ADMIN).scope, cancelled)
    await RetentionCheck(1, 60).run_if_due(wiki.database)
    assert (len(await wiki.rows("activity")), len(await wiki.rows("compile_jobs"))) == (5, 2)
    now = retention.find_moment

    async def two_days_later(database: Database) -> datetime:
        return await now(database) + timedelta(days=2)

    monkeypatch.setattr(retention, "find_moment", two_days_later)
    await RetentionCheck(0, 60).run_if_due(wiki.database)
    assert len(await wiki.rows("activity")) == 5, "0 keeps all"
    check = RetentionCheck(1, 60)
    await check.run_if_due(wiki.database)
    assert await wiki.rows("activity") == []
    assert [row["id"] for row in await wiki.rows("compile_jobs")] == [waiting]
    assert len(await wiki.rows("pages")) == 5
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Later"))
    await check.run_if_due(wiki.database)
    assert len(await wiki.rows("activity")) == 1, "it looks now and then"


async def test_a_tenant_whose_pruning_fails_does_not_keep_the_others_from_it(
    wiki: Wiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    await create_tenant(wiki.database, "other", "Other")
    seen: list[UUID] = []

    async def prune_deliveries(database: Database, tenant_id: UUID, now: datetime) -> None:
        seen.append(tenant_id)
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("compiler.jobs.periodic.prune_deliveries", prune_deliveries)
    await RetentionCheck(1, 60).run_if_due(wiki.database)
    assert len(seen) >= 2
    assert seen == [tenant.id for tenant in await list_tenants(wiki.database)]
