"""Retaining evidence, requesting a compile and reading the pages from the terminal."""

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
def telling(acme: Cairn, monkeypatch: pytest.MonkeyPatch) -> Cairn:
    """Use the scripted planner of the stories."""
    monkeypatch.setenv("CAIRN_PLANNER", "tests.compiler.story:Story")
    monkeypatch.setenv("CAIRN_SECTION_WRITER", "tests.compiler.story:Scribe")
    return acme


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.jsonl"
    lines = [{"kind": "daily_note", "ref": f"day-{n}", "content": f"page entity Momofuku\nDay {n}."} for n in range(3)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_notes_are_retained_once_and_compiled_here(telling: Cairn, notes: Path) -> None:
    ran = telling("retain", str(notes), *MARA, "--json")
    assert ran.code == 0
    done = json.loads(ran.out)
    assert (done["new"], done["known"], done["errors"], bool(done["jobId"])) == (3, 0, [], True)
    assert "3 unchanged" in telling("retain", str(notes), *MARA).out
    ran = telling("compile", *MARA, "--wait")
    assert ran.out == "Compiled: 3 sources, 1 new pages, 1 sections, 0 names without a page.\n"
    assert "3 sources read: 1 pages created, 1 sections written" in ran.err
    assert "- Day 2." in telling("page", "entity/momofuku", *MARA).out


def test_a_compile_is_only_asked_for_without_wait(telling: Cairn) -> None:
    ran = telling("compile", *MARA, "--json")
    assert json.loads(ran.out)["status"] == "pending"


def test_sources_that_cannot_be_stored_are_reported_line_by_line(telling: Cairn, notes: Path) -> None:
    notes.write_text('no json\n{"kind": "gossip", "ref": "g", "content": "x"}\n')
    ran = telling("retain", str(notes), *MARA, "--json")
    assert ran.code == 1
    assert [error["path"] for error in json.loads(ran.out)["errors"]] == ["notes.jsonl:1", "gossip g"]
    assert telling("retain", str(notes.parent / "none"), *MARA).code == 1


def test_a_tenant_may_compile_only_when_asked(telling: Cairn, notes: Path) -> None:
    assert telling("tenants", "compile", "acme", "--off").code == 0
    assert json.loads(telling("retain", str(notes), *MARA, "--json").out)["jobId"] is None


def test_a_planner_that_is_not_there_is_named(telling: Cairn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAIRN_PLANNER", "nowhere:Nobody")
    for command in (["worker"], ["compile", *MARA, "--wait"]):
        ran = telling(*command)
        assert ran.code == 1
        assert "nowhere:Nobody cannot be used to compile" in ran.err


def test_waiting_says_what_all_jobs_have_done_that_went_on_behind_it(telling: Cairn, notes: Path) -> None:
    lines = [{"kind": "daily_note", "ref": f"p-{n}", "content": f"page entity House {n}x{n}\nIt."} for n in range(60)]
    notes.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert telling("retain", str(notes), *MARA).code == 0
    ran = telling("compile", *MARA, "--wait")
    assert ran.out == "Compiled: 60 sources, 60 new pages, 60 sections, 0 names without a page.\n"


def test_a_source_is_forgotten_and_a_page_built_again_from_the_terminal(telling: Cairn, notes: Path) -> None:
    assert telling("retain", str(notes), *MARA).code == 0
    assert telling("compile", *MARA, "--wait").code == 0
    assert telling("append", "entity/momofuku", "- Mine.", *MARA, "--section", "overview").code == 0
    ran = telling("rebuild", "entity/momofuku", *MARA, "--wait")
    assert ran.out == "Rebuilt 1 pages; 1 of them changed.\n"
    assert telling("rebuild", "--all", *MARA, "--wait").out == "Rebuilt 1 pages; 0 of them changed.\n"
    assert telling("rebuild", *MARA).code == 2
    ran = telling("sources", "forget", "daily_note/day-2", *MARA, "--reason", "Asked for.", "--wait")
    assert ran.out == "Forgot the source (1 version).\nIt was removed from all pages, their history and search.\n"
    shown = telling("page", "entity/momofuku", *MARA).out
    assert "Day 1." in shown
    assert "Day 2." not in shown
    assert telling("sources", "forget", "daily_note/none", *MARA).code == 1


def test_a_wiki_is_linted_and_swept(telling: Cairn, notes: Path) -> None:
    lines = [{"kind": "daily_note", "ref": f"n-{n}", "content": "hold Chef João"} for n in range(3)]
    notes.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert telling("retain", str(notes), *MARA).code == 0
    assert telling("compile", *MARA, "--wait").code == 0
    assert "Chef João" in telling("page", "entity/chef-joao", *MARA).out, "what has earned a page waits for no night"
    assert "earned_names           info      0      No findings.\n" in telling("lint", *MARA).out
    assert "No mention can be promoted." in telling("lint", *MARA, "--sweep").out
    ran = json.loads(telling("lint", *MARA, "--sweep", "--json").out)
    assert ran["jobId"] is None
    assert {one["name"]: one["total"] for one in ran["checks"]}["earned_names"] == 0


def test_lint_fails_on_findings_of_the_severity_that_is_asked_for(telling: Cairn, notes: Path) -> None:
    notes.write_text(json.dumps({"kind": "daily_note", "ref": "n", "content": "page entity Momofuku\nA place."}))
    assert telling("retain", str(notes), *MARA).code == 0
    assert telling("compile", *MARA, "--wait").code == 0
    checks = json.loads(telling("lint", *MARA, "--json").out)["checks"]
    assert {one["severity"] for one in checks if one["total"]} == {"info"}, "an orphan"
    assert telling("lint", *MARA).code == 0
    assert telling("lint", *MARA, "--fail-on", "error").code == 0
    assert telling("lint", *MARA, "--fail-on", "warning").code == 0
    ran = telling("lint", *MARA, "--fail-on", "info", "--json")
    assert ran.code == 1
    assert json.loads(ran.out)["checks"] == checks


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next attempt follows at once."""
    monkeypatch.setattr(queue, "RETRY_PAUSE", timedelta())
    monkeypatch.setattr(jobs, "RETRY_PAUSE", 0.01)


def retained(cairn: Cairn, notes: Path, *contents: str, wiki: tuple[str, ...] = MARA) -> None:
    lines = [{"kind": "daily_note", "ref": f"n-{n}", "content": content} for n, content in enumerate(contents)]
    notes.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert cairn("retain", str(notes), *wiki).code == 0


@pytest.mark.usefixtures("impatient")
def test_waiting_tries_a_failed_attempt_again(telling: Cairn, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAIRN_PLANNER", "tests.compiler.story:Stumbling")
    retained(telling, notes, "page entity Momofuku\nFood.")
    ran = telling("compile", *MARA, "--wait")
    assert (ran.code, ran.out) == (0, "Compiled: 1 sources, 1 new pages, 1 sections, 0 names without a page.\n")
    assert (
        "Attempt 1 failed: Planning 1 source (daily_note/n-0) failed: ValueError: the model is away. The next"
        in ran.err
    )


def test_waiting_does_not_wait_for_the_pause_of_an_attempt_that_failed_before(
    telling: Cairn, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "RETRY_PAUSE", 3600)
    monkeypatch.setattr(jobs, "PAUSE", 3600)
    retained(telling, notes, "page entity Momofuku\nFood.")
    postponed = "UPDATE compile_jobs SET attempt = 1, error = 'x', run_after = now() + interval '1 hour'"
    in_database(postponed)
    assert telling("compile", *MARA, "--wait").code == 0


@pytest.mark.usefixtures("impatient")
def test_a_job_that_is_given_up_is_an_error_that_says_why(
    telling: Cairn, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAIRN_SECTION_WRITER", "tests.compiler.story:Mute")
    retained(telling, notes, "page entity Momofuku\nFood.")
    for command in (["compile"], ["rebuild", "--all"]):
        if command == ["rebuild", "--all"]:
            monkeypatch.setenv("CAIRN_SECTION_WRITER", "tests.compiler.story:Scribe")
            assert telling("compile", *MARA, "--wait").code == 0
            monkeypatch.setenv("CAIRN_SECTION_WRITER", "tests.compiler.story:Mute")
        ran = telling(*command, *MARA, "--wait", "--json")
        assert ran.code == 1
        assert (ran.error["code"], ran.error["attempt"]) == ("COMPILE_FAILED", queue.ATTEMPTS_MAX)
        assert "was tried 5 times and failed" in ran.error["message"]
        assert "section overview of the entity “Momofuku” failed: RuntimeError: no words." in ran.error["message"]


def test_waiting_leaves_the_jobs_of_other_owners_alone(telling: Cairn, notes: Path) -> None:
    retained(telling, notes, "page entity Lisbon\nA city.", wiki=("--tenant", "acme", "--owner", "team"))
    retained(telling, notes, "page entity Momofuku\nFood.")
    assert telling("compile", *MARA, "--wait").code == 0
    assert telling("page", "entity/lisbon", "--tenant", "acme", "--owner", "team").code == 1
    assert in_database("SELECT count(*) FROM compile_jobs WHERE status = 'pending'") == 1


def test_waiting_tells_what_a_worker_did_before_and_what_would_make_a_page(telling: Cairn, notes: Path) -> None:
    retained(telling, notes, "hold Chef João", "hold Chef João\nhold Ana")
    first = telling("compile", *MARA, "--wait").out.splitlines()
    assert first[1:] == [
        "2 names without a page. A page needs evidence of 3; a mention counts 1. Closest:",
        "  Chef João (2 of 3): one more source that says something of it.",
        "  Ana (1 of 3): 2 more sources that say something of it.",
    ]
    again = telling("compile", *MARA, "--wait").out.splitlines()
    assert again[0].startswith("There was no new source to compile. A worker compiled until 20")
    assert again[1:] == first
    told = json.loads(telling("compile", *MARA, "--wait", "--json").out)
    assert told["held"]["total"] == 2
    assert told["held"]["nearest"][0]["evidence"] == 2
    assert told["lastCompiled"]["metrics"]["sources_read"] == 2


def test_a_search_without_pages_offers_mentions_and_evidence(telling: Cairn, notes: Path) -> None:
    retained(telling, notes, "hold Chef João", "hold Chef João\nhold Ana")
    assert telling("compile", *MARA, "--wait").code == 0
    lines = telling("search", "who is Chef Joao?", *MARA).out.splitlines()
    assert lines[:2] == [
        "No pages found.",
        "Name without a page: Chef João (2 of 3): one more source that says something of it.",
    ]
    assert any("hold Chef João" in line for line in lines[2:])
    assert telling("search", "quetzal type:topic", *MARA).out == "No results.\n"


def test_waiting_ends_where_a_budget_puts_the_rest_off(telling: Cairn, notes: Path) -> None:
    retained(telling, notes, "page entity Momofuku\nFood.")
    in_database("UPDATE compile_jobs SET dedupe_key = dedupe_key || '9', run_after = now() + interval '1 hour'")
    ran = telling("compile", *MARA, "--wait")
    assert ran.code == 0
    assert "The budget is used up. A worker continues at 20" in ran.out


@pytest.mark.parametrize("hours", [-5, 5])
def test_waiting_compiles_at_once_however_wrong_the_clock_of_the_terminal_is(
    telling: Cairn, notes: Path, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    retained(telling, notes, "page entity Momofuku\nFood.")
    set_clock(monkeypatch, timedelta(hours=hours))
    assert telling("compile", *MARA, "--wait").out.startswith("Compiled: 1 sources, 1 new pages")


def in_database(sql: str) -> Any:
    """The value of a statement in the database of the tests."""

    async def run() -> Any:
        connection = await asyncpg.connect(os.environ["CAIRN_DATABASE_URL"])
        try:
            return await connection.fetchval(sql)
        finally:
            await connection.close()

    return asyncio.run(run())


def test_vectors_are_enabled_made_and_dropped(telling: Cairn, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert telling("retain", str(notes), *MARA).code == 0
    ran = telling("embeddings", "status", *MARA)
    assert ran.code == 1
    assert "CAIRN_EMBEDDING_URL" in ran.err
    with serving(Model()) as model:
        monkeypatch.setenv("CAIRN_EMBEDDING_URL", model.url)
        assert telling("embeddings", "enable").code == 1, "the model is not named"
        monkeypatch.setenv("CAIRN_EMBEDDING_MODEL", "tiny")
        monkeypatch.setenv("CAIRN_EMBEDDING_DIMENSIONS", "63")
        assert "CAIRN_EMBEDDING_DIMENSIONS=64" in telling("embeddings", "enable").err
        monkeypatch.setenv("CAIRN_EMBEDDING_DIMENSIONS", "64")
        assert "The vectors have no index" in telling("embeddings", "status", *MARA).out
        assert json.loads(telling("embeddings", "enable", "--json").out)["wikis"] == 1
        assert telling("compile", *MARA, "--wait").code == 0
        known = json.loads(telling("embeddings", "status", *MARA, "--json").out)
        assert known["enabled"]
        assert known["embeddedPassages"] == known["passages"] > 0
        assert telling("embeddings", "disable").code == 0
        known = json.loads(telling("embeddings", "status", *MARA, "--json").out)
        assert (known["enabled"], known["embeddedPassages"]) == (False, 0)


def test_jobs_are_listed_cancelled_and_retried(acme: Cairn) -> None:
    job = json.loads(acme("compile", *MARA, "--json").out)["id"]
    (listed,) = json.loads(acme("jobs", "list", "--json").out)
    assert (listed["id"], listed["tenant"], listed["owner"], listed["status"]) == (job, "acme", "mara", "pending")
    assert job in acme("jobs", "list", *MARA).out
    assert json.loads(acme("jobs", "cancel", job, *MARA, "--json").out) == {"id": job, "cancelled": True}
    assert "had already finished" in acme("jobs", "cancel", job, *MARA).out
    assert json.loads(acme("jobs", "list", "--status", "pending", "--json").out) == []
    assert [one["status"] for one in json.loads(acme("jobs", "list", "--status", "cancelled", "--json").out)] == [
        "cancelled"
    ]
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
