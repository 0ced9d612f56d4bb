"""A worker that dies leaves only whole batches, and the next worker completes the same wiki."""

import asyncio
from collections import Counter
from urllib.parse import urlsplit

import asyncpg
import pytest

from compiler.compiler import Caps, Compiler
from compiler.jobs.worker import run, work
from db.database import Database
from resolvers.jobs.queue import claim
from tests.compiler.killed.crashes import (
    CAPS,
    RECLAIM,
    RUNS,
    random_sources,
    retain_drafts,
    rows,
    run_undisturbed,
    run_with_kills,
)
from tests.compiler.scripted_compiler import (
    ScriptedPlanner,
    ScriptedWriter,
    compile_all,
    compile_jobs,
    scripted_compiler,
)
from tests.examples import examples
from tests.wiki import Wiki, close_wiki, open_wiki


@pytest.mark.parametrize(
    ("trigger", "kills"),
    [("retain", examples(12, 24)), *((trigger, examples(6, 8)) for trigger in ("sweep", "rebuild", "forget"))],
)
async def test_killed_workers_leave_the_same_wiki_as_undisturbed_ones(
    dsn: str, wiki: Wiki, trigger: str, kills: int
) -> None:
    calm = await open_wiki(dsn)
    try:
        expected = await run_undisturbed(calm, 1, trigger)
    finally:
        await close_wiki(calm)
    found, struck = await run_with_kills(wiki, 1, kills, trigger)
    assert struck >= 1, "how many it hits depends on how fast the machine is"
    assert found == expected
    assert all(len(table) > 3 for table in expected.values())
    assert {row[3] for row in expected["lists"]} > {None}, "a section was promoted"


class Died(BaseException):
    """An exception that no code of the product catches."""


async def test_dying_at_any_statement_of_a_batch_leaves_the_same_wiki(
    dsn: str, wiki: Wiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    calm = await open_wiki(dsn)
    try:
        expected = await run_undisturbed(calm, 2)
    finally:
        await close_wiki(calm)
    await retain_drafts(wiki, random_sources(2))
    assert await die_at_every_statement(dsn, wiki, monkeypatch, 5) >= 20
    assert await rows(wiki) == expected


async def die_at_every_statement(
    dsn: str, wiki: Wiki, monkeypatch: pytest.MonkeyPatch, stride: int, compiler: Compiler | None = None
) -> int:
    """Run the jobs with a worker that dies, each time at a later statement, and return how often it died."""
    deaths, statements, dies_at = 0, 0, 3
    original = Database.connect

    async def connect(self, session):
        connection = await original(self, session)
        connection.add_query_logger(lambda record: count())
        return connection

    def count() -> None:
        nonlocal statements
        statements += 1

    database = Database(dsn, size=1)
    monkeypatch.setattr(Database, "connect", connect)
    await database.open()
    from resolvers.transactions.writer import Writer

    for name in ("run", "all", "one", "value"):
        method = getattr(Writer, name)

        def mortal(method=method):
            async def call(self, statement, **values):
                if statements >= dies_at:
                    raise Died
                return await method(self, statement, **values)

            return call

        monkeypatch.setattr(Writer, name, mortal())
    while True:
        statements = 0
        await wiki.connection.execute(RECLAIM)
        job = await claim(database, "mortal")
        if job is None:
            break
        try:
            await run(database, job, compiler or scripted_compiler(caps=CAPS))
        except BaseExceptionGroup as errors:
            deaths += errors.subgroup(Died) is not None
        except Died:
            deaths += 1
        dies_at += stride
    await database.close()
    monkeypatch.undo()
    return deaths


async def test_concurrent_workers_compile_each_wiki_once(dsn: str, wiki: Wiki) -> None:
    wikis = [wiki, *[await wiki.neighbour() for _ in range(19)]]
    at_work: Counter[str] = Counter()

    class Watched(ScriptedPlanner):
        async def plan(self, sources, knowledge):
            owner = str(knowledge.scope.owner_id)
            at_work[owner] += 1
            assert at_work[owner] == 1
            await asyncio.sleep(0.002)
            plan = await super().plan(sources, knowledge)
            at_work[owner] -= 1
            return plan

    for n, current in enumerate(wikis):
        await retain_drafts(current, random_sources(n, 6))
    databases = [Database(dsn, size=2) for _ in range(4)]
    for database in databases:
        await database.open()
    workers = [
        asyncio.create_task(work(database, scripted_compiler(Watched(), ScriptedWriter(), Caps(batch=3)), idle=0.01))
        for database in databases
    ]
    async with asyncio.timeout(60):
        while await wiki.connection.fetchval(
            "SELECT count(*) FROM compile_jobs WHERE status IN ('pending', 'running')"
        ):
            await asyncio.sleep(0.02)
    for worker in workers:
        worker.cancel()
    await asyncio.gather(*workers, return_exceptions=True)
    for database in databases:
        await database.close()
    for current in wikis:
        jobs = await compile_jobs(current)
        assert [job["status"] for job in jobs] == ["succeeded"]
        assert jobs[0]["metrics"]["sources_read"] == 6
        assert jobs[0]["attempt"] == 1
    alone = await open_wiki(dsn)
    try:
        await retain_drafts(alone, random_sources(3, 6))
        await compile_all(alone, scripted_compiler(caps=Caps(batch=3)))
        assert await rows(alone) == await rows(wikis[3])
    finally:
        await close_wiki(alone)


async def test_a_job_is_retried_soon_after_a_database_outage(
    dsn: str, server_dsn: str, wiki: Wiki, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The retry does not wait until the heartbeat of the worker is overdue."""
    monkeypatch.setattr("compiler.jobs.worker.RETRY_PAUSE", 0.05)
    name = urlsplit(dsn).path.strip("/")
    operator = await asyncpg.connect(server_dsn)

    ends = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> $2"

    class Struck(ScriptedPlanner):
        async def plan(self, sources, knowledge):
            await operator.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
            await operator.execute(ends, name, wiki.connection.get_server_pid())
            return await super().plan(sources, knowledge)

    await retain_drafts(wiki, random_sources(0, 6))
    database = Database(dsn, size=2)
    await database.open()
    worker = asyncio.create_task(work(database, scripted_compiler(Struck(), ScriptedWriter()), idle=0.01))
    async with asyncio.timeout(60):
        while "is not stored yet" not in caplog.text:
            await asyncio.sleep(0.02)
        await operator.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
        while await wiki.connection.fetchval("SELECT status FROM compile_jobs") != "pending":
            await asyncio.sleep(0.02)
    worker.cancel()
    await asyncio.gather(worker, return_exceptions=True)
    attempt, error = await wiki.connection.fetchrow("SELECT attempt, error FROM compile_jobs")
    await operator.close()
    await database.close()
    assert attempt == 1
    assert "The database cannot" in error


@pytest.mark.parametrize("trigger", ["sweep", "rebuild", "forget"])
async def test_dying_at_any_statement_of_another_run_leaves_the_same_wiki(
    dsn: str, wiki: Wiki, monkeypatch: pytest.MonkeyPatch, trigger: str
) -> None:
    calm = await open_wiki(dsn)
    try:
        await RUNS[trigger](calm, 3)
        before = await rows(calm)
        await compile_all(calm, scripted_compiler(caps=CAPS))
        expected = await rows(calm)
    finally:
        await close_wiki(calm)
    assert len(expected["pages"]) > 3
    assert expected != before
    await RUNS[trigger](wiki, 3)
    assert await die_at_every_statement(dsn, wiki, monkeypatch, 11) >= 5
    assert await rows(wiki) == expected
    assert not await wiki.rows("forgettings", "source_id")
