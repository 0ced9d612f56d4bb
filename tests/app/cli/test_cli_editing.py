"""Commands that edit pages, show their earlier versions and decide proposals."""

import io
import json
from pathlib import Path

import pytest

from tests.app.command_line import RunCommand

MARA = ("--tenant", "acme", "--owner", "mara")
PAGES = [
    {"title": "Austin", "type": "topic", "body": "Hot.\n\n## Food\n\n- tacos\n    - brisket"},
    {"title": "ATX", "type": "topic", "body": "Bats."},
    {"title": "Trip", "type": "entity", "body": "To [[Austin]]."},
]


@pytest.fixture
def run_in_acme(run_cairn: RunCommand, monkeypatch: pytest.MonkeyPatch, dsn: str, tmp_path: Path) -> RunCommand:
    """Return a function that runs a command on mara's wiki, in this process."""
    monkeypatch.setenv("CAIRN_DATABASE_URL", dsn)
    notes = tmp_path / "pages.jsonl"
    notes.write_text("\n".join(map(json.dumps, PAGES)))
    assert run_cairn("import", str(notes), *MARA, "--create").code == 0
    return run_cairn


def body(run_in_acme: RunCommand, name: str) -> str:
    return str(json.loads(run_in_acme("page", name, *MARA, "--json").out)["bodyMd"])


def test_a_page_is_edited_and_appended_to(run_in_acme: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run_in_acme("edit", "topic/austin", "- brisket\n", "- ribs\n", *MARA)
    assert result.out == "topic/austin is now at version 2. Edited line 6; match: lines.\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"- pie")))
    assert run_in_acme("append", "topic/austin", "-", "--section", "food", "--next-line", *MARA).code == 0
    assert body(run_in_acme, "topic/austin") == "Hot.\n\n## Food\n\n- tacos\n    - ribs\n- pie"
    assert json.loads(run_in_acme("edit", "topic/austin", "pie", "cake", *MARA, "--json").out)["matchedBy"] == "exact"


def test_an_edit_reads_one_of_its_texts_from_stdin(run_in_acme: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"- ribs")))
    assert run_in_acme("edit", "topic/austin", "- brisket", "-", *MARA).code == 0
    assert "- ribs" in body(run_in_acme, "topic/austin")
    both = run_in_acme("edit", "topic/austin", "-", "-", *MARA, "--json")
    assert (both.code, both.error["code"]) == (2, "USAGE")


def test_a_list_item_is_superseded(run_in_acme: RunCommand) -> None:
    assert run_in_acme("wiki", "supersede", "topic/austin", "- tacos", "- burritos", *MARA).code == 0
    assert "- burritos" in body(run_in_acme, "topic/austin")


def test_a_page_is_created(run_in_acme: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    created = run_in_acme(
        "create", "entity", "Zilker Park", "- in [[Austin]]", "--tag", "park", "--tag", "city", "--related", "atx",
        "--summary", "Begun", *MARA,
    )  # fmt: skip
    assert created.out == "entity/zilker-park is now at version 1.\n"
    page = json.loads(run_in_acme("page", "entity/zilker-park", *MARA, "--json").out)
    assert (page["title"], page["bodyMd"], page["tags"]) == ("Zilker Park", "- in [[Austin]]", ["park", "city"])
    assert "Begun" in run_in_acme("history", "entity/zilker-park", *MARA).out
    assert "entity/zilker-park" in run_in_acme("page", "topic/atx", *MARA).out
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"From a pipe.")))
    again = json.loads(run_in_acme("create", "Entity", "Zilker Park", "-", *MARA, "--json").out)
    assert (again["page"], again["version"]) == ("entity/zilker-park-2", 1)
    assert body(run_in_acme, "entity/zilker-park-2") == "From a pipe."
    assert run_in_acme("create", "decision", "Tacos", *MARA).code == 0
    assert "## Rationale" in body(run_in_acme, "decision/tacos")


