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
from tests.app.command_line import MARA, RunCommand
from tests.clocks import set_clock
from tests.compiler.models.providers import Provider, serve_provider
from tests.resolvers.embeddings.embedding_server import EmbeddingModel, serve_embeddings


@pytest.fixture
def run_scripted(run_in_acme: RunCommand, monkeypatch: pytest.MonkeyPatch) -> RunCommand:
    """Return a function that runs a command with the scripted planner and section writer."""
    monkeypatch.setenv("CAIRN_PLANNER", "tests.compiler.scripted_compiler:ScriptedPlanner")
    monkeypatch.setenv("CAIRN_SECTION_WRITER", "tests.compiler.scripted_compiler:ScriptedWriter")
    return run_in_acme


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.jsonl"
    lines = [{"kind": "daily_note", "ref": f"day-{n}", "content": f"page entity Momofuku\nDay {n}."} for n in range(3)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_notes_are_retained_once_and_compiled(run_scripted: RunCommand, notes: Path) -> None:
    result = run_scripted("retain", str(notes), *MARA, "--json")
    assert result.code == 0
    retained = json.loads(result.out)
    assert (retained["new"], retained["known"], retained["errors"], bool(retained["jobId"])) == (3, 0, [], True)
    assert "3 unchanged" in run_scripted("retain", str(notes), *MARA).out
    result = run_scripted("compile", *MARA, "--wait")
    assert result.out == "Compiled: 3 sources, 1 new pages, 1 sections, 0 sightings of names without a page.\n"
    assert "3 sources read: 1 pages created, 1 sections written" in result.err
    assert "- Day 2." in run_scripted("page", "entity/momofuku", *MARA).out


def test_compile_wait_says_what_was_left_out_of_the_answers_of_a_model(
    run_in_acme: RunCommand, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_in_acme("retain", str(notes), *MARA)
    with serve_provider(Provider("openai", ["invented"])) as address:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{address}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "key")
        monkeypatch.setenv("CAIRN_MODEL", "openai-chat:cairn-test")
        result = run_in_acme("compile", *MARA, "--wait")
    assert "Compiled: 3 sources, 0 new pages, 0 sections" in result.out
    assert "Left out of the model's answers: 1 no_sections, 1 no_sources, 1 unknown_source.\n" in result.out


def test_compile_without_wait_queues_a_pending_job(run_scripted: RunCommand) -> None:
    result = run_scripted("compile", *MARA, "--json")
    assert json.loads(result.out)["status"] == "pending"


def test_each_source_that_cannot_be_stored_is_reported(run_scripted: RunCommand, notes: Path) -> None:
    notes.write_text('no json\n{"kind": "gossip", "ref": "g", "content": "x"}\n')
    result = run_scripted("retain", str(notes), *MARA, "--json")
    assert result.code == 1
    assert [error["path"] for error in json.loads(result.out)["errors"]] == ["notes.jsonl:1", "gossip g"]
    assert run_scripted("retain", str(notes.parent / "none"), *MARA).code == 1


def test_retain_queues_no_job_if_automatic_compiling_is_off(run_scripted: RunCommand, notes: Path) -> None:
    assert run_scripted("tenants", "compile", "acme", "--off").code == 0
    assert json.loads(run_scripted("retain", str(notes), *MARA, "--json").out)["jobId"] is None
    on = json.loads(run_scripted("tenants", "compile", "acme", "--json").out)
    assert (on["slug"], on["automatic"]) == ("acme", True)


def test_an_unknown_planner_is_named_in_the_error(run_scripted: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAIRN_PLANNER", "nowhere:Nobody")
    for command in (["worker"], ["compile", *MARA, "--wait"]):
        result = run_scripted(*command)
        assert result.code == 1
        assert "nowhere:Nobody cannot be used to compile" in result.err


def test_compile_wait_sums_up_all_jobs_that_it_ran(run_scripted: RunCommand, notes: Path) -> None:
    lines = [{"kind": "daily_note", "ref": f"p-{n}", "content": f"page entity House {n}x{n}\nIt."} for n in range(60)]
    notes.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert run_scripted("retain", str(notes), *MARA).code == 0
    result = run_scripted("compile", *MARA, "--wait")
    assert result.out == "Compiled: 60 sources, 60 new pages, 60 sections, 0 sightings of names without a page.\n"


def test_pages_are_rebuilt_and_sources_are_forgotten(run_scripted: RunCommand, notes: Path) -> None:
    assert run_scripted("retain", str(notes), *MARA).code == 0
    assert run_scripted("compile", *MARA, "--wait").code == 0
    assert run_scripted("append", "entity/momofuku", "- Mine.", *MARA, "--section", "overview").code == 0
    result = run_scripted("rebuild", "entity/momofuku", *MARA, "--wait")
    assert result.out == "Rebuilt 1 pages; 1 of them changed.\n"
    assert run_scripted("rebuild", "--all", *MARA, "--wait").out == "Rebuilt 1 pages; 0 of them changed.\n"
    assert run_scripted("rebuild", *MARA).code == 2
    result = run_scripted("sources", "forget", "daily_note/day-2", *MARA, "--reason", "Asked for.", "--wait")
    assert result.out == "Forgot the source (1 version).\nIt was removed from all pages, their history and search.\n"
    shown = run_scripted("page", "entity/momofuku", *MARA).out
    assert "Day 1." in shown
    assert "Day 2." not in shown
    assert run_scripted("sources", "forget", "daily_note/none", *MARA).code == 1


def test_earned_names_get_a_page_before_any_sweep(run_scripted: RunCommand, notes: Path) -> None:
    lines = [{"kind": "daily_note", "ref": f"n-{n}", "content": "hold Chef João"} for n in range(3)]
    notes.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert run_scripted("retain", str(notes), *MARA).code == 0
    assert run_scripted("compile", *MARA, "--wait").code == 0
    assert "Chef João" in run_scripted("page", "entity/chef-joao", *MARA).out, (
        "what has earned a page waits for no night"
    )
    assert "earned_names           info      0      No findings.\n" in run_scripted("lint", *MARA).out
    assert "No mention can be promoted." in run_scripted("lint", *MARA, "--sweep").out
    result = json.loads(run_scripted("lint", *MARA, "--sweep", "--json").out)
    assert result["jobId"] is None
    assert {check["name"]: check["total"] for check in result["checks"]}["earned_names"] == 0


def test_lint_fail_on_exits_with_1_for_findings_of_that_severity(run_scripted: RunCommand, notes: Path) -> None:
    notes.write_text(json.dumps({"kind": "daily_note", "ref": "n", "content": "page entity Momofuku\nA place."}))
    assert run_scripted("retain", str(notes), *MARA).code == 0
    assert run_scripted("compile", *MARA, "--wait").code == 0
    checks = json.loads(run_scripted("lint", *MARA, "--json").out)["checks"]
    assert {check["severity"] for check in checks if check["total"]} == {"info"}, "an orphan"
    assert run_scripted("lint", *MARA).code == 0
    assert run_scripted("lint", *MARA, "--fail-on", "error").code == 0
    assert run_scripted("lint", *MARA, "--fail-on", "warning").code == 0
    result = run_scripted("lint", *MARA, "--fail-on", "info", "--json")
    assert result.code == 1
    assert json.loads(result.out)["checks"] == checks


@pytest.fixture
def no_retry_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the next attempt of a failed job follow at once."""
    monkeypatch.setattr(queue, "RETRY_PAUSE", timedelta())
    monkeypatch.setattr(jobs, "RETRY_PAUSE", 0.01)


def retain(run_cairn: RunCommand, notes: Path, *contents: str, wiki: tuple[str, ...] = MARA) -> None:
    lines = [{"kind": "daily_note", "ref": f"n-{n}", "content": content} for n, content in enumerate(contents)]
    notes.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert run_cairn("retain", str(notes), *wiki).code == 0


@pytest.mark.usefixtures("no_retry_pause")
def test_compile_wait_retries_a_failed_attempt(
    run_scripted: RunCommand, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAIRN_PLANNER", "tests.compiler.scripted_compiler:PlannerFailingOnce")
    retain(run_scripted, notes, "page entity Momofuku\nFood.")
    result = run_scripted("compile", *MARA, "--wait")
    assert (result.code, result.out) == (
        0,
        "Compiled: 1 sources, 1 new pages, 1 sections, 0 sightings of names without a page.\n",
    )
    assert (
        "Attempt 1 failed: Planning 1 source (daily_note/n-0) failed: ValueError: the model is away. The next"
        in result.err
    )


def test_compile_wait_skips_the_retry_pause_of_an_earlier_failure(
    run_scripted: RunCommand, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "RETRY_PAUSE", 3600)
    monkeypatch.setattr(jobs, "PAUSE", 3600)
    retain(run_scripted, notes, "page entity Momofuku\nFood.")
    postponed = "UPDATE compile_jobs SET attempt = 1, error = 'x', run_after = now() + interval '1 hour'"
    fetch_value(postponed)
    assert run_scripted("compile", *MARA, "--wait").code == 0


@pytest.mark.usefixtures("no_retry_pause")
def test_a_job_that_used_up_its_attempts_is_reported_with_its_error(
    run_scripted: RunCommand, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAIRN_SECTION_WRITER", "tests.compiler.scripted_compiler:FailingWriter")
    retain(run_scripted, notes, "page entity Momofuku\nFood.")
    for command in (["compile"], ["rebuild", "--all"]):
        if command == ["rebuild", "--all"]:
            monkeypatch.setenv("CAIRN_SECTION_WRITER", "tests.compiler.scripted_compiler:ScriptedWriter")
            assert run_scripted("compile", *MARA, "--wait").code == 0
            monkeypatch.setenv("CAIRN_SECTION_WRITER", "tests.compiler.scripted_compiler:FailingWriter")
        result = run_scripted(*command, *MARA, "--wait", "--json")
        assert result.code == 1
        assert (result.error["code"], result.error["attempt"]) == ("COMPILE_FAILED", queue.ATTEMPTS_MAX)
        assert "was tried 5 times and failed" in result.error["message"]
        assert "section overview of the entity “Momofuku” failed: RuntimeError: no words." in result.error["message"]


def test_compile_wait_does_not_run_jobs_of_other_owners(run_scripted: RunCommand, notes: Path) -> None:
    retain(run_scripted, notes, "page entity Lisbon\nA city.", wiki=("--tenant", "acme", "--owner", "team"))
    retain(run_scripted, notes, "page entity Momofuku\nFood.")
    assert run_scripted("compile", *MARA, "--wait").code == 0
    assert run_scripted("page", "entity/lisbon", "--tenant", "acme", "--owner", "team").code == 1
    assert fetch_value("SELECT count(*) FROM compile_jobs WHERE status = 'pending'") == 1


def test_compile_wait_reports_earlier_compiles_and_names_without_a_page(run_scripted: RunCommand, notes: Path) -> None:
    retain(run_scripted, notes, "hold Chef João", "hold Chef João\nhold Ana")
    first = run_scripted("compile", *MARA, "--wait").out.splitlines()
    assert first == [
        "Compiled: 2 sources, 0 new pages, 0 sections, 3 sightings of names without a page.",
        "2 names without a page. A page needs evidence of 3; a mention counts 1. Closest:",
        "  Chef João (2 of 3): one more source that says something of it.",
        "  Ana (1 of 3): 2 more sources that say something of it.",
    ]
    again = run_scripted("compile", *MARA, "--wait").out.splitlines()
    assert again[0].startswith("There was no new source to compile. A worker compiled until 20")
    assert again[1:] == first
    report = json.loads(run_scripted("compile", *MARA, "--wait", "--json").out)
    assert report["held"]["total"] == 2
    assert report["held"]["nearest"][0]["evidence"] == 2
    assert report["lastCompiled"]["metrics"]["sources_read"] == 2


def test_a_search_that_finds_no_pages_shows_mentions_and_sources(run_scripted: RunCommand, notes: Path) -> None:
    retain(run_scripted, notes, "hold Chef João", "hold Chef João\nhold Ana")
    assert run_scripted("compile", *MARA, "--wait").code == 0
    lines = run_scripted("search", "who is Chef Joao?", *MARA).out.splitlines()
    assert lines[:2] == [
        "No pages found.",
        "Name without a page: Chef João (2 of 3): one more source that says something of it.",
    ]
    assert any("hold Chef João" in line for line in lines[2:])
    assert run_scripted("search", "quetzal type:topic", *MARA).out == "No results.\n"


def test_compile_wait_ends_if_the_budget_is_used_up(run_scripted: RunCommand, notes: Path) -> None:
    retain(run_scripted, notes, "page entity Momofuku\nFood.")
    fetch_value("UPDATE compile_jobs SET dedupe_key = dedupe_key || '9', run_after = now() + interval '1 hour'")
    result = run_scripted("compile", *MARA, "--wait")
    assert result.code == 0
    assert "The budget is used up. A worker continues at 20" in result.out


@pytest.mark.parametrize("hours", [-5, 5])
def test_compile_wait_does_not_depend_on_the_clock_of_the_client(
    run_scripted: RunCommand, notes: Path, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    retain(run_scripted, notes, "page entity Momofuku\nFood.")
    set_clock(monkeypatch, timedelta(hours=hours))
    assert run_scripted("compile", *MARA, "--wait").out.startswith("Compiled: 1 sources, 1 new pages")


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
    run_scripted: RunCommand, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_scripted("retain", str(notes), *MARA).code == 0
    result = run_scripted("embeddings", "status", *MARA)
    assert result.code == 1
    assert "CAIRN_EMBEDDING_URL" in result.err
    with serve_embeddings(EmbeddingModel()) as model:
        monkeypatch.setenv("CAIRN_EMBEDDING_URL", model.url)
        assert run_scripted("embeddings", "enable").code == 1, "the model is not named"
        monkeypatch.setenv("CAIRN_EMBEDDING_MODEL", "tiny")
        monkeypatch.setenv("CAIRN_EMBEDDING_DIMENSIONS", "63")
        assert "CAIRN_EMBEDDING_DIMENSIONS=64" in run_scripted("embeddings", "enable").err
        monkeypatch.setenv("CAIRN_EMBEDDING_DIMENSIONS", "64")
        assert "The vectors have no index" in run_scripted("embeddings", "status", *MARA).out
        assert json.loads(run_scripted("embeddings", "enable", "--json").out)["wikis"] == 1
        assert run_scripted("compile", *MARA, "--wait").code == 0
        status = json.loads(run_scripted("embeddings", "status", *MARA, "--json").out)
        assert status["enabled"]
        assert status["embeddedPassages"] == status["passages"] > 0
        assert run_scripted("embeddings", "disable").code == 0
        status = json.loads(run_scripted("embeddings", "status", *MARA, "--json").out)
        assert (status["enabled"], status["embeddedPassages"]) == (False, 0)


def test_jobs_are_listed_cancelled_and_retried(run_in_acme: RunCommand) -> None:
    job = json.loads(run_in_acme("compile", *MARA, "--json").out)["id"]
    (listed,) = json.loads(run_in_acme("jobs", "list", "--json").out)
    assert (listed["id"], listed["tenant"], listed["owner"], listed["status"]) == (job, "acme", "mara", "pending")
    assert job in run_in_acme("jobs", "list", *MARA).out
    assert json.loads(run_in_acme("jobs", "cancel", job, *MARA, "--json").out) == {"id": job, "cancelled": True}
    assert "had already finished" in run_in_acme("jobs", "cancel", job, *MARA).out
    assert json.loads(run_in_acme("jobs", "list", "--status", "pending", "--json").out) == []
    assert [
        listed_job["status"]
        for listed_job in json.loads(run_in_acme("jobs", "list", "--status", "cancelled", "--json").out)
    ] == ["cancelled"]
    assert json.loads(run_in_acme("jobs", "retry", job, *MARA, "--json").out) == {"id": job}
    status = json.loads(run_in_acme("status", "--json").out)
    assert (status["pendingJobs"], status["runningJobs"], status["failedJobs"]) == (1, 0, 0)
    assert status["bytes"] > 1_000_000
    assert 0 < status["connections"] <= status["maxConnections"]
    assert run_in_acme("compile", *MARA, "--wait").code == 0
    refused = run_in_acme("jobs", "retry", job, *MARA)
    assert (refused.code, "has succeeded already" in refused.err) == (1, True)
    assert run_in_acme("jobs", "list", "--status", "lost").code == 2
    assert "not the id of a job" in run_in_acme("jobs", "cancel", "x", *MARA).err
