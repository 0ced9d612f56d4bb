"""Jobs whose planner, writer or worker fails or stops."""

import asyncio
import logging

import pytest

from compiler.jobs.worker import work
from resolvers.errors import Unavailable
from resolvers.jobs.queue import ATTEMPTS_MAX
from tests.compiler.scripted_compiler import (
    ScriptedPlanner,
    ScriptedWriter,
    compile_all,
    retain_texts,
    scripted_compiler,
)
from tests.wiki import Wiki


async def test_a_job_whose_planner_fails_is_retried(wiki: Wiki, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, "compiler.jobs.worker")  # the report of a test must be UTF-8, and this error is not

    class Broken(ScriptedPlanner):
        async def plan(self, sources, knowledge):
            raise ValueError("no plan\0\ud800 today")

    await retain_texts(wiki, "page entity Momofuku\nFood.")
    (job,) = await compile_all(wiki, scripted_compiler(Broken()))
    assert (job["status"], job["error"], job["attempt"]) == (
        "pending", "Planning 1 source (daily_note/day-0) failed: ValueError: no plan? today.", 1,
    )  # fmt: skip
    await wiki.connection.execute("UPDATE compile_jobs SET run_after = created_at")
    (job,) = await compile_all(wiki)
    assert (job["status"], job["error"]) == ("succeeded", None)


async def test_the_error_of_a_failed_writer_names_the_section(wiki: Wiki) -> None:
    class Broken(ScriptedWriter):
        async def write(self, task) -> str:
            raise Unavailable("The model is away.")

    await retain_texts(wiki, "page entity Momofuku\nFood.")
    (job,) = await compile_all(wiki, scripted_compiler(writer=Broken()))
    assert job["error"] == "Writing the section overview of the entity “Momofuku” failed: The model is away."


async def test_a_stopped_worker_returns_its_job_to_the_queue_with_all_its_attempts(wiki: Wiki) -> None:
    class Endless(ScriptedWriter):
        async def write(self, task) -> str:
            started.set()
            await asyncio.sleep(60)
            return ""

    await retain_texts(wiki, "page entity Momofuku\nFood.")
    for _ in range(ATTEMPTS_MAX + 1):
        started = asyncio.Event()
        working = asyncio.create_task(work(wiki.database, scripted_compiler(writer=Endless())))
        async with asyncio.timeout(10):
            await started.wait()
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working
        assert (await wiki.row("compile_jobs"))["status"] == "pending"
    (job,) = await compile_all(wiki)
    assert (job["status"], job["attempt"]) == ("succeeded", 1)


async def test_a_job_whose_attempts_were_all_abandoned_fails(wiki: Wiki) -> None:
    await retain_texts(wiki, "page entity Momofuku\nFood.")
    await wiki.connection.execute("UPDATE compile_jobs SET attempt = 5")
    (job,) = await compile_all(wiki)
    assert (job["status"], job["error"]) == ("failed", "Every worker that had it fell silent.")