def test_an_invalid_page_is_refused_with_a_reason(run_in_acme: RunCommand) -> None:
    assert "Invalid value for 'TYPE': give one of entity, topic," in run_in_acme("create", "city", "Austin", *MARA).err
    taken = run_in_acme("create", "topic", "Austin", "Text.", "--slug", "austin", *MARA)
    assert (taken.code, taken.err) == (1, 'cairn: The slug "austin" belongs to the topic "Austin" already.\n')
    assert run_in_acme("create", "topic", "!!!", *MARA, "--json").error["code"] == "BAD_USER_INPUT"
    assert "Did you mean 'create'? Try: cairn --help" in run_in_acme("creat").err


def test_a_failed_edit_is_reported_with_its_error_code(run_in_acme: RunCommand) -> None:
    message = run_in_acme("edit", "topic/austin", "- takos", "x", *MARA).err
    assert message.startswith("cairn: The old text was not found. The text nearest to it begins at line 5.")
    assert "\nTried: exact, lines, whitespace, indentation. The nearest text is at line 5:\n\n- tacos\n" in message
    failed = run_in_acme("edit", "topic/austin", "nowhere", "x", *MARA, "--json").error
    assert (failed["code"], failed.keys() >= {"passesTried", "nearest"}) == ("EDIT_FAILED", True)
    assert "is there 3 times, in lines 1, 5, 6. " in run_in_acme("edit", "topic/austin", "t", "x", *MARA).err
    assert "is there 2 times, in line 3. " in run_in_acme("edit", "topic/austin", "#", "x", *MARA).err
    ambiguous = run_in_acme("edit", "topic/austin", "t", "x", *MARA, "--json").error
    assert (ambiguous["code"], ambiguous.keys() >= {"count", "lines"}) == ("EDIT_AMBIGUOUS", True)
    assert run_in_acme("edit", "topic/austin", "Hot", "x", "--expect", "9", *MARA, "--json").error["code"] == "CONFLICT"
    assert run_in_acme("edit", "topic/none", "a", "b", *MARA, "--json").error["code"] == "NOT_FOUND"
    assert run_in_acme("rename", "topic/austin", *MARA).code == 2


def test_versions_are_listed_compared_and_restored(run_in_acme: RunCommand) -> None:
    run_in_acme("edit", "topic/austin", "Hot.", "Very hot.", "--summary", "Warmer", *MARA)
    listed = run_in_acme("history", "topic/austin", "--limit", "1", *MARA).out
    assert "Warmer" in listed
    cursor = listed.split("--before ")[1].strip()
    older = json.loads(run_in_acme("history", "topic/austin", "--before", cursor, *MARA, "--json").out)
    assert [revision["version"] for revision in older["nodes"]] == [1]
    assert "-Hot.\n+Very hot.\n" in run_in_acme("diff", "topic/austin", "1", "2", *MARA).out
    assert json.loads(run_in_acme("diff", "topic/austin", "1", "2", *MARA, "--json").out)["linesAdded"] == 1
    assert run_in_acme("diff", "topic/austin", "1", "7", *MARA, "--json").error["code"] == "NOT_FOUND"
    assert run_in_acme("restore", "topic/austin", "1", *MARA).out == "topic/austin is now at version 3.\n"
    assert run_in_acme("restore", "topic/austin", "1", *MARA).out == "topic/austin already has this content.\n"


def test_pages_are_renamed_merged_and_archived(run_in_acme: RunCommand) -> None:
    renamed = run_in_acme("rename", "topic/austin", "--title", "Austin, Texas", "--slug", "austin-texas", *MARA)
    assert renamed.out == "Renamed, now at version 2. Links in 1 pages were updated.\n"
    assert body(run_in_acme, "entity/trip") == "To [[Austin, Texas]]."
    assert run_in_acme("merge", "topic/atx", "topic/austin", *MARA).code == 0
    assert body(run_in_acme, "topic/atx").startswith("Hot.\n\nBats.")
    assert run_in_acme("archive", "entity/trip", *MARA).out == "entity/trip: archived\n"
    assert run_in_acme("archive", "entity/trip", "--back", *MARA).out == "entity/trip: restored\n"
    archived = run_in_acme("archive", "entity/none", "entity/trip", "topic/none", *MARA)
    assert (archived.code, archived.out.splitlines()[1]) == (1, "entity/trip: archived")
    assert archived.out.count("There is no page") == 2
    assert run_in_acme("archive", "entity/none", *MARA).code == 1


