"""The commands: their output, their exit codes and the errors of invalid commands."""

import json
from pathlib import Path

import orjson
import pytest

from app.cli.output import CONTROL
from tests.app.command_line import MARA, RunCommand


@pytest.mark.parametrize("words", [[], ["tenants"], ["owners"], ["keys"], ["grants"]])
def test_an_incomplete_command_prints_its_usage(run_cairn: RunCommand, words: list[str]) -> None:
    result = run_cairn(*words)
    assert result.code == 2
    assert result.err.startswith(f"Usage: {' '.join(['cairn', *words])} [OPTIONS]")


@pytest.mark.parametrize(
    "words",
    [["tenants", "list"], ["owners", "list", "--tenant", "a"], ["search", "x", *MARA], ["token", *MARA], ["reindex"]],
    ids=lambda words: words[0],
)
def test_commands_that_read_create_no_database(run_cairn: RunCommand, tmp_path: Path, words: list[str]) -> None:
    result = run_cairn(*words, "--json")
    assert result.code == 1
    assert result.error["code"] == "NOTHING_HERE"
    assert "cairn demo" in result.error["message"]
    assert not (tmp_path / "data").exists()


def test_status_works_without_a_database(run_cairn: RunCommand, tmp_path: Path) -> None:
    result = run_cairn("status", "--json")
    assert result.code == 0
    facts = json.loads(result.out)
    assert (facts["embedded"], facts["running"], facts["dataDir"]) == (True, False, str(tmp_path / "data"))
    assert "cairn demo" in facts["hint"]
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("setting", "value", "code", "hint"),
    [
        ("CAIRN_DATABASE_URL", "postgresql://me:hush@127.0.0.1:1/x", "UNAVAILABLE", "CAIRN_DATABASE_URL"),
        ("CAIRN_DATABASE_URL", "hush", "UNAVAILABLE", "CAIRN_DATABASE_URL"),
        ("CAIRN_PORT", "http", "BAD_SETTING", "CAIRN_PORT"),
        ("CAIRN_WORKERS", "0", "BAD_SETTING", "CAIRN_WORKERS"),
        ("CAIRN_SEED_DIR", "seeds", "BAD_SETTING", "CAIRN_SEED_TENANT"),
        ("CAIRN_METRICS", "token", "BAD_SETTING", "CAIRN_METRICS_TOKEN"),
    ],
)
@pytest.mark.parametrize("words", [["tenants", "list"], ["migrate"], ["serve"], ["demo"]], ids=" ".join)
def test_an_invalid_setting_is_named_in_the_error(
    run_cairn: RunCommand,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    setting: str,
    value: str,
    code: str,
    hint: str,
) -> None:
    monkeypatch.setenv(setting, value)
    result = run_cairn(*words)
    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)
    assert hint in result.err
    assert "hush" not in result.err
    assert has_error_code(run_cairn, words, code)


def has_error_code(run_cairn: RunCommand, words: list[str], code: str) -> bool:
    return "--json" not in run_cairn(words[0], "--help").out or run_cairn(*words, "--json").error["code"] == code


