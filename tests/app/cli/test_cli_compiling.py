"""Commands that retain sources, run compile jobs and show the compiled pages."""

import asyncio
import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from app.cli.commands import jobs
from resolvers.jobs import queue
from tests.app.command_line import MARA, Cairn
from tests.clocks import set_clock
from tests.resolvers.embeddings.embedding_server import Model, serving


@pytest.fixture
def scripted(acme: Cairn, monkeypatch: pytest.MonkeyPatch) -> Cairn:
    """Run commands with the scripted planner and section writer of the stories."""
    monkeypatch.setenv("CAIRN_PLANNER", "tests.compiler.story:Story")
    monkeypatch.setenv("CAIRN_SECTION_WRITER", "tests.compiler.story:Scribe")
    return acme


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.jsonl"
    lines = [{"kind": "daily_note", "ref": f"day-{n}", "content": f"page entity Momofuku\nDay {n}."} for n in range(3)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_notes_are_retained_once_and_compiled(scripted: Cairn, notes: Path) -> None:
    ran = scripted("retain", str(notes), *MARA, "--json")
    assert ran.code == 0
    retained = json.loads(ran.out)
    assert (retained["new"], retained["known"], retained["errors"], bool(retained["jobId"])) == (3, 0, [], True)
    assert "3 unchanged" in scripted("retain", str(notes), *MARA).out
    ran = scripted("compile", *MARA, "--wait")
    assert ran.out == "Compiled: 3 sources, 1 new pages, 1 sections, 0 names without a page.\n"
    assert "3 sources read: 1 pages created, 1 sections written" in ran.err
    assert "- Day 2." in scripted("page", "entity/momofuku", *MARA).out


def test_compile_without_wait_queues_a_pending_job(scripted: Cairn) -> None:
    ran = scripted("compile", *MARA, "--json")
    assert json.loads(ran.out)["status"] == "pending"


def test_each_source_that_cannot_be_stored_is_reported(scripted: Cairn, notes: Path) -> None:
    notes.write_text('no json\n{"kind": "gossip", "ref": "g", "content": "x"}\n')
    ran = scripted("retain", str(notes), *MARA, "--json")
    assert ran.code == 1
    assert [error["path"] for error in json.loads(ran.out)["errors"]] == ["notes.jsonl:1", "gossip g"]
    assert scripted("retain", str(notes.parent / "none"), *MARA).code == 1


def test_retain_queues_no_job_if_automatic_compiling_is_off(scripted: Cairn, notes: Path) -> None:
    assert scripted("tenants", "compile", "acme", "--off").code == 0
    assert json.loads(scripted("retain", str(notes), *MARA, "--json").out)["jobId"] is None


def test_an_unknown_planner_is_named_in_the_error(scripted: Cairn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAIRN_PLANNER", "nowhere:Nobody")
    for command in (["worker"], ["compile", *MARA, "--wait"]):
        ran = scripted(*command)
        assert ran.code == 1
        assert "nowhere:Nobody cannot be used to compile" in ran.err


def test_compile_wait_sums_up_all_jobs_that_it_ran(scripted: Cairn, notes: Path) -> None:
    lines = [{"kind": "daily_note", "ref": f"p-{n}", "content": f"page entity House {n}x{n}\nIt."} for n in range(60)]
    notes.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert scripted("retain", str(notes), *MARA).code == 0
    ran = scripted("compile", *MARA, "--wait")
    assert ran.out == "Compiled: 60 sources, 60 new pages, 60 sections, 0 names without a page.\n"


def test_pages_are_rebuilt_and_sources_are_forgotten(scripted: Cairn, notes: Path) -> None:
    assert scripted("retain", str(notes), *MARA).code == 0
    assert scripted("compile", *MARA, "--wait").code == 0
    assert scripted("append", "entity/momofuku", "- Mine.", *MARA, "--section", "overview").code == 0
    ran = scripted("rebuild", "entity/momofuku", *MARA, "--wait")
    assert ran.out == "Rebuilt 1 pages; 1 of them changed.\n"
    assert scripted("rebuild", "--all", *MARA, "--wait").out == "Rebuilt 1 pages; 0 of them changed.\n"
    assert scripted("rebuild", *MARA).code == 2
    ran = scripted("sources", "forget", "daily_note/day-2", *MARA, "--reason", "Asked for.", "--wait")
    assert ran.out == "Forgot the source (1 version).\nIt was removed from all pages, their history and search.\n"
    shown = scripted("page", "entity/momofuku", *MARA).out
    assert "Day 1." in shown
    assert "Day 2." not in shown
    assert scripted("sources", "forget", "daily_note/none", *MARA).code == 1


def test_earned_names_get_a_page_before_any_sweep(scripted: Cairn, notes: Path) -> None:
    lines = [{"kind": "daily_note", "ref": f"n-{n}", "content": "hold Chef João"} for n in range(3)]
    notes.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert scripted("retain", str(notes), *MARA).code == 0
    assert scripted("compile", *MARA, "--wait").code == 0
    assert "Chef João" in scripted("page", "entity/chef-joao", *MARA).out, "what has earned a page waits for no night"
    assert "earned_names           info      0      No findings.\n" in scripted("lint", *MARA).out
    assert "No mention can be promoted." in scripted("lint", *MARA, "--sweep").out
    ran = json.loads(scripted("lint", *MARA, "--sweep", "--json").out)
    assert ran["jobId"] is None
    assert {check["name"]: check["total"] for check in ran["checks"]}["earned_names"] == 0


def test_lint_fail_on_exits_with_1_for_findings_of_that_severity(scripted: Cairn, notes: Path) -> None:
    notes.write_text(json.dumps({"kind": "daily_note", "ref": "n", "content": "page entity Momofuku\nA place."}))
    assert scripted("retain", str(notes), *MARA).code == 0
    assert scripted("compile", *MARA, "--wait").code == 0
    checks = json.loads(scripted("lint", *MARA, "--json").out)["checks"]
    assert {check["severity"] for check in checks if check["total"]} == {"info"}, "an orphan"
    assert scripted("lint", *MARA).code == 0
    assert scripted("lint", *MARA, "--fail-on", "error").code == 0
    assert scripted("lint", *MARA, "--fail-on", "warning").code == 0
    ran = scripted("lint", *MARA, "--fail-on", "info", "--json")
    assert ran.code == 1
    assert json.loads(ran.out)["checks"] == checks


@pytest.fixture
def no_retry_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the next attempt of a failed job follow at once."""
    monkeypatch.setattr(queue, "RETRY_PAUSE", timedelta())
    monkeypatch.setattr(jobs, "RETRY_PAUSE", 0.01)


def retain(cairn: Cairn, notes: Path, *contents: str, wiki: tuple[str, ...] = MARA) -> None:
    lines = [{"kind": "daily_note", "ref": f"n-{n}", "content": content} for n, content in enumerate(contents)]
    notes.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert cairn("retain", str(notes), *wiki).code == 0


@pytest.mark.usefixtures("no_retry_pause")
def test_compile_wait_retries_a_failed_attempt(scripted: Cairn, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAIRN_PLANNER", "tests.compiler.story:Stumbling")
    retain(scripted, notes, "page entity Momofuku\nFood.")
    ran = scripted("compile", *MARA, "--wait")
    assert (ran.code, ran.out) == (0, "Compiled: 1 sources, 1 new pages, 1 sections, 0 names without a page.\n")
    assert (
        "Attempt 1 failed: Planning 1 source (daily_note/n-0) failed: ValueError: the model is away. The next"
        in ran.err
    )


def test_compile_wait_skips_the_retry_pause_of_an_earlier_failure(
    scripted: Cairn, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "RETRY_PAUSE", 3600)
    monkeypatch.setattr(jobs, "PAUSE", 3600)
    retain(scripted, notes, "page entity Momofuku\nFood.")
    postponed = "UPDATE compile_jobs SET attempt = 1, error = 'x', run_after = now() + interval '1 hour'"
    fetch_value(postponed)
    assert scripted("compile", *MARA, "--wait").code == 0


@pytest.mark.usefixtures("no_retry_pause")
def test_a_job_that_used_up_its_attempts_is_reported_with_its_error(
    scripted: Cairn, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAIRN_SECTION_WRITER", "tests.compiler.story:Mute")
    retain(scripted, notes, "page entity Momofuku\nFood.")
    for command in (["compile"], ["rebuild", "--all"]):
        if command == ["rebuild", "--all"]:
            monkeypatch.setenv("CAIRN_SECTION_WRITER", "tests.compiler.story:Scribe")
            assert scripted("compile", *MARA, "--wait").code == 0
            monkeypatch.setenv("CAIRN_SECTION_WRITER", "tests.compiler.story:Mute")
        ran = scripted(*command, *MARA, "--wait", "--json")
        assert ran.code == 1
        assert (ran.error["code"], ran.error["attempt"]) == ("COMPILE_FAILED", queue.ATTEMPTS_MAX)
        assert "was tried 5 times and failed" in ran.error["message"]
        assert "section overview of the entity “Momofuku” failed: RuntimeError: no words." in ran.error["message"]


def test_compile_wait_does_not_run_jobs_of_other_owners(scripted: Cairn, notes: Path) -> None:
    retain(scripted, notes, "page entity Lisbon\nA city.", wiki=("--tenant", "acme", "--owner", "team"))
    retain(scripted, notes, "page entity Momofuku\nFood.")
    assert scripted("compile", *MARA, "--wait").code == 0
    assert scripted("page", "entity/lisbon", "--tenant", "acme", "--owner", "team").code == 1
    assert fetch_value("SELECT count(*) FROM compile_jobs WHERE status = 'pending'") == 1


def test_compile_wait_reports_earlier_compiles_and_names_without_a_page(scripted: Cairn, notes: Path) -> None:
    retain(scripted, notes, "hold Chef João", "hold Chef João\nhold Ana")
    first = scripted("compile", *MARA, "--wait").out.splitlines()
    assert first[1:] == [
        "2 names without a page. A page needs evidence of 3; a mention counts 1. Closest:",
        "  Chef João (2 of 3): one more source that says something of it.",
        "  Ana (1 of 3): 2 more sources that say something of it.",
    ]
    again = scripted("compile", *MARA, "--wait").out.splitlines()
    assert again[0].startswith("There was no new source to compile. A worker compiled until 20")
    assert again[1:] == first
    report = json.loads(scripted("compile", *MARA, "--wait", "--json").out)
    assert report["held"]["total"] == 2
    assert report["held"]["nearest"][0]["evidence"] == 2
    assert report["lastCompiled"]["metrics"]["sources_read"] == 2


def test_a_search_that_finds_no_pages_shows_mentions_and_sources(scripted: Cairn, notes: Path) -> None:
    retain(scripted, notes, "hold Chef João", "hold Chef João\nhold Ana")
    assert scripted("compile", *MARA, "--wait").code == 0
    lines = scripted("search", "who is Chef Joao?", *MARA).out.splitlines()
    assert lines[:2] == [
        "No pages found.",
        "Name without a page: Chef João (2 of 3): one more source that says something of it.",
    ]
    assert any("hold Chef João" in line for line in lines[2:])
    assert scripted("search", "quetzal type:topic", *MARA).out == "No results.\n"


def test_compile_wait_ends_if_the_budget_is_used_up(scripted: Cairn, notes: Path) -> None:
    retain(scripted, notes, "page entity Momofuku\nFood.")
    fetch_value("UPDATE compile_jobs SET dedupe_key = dedupe_key || '9', run_after = now() + interval '1 hour'")
    ran = scripted("compile", *MARA, "--wait")
    assert ran.code == 0
    assert "The budget is used up. A worker continues at 20" in ran.out


@pytest.mark.parametrize("hours", [-5, 5])
def test_compile_wait_does_not_depend_on_the_clock_of_the_client(
    scripted: Cairn, notes: Path, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    retain(scripted, notes, "page entity Momofuku\nFood.")
    set_clock(monkeypatch, timedelta(hours=hours))
    assert scripted("compile", *MARA, "--wait").out.startswith("Compiled: 1 sources, 1 new pages")


def fetch_value(sql: str) -> Any:
    """Return the value that a statement selects from the database."""

    async def run() -> Any:
        connection = await asyncpg.connect(os.environ["CAIRN_DATABASE_URL"])
        try:
            return await connection.fetchval(sql)
        finally:
            await connection.close()

    return asyncio.run(run())


def test_embeddings_are_enabled_computed_and_dropped(
    scripted: Cairn, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert scripted("retain", str(notes), *MARA).code == 0
    ran = scripted("embeddings", "status", *MARA)
    assert ran.code == 1
    assert "CAIRN_EMBEDDING_URL" in ran.err
    with serving(Model()) as model:
        monkeypatch.setenv("CAIRN_EMBEDDING_URL", model.url)
        assert scripted("embeddings", "enable").code == 1, "the model is not named"
        monkeypatch.setenv("CAIRN_EMBEDDING_MODEL", "tiny")
        monkeypatch.setenv("CAIRN_EMBEDDING_DIMENSIONS", "63")
        assert "CAIRN_EMBEDDING_DIMENSIONS=64" in scripted("embeddings", "enable").err
        monkeypatch.setenv("CAIRN_EMBEDDING_DIMENSIONS", "64")
        assert "The vectors have no index" in scripted("embeddings", "status", *MARA).out
        assert json.loads(scripted("embeddings", "enable", "--json").out)["wikis"] == 1
        assert scripted("compile", *MARA, "--wait").code == 0
        status = json.loads(scripted("embeddings", "status", *MARA, "--json").out)
        assert status["enabled"]
        assert status["embeddedPassages"] == status["passages"] > 0
        assert scripted("embeddings", "disable").code == 0
        status = json.loads(scripted("embeddings", "status", *MARA, "--json").out)
        assert (status["enabled"], status["embeddedPassages"]) == (False, 0)


def test_jobs_are_listed_cancelled_and_retried(acme: Cairn) -> None:
    job = json.loads(acme("compile", *MARA, "--json").out)["id"]
    (listed,) = json.loads(acme("jobs", "list", "--json").out)
    assert (listed["id"], listed["tenant"], listed["owner"], listed["status"]) == (job, "acme", "mara", "pending")
    assert job in acme("jobs", "list", *MARA).out
    assert json.loads(acme("jobs", "cancel", job, *MARA, "--json").out) == {"id": job, "cancelled": True}
    assert "had already finished" in acme("jobs", "cancel", job, *MARA).out
    assert json.loads(acme("jobs", "list", "--status", "pending", "--json").out) == []
    assert [
        listed_job["status"] for listed_job in json.loads(acme("jobs", "list", "--status", "cancelled", "--json").out)
    ] == ["cancelled"]
    assert json.loads(acme("jobs", "retry", job, *MARA, "--json").out) == {"id": job}
    status = json.loads(acme("status", "--json").out)
    assert (status["pendingJobs"], status["runningJobs"], status["failedJobs"]) == (1, 0, 0)
    assert status["bytes"] > 1_000_000
    assert 0 < status["connections"] <= status["maxConnections"]
    assert acme("compile", *MARA, "--wait").code == 0
    refused = acme("jobs", "retry", job, *MARA)
    assert (refused.code, "has succeeded already" in refused.err) == (1, True)
    assert acme("jobs", "list", "--status", "lost").code == 2
    assert "not the id of a job" in acme("jobs", "cancel", "x", *MARA).err
