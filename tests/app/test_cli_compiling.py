"""Evidence in, a compile asked for, pages out: from the terminal."""

import json
from pathlib import Path

import pytest

from tests.app.test_cli import MARA, Cairn, acme, cairn

__all__ = ["acme", "cairn"]


@pytest.fixture
def telling(acme: Cairn, monkeypatch: pytest.MonkeyPatch) -> Cairn:
    """With the planner of the stories."""
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
    assert "3 known already" in telling("retain", str(notes), *MARA).out
    ran = telling("compile", *MARA, "--wait")
    assert ran.out == "Compiled: 3 sources, 1 new pages, 1 sections, 0 names held.\n"
    assert "3 sources read: 1 pages made, 1 sections written" in ran.err
    assert "- Day 2." in telling("page", "entity/momofuku", *MARA).out


def test_a_compile_is_only_asked_for_without_wait(telling: Cairn) -> None:
    ran = telling("compile", *MARA, "--json")
    assert json.loads(ran.out)["status"] == "pending"


def test_what_cannot_be_kept_is_said_line_by_line(telling: Cairn, notes: Path) -> None:
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
    assert ran.out == "Compiled: 60 sources, 60 new pages, 60 sections, 0 names held.\n"


def test_a_source_is_forgotten_and_a_page_built_again_from_the_terminal(telling: Cairn, notes: Path) -> None:
    assert telling("retain", str(notes), *MARA).code == 0
    assert telling("compile", *MARA, "--wait").code == 0
    assert telling("append", "entity/momofuku", "- Mine.", *MARA, "--section", "overview").code == 0
    ran = telling("rebuild", "entity/momofuku", *MARA, "--wait")
    assert ran.out == "Built again: 1 pages, 1 of them changed.\n"
    assert telling("rebuild", "--all", *MARA, "--wait").out == "Built again: 1 pages, 0 of them changed.\n"
    assert telling("rebuild", *MARA).code == 2
    ran = telling("sources", "forget", "daily_note/day-2", *MARA, "--reason", "Asked for.", "--wait")
    assert ran.out == "Forgotten: 1 version.\nIt is out of all pages, their history and search.\n"
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
    assert "earned_names           info      0\n" in telling("lint", *MARA).out
    assert "No name has earned a page." in telling("lint", *MARA, "--sweep").out
    ran = json.loads(telling("lint", *MARA, "--sweep", "--json").out)
    assert ran["jobId"] is None
    assert {one["name"]: one["total"] for one in ran["checks"]}["earned_names"] == 0