def test_an_existing_database_is_migrated_only_on_request(
    run_cairn: RunCommand, empty_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAIRN_DATABASE_URL", empty_dsn)
    refused = run_cairn("tenants", "create", "acme")
    assert refused.code == 1
    assert "Run: cairn migrate" in refused.err
    status = run_cairn("status", "--json")
    assert status.code == 1
    pending = json.loads(status.out)["pendingMigrations"]
    assert pending
    migrated = json.loads(run_cairn("migrate", "--json").out)
    assert (migrated["applied"], migrated["reindexed"]["pages"]) == (pending, 0)
    assert run_cairn("migrate").out == "The database schema is up to date.\n"
    assert run_cairn("tenants", "create", "acme").code == 0
    counted = json.loads(run_cairn("status", "--json").out)
    assert (counted["tenants"], counted["owners"], counted["pages"], counted["pendingMigrations"]) == (1, 0, 0, [])


def test_tenants_and_owners_are_listed(run_in_acme: RunCommand) -> None:
    assert [
        (tenant["slug"], tenant["name"]) for tenant in json.loads(run_in_acme("tenants", "list", "--json").out)
    ] == [("acme", "Acme Ltd")]
    owners = json.loads(run_in_acme("owners", "list", "--tenant", "acme", "--json").out)
    assert [(owner["slug"], owner["kind"], owner["name"]) for owner in owners] == [
        ("mara", "user", "mara"),
        ("team", "shared", "The team"),
    ]
    listed = run_in_acme("owners", "list", "--tenant", "acme").out.splitlines()[1].split()
    assert listed[:4] == ["mara", "user", "mara", "english"]
    boosted = run_in_acme("owners", "boost", "team", "1.5", "--tenant", "acme").out
    assert boosted == "The scores of team's pages are now multiplied by 1.5.\n"
    owners = json.loads(run_in_acme("owners", "list", "--tenant", "acme", "--json").out)
    assert {owner["slug"]: owner["scoreBoost"] for owner in owners} == {"mara": 0.9, "team": 1.5}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["tenants", "create", "acme"], "SLUG_TAKEN"),
        (["tenants", "create", "A B"], "BAD_USER_INPUT"),
        (["owners", "create", "mara", "--tenant", "acme", "--kind", "user"], "SLUG_TAKEN"),
        (["owners", "create", "x", "--tenant", "acme", "--kind", "user", "--language", "klingon"], "BAD_USER_INPUT"),
        (["owners", "language", "mara", "klingon", "--tenant", "acme"], "BAD_USER_INPUT"),
        (["owners", "language", "nobody", "german", "--tenant", "acme"], "NOT_FOUND"),
        (["owners", "boost", "mara", "11", "--tenant", "acme"], "BAD_USER_INPUT"),
        (["owners", "boost", "mara", "nan", "--tenant", "acme"], "BAD_USER_INPUT"),
        (["owners", "list", "--tenant", "other"], "NOT_FOUND"),
        (["reindex", "--tenant", "other"], "NOT_FOUND"),
        (["reindex", "--tenant", "acme", "--owner", "nobody"], "NOT_FOUND"),
        (["token", "--tenant", "acme", "--owner", "nobody"], "NOT_FOUND"),
        (["page", "topic/none", *MARA], "NOT_FOUND"),
        (["import", "/no/such/folder", *MARA], "BAD_USER_INPUT"),
        (["grants", "add", *MARA, "--grantee", "mara", "--role", "reader"], "BAD_USER_INPUT"),
        (["keys", "revoke", "0199f0c2-5d3e-7c1a-9f00-3a5b8c2d1e4f", "--tenant", "acme"], "NOT_FOUND"),
    ],
)
def test_a_failed_command_exits_with_1_and_an_error_code(run_in_acme: RunCommand, words: list[str], code: str) -> None:
    result = run_in_acme(*words, "--json")
    assert (result.code, result.out) == (1, "")
    assert result.error["code"] == code


def test_the_error_of_a_missing_object_names_the_command_that_lists_them(
    run_in_acme: RunCommand, tmp_path: Path
) -> None:
    out = str(tmp_path / "out")
    assert "with: cairn tenants list" in run_in_acme("export", out, "--tenant", "acne", "--owner", "mara").err
    assert (
        "with: cairn owners list --tenant acme" in run_in_acme("export", out, "--tenant", "acme", "--owner", "mra").err
    )
    bad = tmp_path / "bad.zip"
    bad.write_bytes(b"PK no")
    result = run_in_acme("import", str(bad), *MARA, "--json")
    assert (result.code, result.error["code"]) == (1, "BAD_USER_INPUT")


def test_an_import_reports_failed_notes_and_stores_the_rest(run_in_acme: RunCommand, tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "good.md").write_text("Good. [[nowhere]]")
    (tmp_path / "vault" / "bad.md").write_text("---\na: [\n---\n")
    words = ["import", str(tmp_path / "vault"), "--tenant", "new", "--owner", "one"]
    assert run_in_acme(*words, "--json").error["code"] == "NOT_FOUND"
    result = run_in_acme(*words, "--create", "--json")
    assert result.code == 1
    report = json.loads(result.out)
    assert report.pop("errors")[0]["path"] == "bad.md"
    counted = {
        "created": 1,
        "changed": 0,
        "unchanged": 0,
        "failed": 1,
        "sources": 0,
        "links": 0,
        "brokenLinks": 1,
        "attachments": 0,
    }
    assert report == counted | {"format": "obsidian", "leftOut": {}, "warnings": []}
    again = run_in_acme(*words)
    summary = "0 created, 0 changed, 1 unchanged, 1 failed; 0 links, 1 broken; 0 new sources; 0 new attachments.\n"
    assert again.out.startswith(summary)
    assert "bad.md" in again.out