def test_a_page_is_transferred_to_another_wiki(run_in_acme: RunCommand) -> None:
    assert run_in_acme("owners", "create", "team", "--tenant", "acme", "--kind", "shared", "--name", "Team").code == 0
    assert (
        run_in_acme(
            "grants", "add", "--tenant", "acme", "--owner", "team", "--grantee", "mara", "--role", "member"
        ).code
        == 0
    )
    moved = run_in_acme("transfer", "topic/atx", "team", *MARA)
    assert moved.out == "Moved topic/atx to the wiki of team, at version 2.\n", moved.err
    transferred = json.loads(run_in_acme("page", "topic/atx", "--tenant", "acme", "--owner", "team", "--json").out)
    assert transferred["bodyMd"] == "Bats."
    refused = run_in_acme("transfer", "topic/austin", "nowhere", *MARA)
    assert (refused.code, "no space `nowhere`" in refused.err) == (1, True)


def test_a_claim_is_superseded_only_once(run_in_acme: RunCommand) -> None:
    command = ("wiki", "supersede", "topic/austin", "Hot.", "Mild.", "--on", "2026-03-02", *MARA)
    assert run_in_acme(*command).out == "topic/austin is now at version 2.\n"
    once = body(run_in_acme, "topic/austin")
    assert (once.count("Mild."), "Hot." in once) == (1, False)
    assert run_in_acme(*command).out == "topic/austin is now at version 2, and the claim was already superseded.\n"
    assert body(run_in_acme, "topic/austin") == once
    assert 'Used to say "Hot." until 2026-03-02; now says "Mild.".' in run_in_acme("page", "topic/austin", *MARA).out
    refused = run_in_acme("wiki", "supersede", "topic/austin", "Cold.", "Mild.", *MARA)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("cairn: The old text was not found.")
    assert body(run_in_acme, "topic/austin") == once
    assert run_in_acme("wiki", "supersede", "topic/austin", "a", "b", "--overridden-by", "day", *MARA).code == 2


def test_contradictions_are_imported_and_resolved(run_in_acme: RunCommand, tmp_path: Path) -> None:
    page = {
        "title": "Ledger", "type": "project", "body": "It runs on Postgres.\n\n## Later\n\nIt runs on MySQL.",
        "contradictions": [
            {
                "older": {"claim": "It runs on Postgres.", "on": "2026-01-10T00:00:00Z"},
                "newer": {"claim": "It runs on MySQL.", "on": "2026-03-02T00:00:00Z"},
            }
        ],
    }  # fmt: skip
    (tmp_path / "more.jsonl").write_text(json.dumps(page))
    assert run_in_acme("import", str(tmp_path / "more.jsonl"), *MARA).code == 0
    listed = run_in_acme("wiki", "contradictions", "--status", "open", *MARA).out
    assert "It runs on Postgres. (2026-01-10)" in listed
    (contradiction,) = json.loads(run_in_acme("wiki", "contradictions", *MARA, "--json").out)["nodes"]
    command = ("wiki", "resolve", contradiction["id"], "keep-newer", "I looked.", *MARA)
    assert [run_in_acme(*command).out, run_in_acme(*command).out] == [
        "Resolved the contradiction.\n",
        "The contradiction is already resolved this way.\n",
    ]
    assert body(run_in_acme, "project/ledger") == "## Later\n\nIt runs on MySQL."
    assert run_in_acme("wiki", "contradictions", "--status", "open", *MARA, "--json").out.count("claim") == 0
    assert run_in_acme("wiki", "resolve", "nonsense", "both-hold", "So.", *MARA).code == 2
    assert run_in_acme("wiki", "resolve", contradiction["id"], "both-hold", "So.", *MARA).code == 1