def test_an_export_can_be_imported(run_in_acme: RunCommand, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "Austin.md").write_text("---\ntags: [city]\n---\nHot.")
    assert run_in_acme("import", str(tmp_path / "notes"), *MARA).code == 0
    for name in ("folder", "wiki.zip", "wiki.jsonl"):
        done = run_in_acme("export", str(tmp_path / name), *MARA)
        assert (done.code, done.out) == (0, f"Exported 1 pages and 0 sources to {tmp_path / name}.\n")
        again = run_in_acme("import", str(tmp_path / name), "--tenant", "acme", "--owner", "team", "--json")
        assert json.loads(again.out)["failed"] == 0
    assert (tmp_path / "folder" / "Austin.md").read_text() == "---\ntags: [city]\n---\nHot.", "as it came"
    shown = run_in_acme("export", str(tmp_path / "folder"), *MARA, "--json")
    report = {"pages": 1, "sources": 0, "path": str(tmp_path / "folder"), "failed": 0, "errors": []}
    assert json.loads(shown.out) == report
    assert "an export cannot be written to stdout" in run_in_acme("export", "-", *MARA).err
    refused = run_in_acme("export", str(tmp_path / "notes"), *MARA)
    assert (refused.code, "new or empty" in refused.err) == (1, True)


def test_an_export_names_each_page_it_cannot_write_and_exits_with_1(
    run_in_acme: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> bytes:
        raise ValueError("it is too hot")

    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "Austin.md").write_text("Hot.")
    assert run_in_acme("import", str(tmp_path / "notes"), *MARA).code == 0
    monkeypatch.setattr("resolvers.import_export.disk.targets.text_of", failing)
    result = run_in_acme("export", str(tmp_path / "folder"), *MARA)
    assert (result.code, "1 could not be written" in result.out, "Austin.md" in result.out) == (1, True, True)
    report = json.loads(run_in_acme("export", str(tmp_path / "wiki.zip"), *MARA, "--json").out)
    assert (report["pages"], report["failed"], report["errors"][0]["code"]) == (0, 1, "UNWRITABLE")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_an_export_to_a_full_disk_does_not_blame_postgres(run_in_acme: RunCommand, tmp_path: Path) -> None:
    (tmp_path / ".cairn").mkdir()
    (tmp_path / ".cairn" / "files").touch()
    (tmp_path / ".cairn" / "draft").symlink_to("/dev/full")
    result = run_in_acme("export", str(tmp_path), *MARA)
    assert (result.code, result.err) == (1, "cairn: The export cannot be written: No space left on device.\n")


def test_seeding_from_a_missing_folder_is_an_error(run_in_acme: RunCommand, tmp_path: Path) -> None:
    result = run_in_acme("knowledge", "seed", str(tmp_path / "nowhere"), *MARA)
    assert (result.code, result.err) == (1, f"cairn: path: There is no folder {tmp_path / 'nowhere'}.\n")


def test_imported_pages_are_found_and_shown(run_in_acme: RunCommand, tmp_path: Path) -> None:
    menu = {"kind": "document", "ref": "menu", "content": "Pecan pie: sweet and red."}
    lines = [
        {"source": menu},
        {"title": "Pecan pie", "type": "topic", "body": "Sweet \x1b[31mred.", "tags": ["cake"], "sources": [menu]},
        {"title": "Austin", "type": "entity", "body": "They bake [[Pecan pie]]."},
    ]
    path = tmp_path / "pages.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    assert run_in_acme("import", str(path), *MARA).code == 0
    found = json.loads(run_in_acme("search", "pecan", *MARA, "--json").out)
    assert found["edges"][0]["node"]["slug"] == "pecan-pie"
    results = run_in_acme("search", "pecan", *MARA).out
    assert "topic/pecan-pie" in results
    assert "They bake Pecan pie." in results
    assert results.endswith("\n2 of 2\n")
    assert not CONTROL.search(results)
    assert run_in_acme("search", "?!", *MARA).out == "No results.\n"
    assert run_in_acme("search", "-sweet pecan", *MARA, "--limit", "3").out.endswith("\n1 of 1\n"), (
        "a minus is no option"
    )
    shown = run_in_acme("page", "topic/pecan-pie", *MARA).out
    assert "linked from: entity/austin" in shown
    assert "tags: cake" in shown
    assert "sources: menu" in shown
    assert "confidence: low" in shown
    assert "grounding: " in shown
    assert not CONTROL.search(shown), "a page cannot take over the terminal"
    assert json.loads(run_in_acme("page", "topic/pecan-pie", *MARA, "--json").out)["bodyMd"] == "Sweet \x1b[31mred."


def test_the_schema_is_printed_without_a_database(run_cairn: RunCommand) -> None:
    result = run_cairn("schema")
    assert result.code == 0
    assert "type WikiPage implements Node {" in result.out