def test_a_stub_is_created_and_extended_with_its_sources(run_in_acme: RunCommand, tmp_path: Path) -> None:
    notes = tmp_path / "sources.jsonl"
    lines = [{"kind": "daily_note", "ref": f"day-{n}", "content": f"Roast {n} kg."} for n in range(2)]
    notes.write_text("\n".join(map(json.dumps, lines)))
    assert run_in_acme("retain", str(notes), *MARA).code == 0
    stub = ("wiki", "stub", "concept", "Small batches", "- five kilos")
    refused = run_in_acme(*stub, "--why", "Less waste.", *MARA, "--json")
    assert (refused.code, refused.error["message"]) == (
        1,
        'A stub of the type concept needs the section "How to apply".',
    )
    assert run_in_acme(*stub, "--how-to-apply", "Always.", "--why", " ", *MARA).code == 1, "blank is as good as nothing"
    assert run_in_acme("wiki", "stub", "entity", "Mill", "--why", "So.", *MARA).code == 1, (
        "an entity has no such section"
    )
    stub += ("--why", "Fresh.", "--how-to-apply", "In every roast.")
    assert run_in_acme(*stub, "--source", "daily_note/day-9", *MARA).code == 1
    created = run_in_acme(*stub, "--source", "daily_note/day-0", *MARA)
    assert created.out == "concept/small-batches is now at version 1.\n", created.err
    assert body(run_in_acme, "concept/small-batches").startswith(
        "## Summary\n\n- five kilos\n\n## Why\n\nFresh.\n\n## How to apply\n\nIn every roast."
    )
    again = run_in_acme(*stub, *MARA, "--json")
    assert (again.code, again.error["code"]) == (1, "PAGE_EXISTS")
    stubs = json.loads(run_in_acme("pages", "--stubs", "--type", "concept", *MARA, "--json").out)
    assert [page["slug"] for page in stubs["nodes"]] == ["small-batches"]
    append = ("wiki", "append", "concept/small-batches", "Less waste.")
    assert run_in_acme(*append, "--source", "daily_note/none", *MARA).code == 1, (
        "nothing is appended without its source"
    )
    assert run_in_acme(*append, "--source", "daily_note/day-1", "--section", "why", *MARA).out.endswith("version 2.\n")
    assert run_in_acme(*append, "--source", "daily_note/day-1", *MARA, "--expect", "1").code == 1
    assert "## Why\n\nFresh.\n\nLess waste." in body(run_in_acme, "concept/small-batches")
    assert json.loads(run_in_acme("pages", "--stubs", "--type", "concept", *MARA, "--json").out)["totalCount"] == 0
    assert "rebuild" in run_in_acme("wiki", "rebuild", "--help").out


def test_the_map_and_the_log_are_paginated(run_in_acme: RunCommand) -> None:
    first = run_in_acme("wiki", "map", "--limit", "2", *MARA)
    assert first.out.startswith("# Knowledge map\n\nPages: 3 (1 entity, 2 topic).\n\n## Entity (1)\n\n- [**Trip**]")
    cursor = first.err.split()[-1]
    rest = run_in_acme("wiki", "map", "--after", cursor, *MARA)
    assert (rest.out, rest.err) == ("## Topic, continued\n\n- [**Austin**](/wiki/topic/austin) *(stub)*\n", "")
    assert run_in_acme("wiki", "map", "--type", "topic", *MARA).out.count("*(stub)*") == 2
    logged = json.loads(run_in_acme("wiki", "log", "--limit", "1", *MARA, "--json").out)
    assert logged["bodyMd"].startswith("# Activity log\n\n## ")
    assert run_in_acme("owners", "synthesis", "mara", "2", "--tenant", "acme").code == 0
    assert "wiki.settings_updated" in run_in_acme("wiki", "log", *MARA).out.splitlines()[4]
    assert run_in_acme("owners", "synthesis", "mara", "0", "--tenant", "acme").code == 2


def test_pages_are_shown_and_accessible_wikis_are_listed(run_in_acme: RunCommand) -> None:
    assert run_in_acme("wiki", "show", "entity/trip", *MARA).out == run_in_acme("page", "entity/trip", *MARA).out
    found = json.loads(run_in_acme("wiki", "list", "--stubs", "--category", "topic", *MARA, "--json").out)
    assert {page["type"] for page in found["nodes"]} == {"TOPIC"}
    for slug in ("team", "private"):
        assert run_in_acme("owners", "create", slug, "--tenant", "acme", "--kind", "shared").code == 0
    assert run_in_acme("owners", "boost", "team", "1.5", "--tenant", "acme").code == 0
    grant = ("grants", "add", "--tenant", "acme", "--owner", "team")
    assert run_in_acme(*grant, "--grantee", "mara", "--role", "reader").code == 0
    own, team = json.loads(run_in_acme("wiki", "targets", *MARA, "--json").out)
    assert (own["slug"], own["role"], own["pages"]) == ("mara", "member", {"entity": 1, "topic": 2})
    assert (team["slug"], team["role"], team["score_boost"], team["pages"]) == ("team", "reader", 1.5, {})
    assert "1 entity, 2 topic" in run_in_acme("wiki", "targets", *MARA).out


def test_list_shared_shows_only_pages_of_readable_spaces(run_in_acme: RunCommand) -> None:
    for slug in ("team", "private"):
        space = ("--tenant", "acme", "--owner", slug)
        assert run_in_acme("owners", "create", slug, "--tenant", "acme", "--kind", "shared").code == 0
        assert run_in_acme("create", "topic", f"Plans of {slug}", "Soon.", *space).code == 0
    assert (
        run_in_acme(
            "grants", "add", "--tenant", "acme", "--owner", "team", "--grantee", "mara", "--role", "reader"
        ).code
        == 0
    )
    listed = run_in_acme("wiki", "list", "--shared", *MARA).out
    assert "team" in listed
    assert "topic/plans-of-team" in listed
    assert listed.endswith("\n1 of 1\n")
    assert "private" not in listed
    (team,) = json.loads(run_in_acme("wiki", "list", "--shared", *MARA, "--json").out)
    assert (team["space"], [page["slug"] for page in team["nodes"]]) == ("team", ["plans-of-team"])
    assert run_in_acme("wiki", "list", "--shared", "--category", "entity", *MARA).out.endswith("\n0 of 0\n")
    assert run_in_acme("wiki", "list", "--shared", "--after", "x", *MARA, "--json").error["code"] == "USAGE"


def test_the_diary_describes_changes_in_words(run_in_acme: RunCommand) -> None:
    diary = run_in_acme("wiki", "diary", *MARA).out
    assert diary.startswith("# Diary, ")
    assert "Created [**Trip**](/wiki/entity/trip)" in diary
    found = json.loads(run_in_acme("wiki", "diary", "--zone", "Europe/Berlin", "--lines", "1", *MARA, "--json").out)
    assert len(found["days"][0]["entries"]) == 1
    assert json.loads(run_in_acme("wiki", "diary", "--until", "2020-01-01", *MARA, "--json").out)["days"] == []
    assert run_in_acme("wiki", "diary", "--since", "yesterday", *MARA, "--json").error["code"] == "BAD_USER_INPUT"


def test_proposals_are_listed_and_decided(run_in_acme: RunCommand) -> None:
    assert run_in_acme("owners", "policy", "mara", "member=maybe", "--tenant", "acme").code != 0
    result = run_in_acme("owners", "policy", "mara", "member=review", "member/decision=closed", "--tenant", "acme")
    assert result.out == "The write policy of mara is: member=review, member/decision=closed.\n"
    assert run_in_acme("edit", "topic/austin", "Hot.", "Very hot.", *MARA).code != 0
    assert "Very hot" not in body(run_in_acme, "topic/austin")
    (proposal,) = json.loads(run_in_acme("wiki", "proposals", "--status", "open", *MARA, "--json").out)["nodes"]
    assert "{+" in proposal["wordDiff"]
    assert "edit_page topic/austin" in run_in_acme("wiki", "proposals", *MARA).out
    assert run_in_acme("wiki", "decide", proposal["id"], "--as", "decline", *MARA).code == 1, "a reason is needed"
    assert run_in_acme("wiki", "decide", proposal["id"], *MARA).out == f"{proposal['id']}: done\n"
    assert "Very hot." in body(run_in_acme, "topic/austin")
