"""Commands that read a wiki: their output, the modules that they import, and settings."""

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from unicodedata import normalize

import pytest

from app.cli import plans
from app.cli.commands import sources
from app.cli.commands.pages import Order
from app.cli.output import display_width, print_table
from app.cli.session import find_wiki, read_stored, run_with_database
from app.settings import Settings
from db.database import Database
from db.tables import SOURCE_KINDS
from schema.enums import WikiPageOrder
from tests.app.command_line import MARA, RunCommand
from tests.forked import COMMAND, ROOT, Command

NOT_FOR_READING = {
    "alembic", "fastapi", "graphql", "httpx", "markdown_it", "mcp", "pydantic_settings", "rapidfuzz", "rich", "ruamel",
    "sqlalchemy", "starlette", "strawberry", "structlog", "uvicorn",
}  # fmt: skip


@pytest.fixture
def run_in_wiki(run_in_acme: RunCommand) -> RunCommand:
    """Return a function that runs a command on a wiki with two pages."""
    assert run_in_acme("create", "entity", "Austin", "A city with [[water]]. 東京", "--tag", "city", *MARA).code == 0
    assert run_in_acme("create", "topic", "Water", "It flows in Austin.", *MARA).code == 0
    return run_in_acme


def shell(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    script = (
        "import sys; from app.cli import main; code = main(sys.argv[1:]); "
        f"print(sorted({NOT_FOR_READING} & sys.modules.keys()), file=sys.stderr); sys.exit(code)"
    )
    inherited = {
        name: os.environ[name] for name in ("PATH", "CAIRN_DATABASE_URL", "CAIRN_DATA_DIR") if name in os.environ
    }
    return subprocess.run(
        [COMMAND[0], "-c", script, *arguments], cwd=ROOT, env=inherited | {"PYTHONPATH": str(ROOT)} | variables,
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "water", *MARA),
        ("search", "nothing at all", *MARA, "--json"),
        ("page", "entity/austin", *MARA),
        ("page", "entity/austin", *MARA, "--json"),
        ("pages", *MARA),
        ("pages", *MARA, "--limit", "1", "--json"),
        ("sources", "list", *MARA),
        ("--help",),
        ("search", "--help"),
        ("--version",),
    ],
    ids=" ".join,
)
def test_frequent_reads_load_only_the_modules_that_they_need(
    run_in_wiki: RunCommand, arguments: tuple[str, ...]
) -> None:
    result = shell(*arguments)
    assert result.returncode == 0, result.stderr
    assert result.stderr == "[]\n"


def test_importing_the_index_commands_does_not_import_reindexing() -> None:
    """On the embedded server every command imports this module."""
    script = "import sys, app.cli.indexes; print('resolvers.search.reindexing' in sys.modules)"
    result = subprocess.run(
        [COMMAND[0], "-c", script], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert result.stdout == "False\n"


def test_stored_plans_match_the_plans_of_the_engine() -> None:
    """`make schema` writes the stored plans."""
    path = ROOT / "app" / "cli" / "queries" / plans.FILE
    assert plans.format_plans() == path.read_text(encoding="utf-8")


def test_a_stored_plan_returns_the_same_data_as_its_document(run_in_wiki: RunCommand, tmp_path: Path) -> None:
    assert run_in_wiki("create", "entity", "한국", "A country.", *MARA).code == 0
    notes = tmp_path / "notes"
    notes.mkdir()
    for name in ("first", "second"):
        (notes / f"{name}.md").write_text(name)
    assert run_in_wiki("retain", str(notes), *MARA).code == 0

    async def compare(database: Database) -> None:
        found = await find_wiki(database, "acme", "mara")
        for slug, exists in (("austin", True), ("nobody", False), ("한국", True), (normalize("NFD", "한국"), True)):
            expected = await read_stored(database, found, "page", {"type": "ENTITY", "slug": slug})
            assert await plans.find_page(database, found, "entity", slug) == expected["wikiPage"]
            assert (expected["wikiPage"] is not None) is exists
        for query in ("water", "astin", "-water", '"flows in"', "tag:city", "nothing", "", "owner:team austin"):
            expected = await read_stored(database, found, "find", {"query": query, "limit": 5})
            assert await plans.find_results(database, found, query, 5) == expected["wikiSearchResults"], query
        for limit in (1, 2, 100):
            variables = {"filter": {"status": "ACTIVE"}, "order": "UPDATED", "limit": limit, "after": None}
            expected = await read_stored(database, found, "pages", variables)
            assert await plans.list_pages(database, found, limit) == expected["wikiPages"]
            assert expected["wikiPages"]["nodes"]
            expected = await read_stored(database, found, "sources", {"kinds": None, "limit": limit, "after": None})
            assert await plans.list_sources(database, found, limit) == expected["wikiSources"]
            assert expected["wikiSources"]["nodes"]

    settings = Settings()
    asyncio.run(run_with_database(settings, str(settings.database_url), compare))


def test_environment_variables_set_the_tenant_and_owner_of_commands(
    run_in_wiki: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_in_wiki("page", "entity/austin").code == 2
    monkeypatch.setenv("CAIRN_TENANT", "acme")
    monkeypatch.setenv("CAIRN_OWNER", "mara")
    assert "# Austin" in run_in_wiki("page", "entity/austin").out
    assert run_in_wiki("page", "entity/austin", "--owner", "team").code == 1, "what is typed goes before it"


def test_pages_are_listed_by_filters(run_in_wiki: RunCommand) -> None:
    result = run_in_wiki("pages", *MARA)
    assert result.out.splitlines()[0].split() == ["page", "title", "changed", "tags"]
    assert result.out.endswith("2 of 2\n")
    listed: Callable[..., list[str]] = lambda *options: [  # noqa: E731
        page["slug"] for page in json.loads(run_in_wiki("pages", *options, *MARA, "--json").out)["nodes"]
    ]
    assert listed("--type", "entity") == ["austin"]
    assert listed("--type", "entity", "--type", "topic", "--order", "title") == ["austin", "water"]
    assert listed("--tag", "city") == ["austin"]
    assert listed("--title", "wat") == ["water"]
    assert listed("--since", "2999-01-01") == []
    assert listed("--archived") == []
    first = run_in_wiki("pages", "--limit", "1", "--order", "title", *MARA).out
    assert "austin" in first
    cursor = first.split("--after ")[1].strip()
    assert "topic/water" in run_in_wiki("pages", "--limit", "1", "--order", "title", "--after", cursor, *MARA).out
    for wrong in (["--type", "city"], ["--since", "yesterday"], ["--order", "size"], ["--limit", "101"]):
        assert run_in_wiki("pages", *wrong, *MARA).code == 2


def test_sources_are_listed(run_in_wiki: RunCommand, tmp_path: Path) -> None:
    notes = tmp_path / "notes.jsonl"
    lines = [{"kind": kind, "ref": f"r-{kind}", "content": "x"} for kind in ("daily_note", "document")]
    notes.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert run_in_wiki("retain", str(notes), *MARA).code == 0
    shown = run_in_wiki("sources", "list", *MARA).out
    assert "daily_note/r-daily_note" in shown
    assert shown.endswith("2 of 2\n")
    found = json.loads(run_in_wiki("sources", "list", "--kind", "document", *MARA, "--json").out)
    assert [source["ref"] for source in found["nodes"]] == ["r-document"]


def test_option_values_match_the_enums_of_the_schema() -> None:
    assert tuple(sources.Kind) == SOURCE_KINDS
    assert {order.value for order in Order} == {order.value for order in WikiPageOrder}


def test_watch_prints_changes_as_they_happen(run_in_wiki: RunCommand) -> None:
    with Command(["watch", *MARA, "--json"], os.environ) as watching:
        lines = watching.lines()
        assert json.loads(next(lines))["kind"] == "RESYNC"
        assert run_in_wiki("create", "entity", "Zilker", "A park.", *MARA).code == 0
        event = json.loads(next(lines))
        assert (event["kind"], event["page"]["slug"], event["version"]) == ("CREATED", "zilker", 1)
        watching.send_signal(signal.SIGINT)
        assert watching.wait(30) == 0


def test_settings_are_listed_without_secrets(run_cairn: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAIRN_DATABASE_URL", "postgresql://cairn:hunter2@db.example/cairn?password=hunter3&x=1")
    monkeypatch.setenv("CAIRN_JWT_SECRET", "hunter4" * 8)
    monkeypatch.setenv("CAIRN_PORT", "9000")
    result = run_cairn("settings", "--json")
    listed = {setting["name"]: setting for setting in json.loads(result.out)}
    assert listed.keys() == {f"CAIRN_{name.upper()}" for name in Settings.model_fields}
    assert (listed["CAIRN_PORT"]["value"], listed["CAIRN_PORT"]["source"]) == ("9000", "environment")
    assert (listed["CAIRN_HOST"]["value"], listed["CAIRN_HOST"]["source"]) == ("127.0.0.1", "default")
    assert listed["CAIRN_LOG_FORMAT"]["values"] == ["json", "console"]
    assert listed["CAIRN_DATABASE_URL"]["value"] == (
        "postgresql://cairn:**********@db.example/cairn?password=**********&x=1"
    )
    shown = run_cairn("settings").out
    assert "hunter" not in result.out + shown
    assert "CAIRN_PORT" in shown


def test_unknown_cairn_variables_are_reported(run_cairn: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAIRN_PROT", "9000")
    monkeypatch.setenv("CAIRN_FLYING_CARPET_MODE", "on")
    for known in ("CAIRN_SERVICE_HOST", "CAIRN_PORT_8000_TCP_ADDR", "CAIRN_TEST_DATABASE_URL"):
        monkeypatch.setenv(known, "x")
    warnings = run_cairn("settings").err.splitlines()
    assert warnings == [
        "cairn: CAIRN_FLYING_CARPET_MODE is not a setting. List settings with: cairn settings",
        "cairn: CAIRN_PROT is not a setting. Did you mean CAIRN_PORT?",
    ]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("CAIRN_PORT", "http", "CAIRN_PORT: "),
        ("CAIRN_LOG_FORMAT", "xml", "CAIRN_LOG_FORMAT: must be json or console"),
        ("CAIRN_SWEEP_AT", "03:00+05:00", "CAIRN_SWEEP_AT: "),
        (
            "CAIRN_CORS_ORIGINS",
            "nowhere",
            "nowhere is not an origin as browsers send it, such as https://app.example.org\n",
        ),
        ("CAIRN_METRICS", "token", "CAIRN_METRICS=token needs CAIRN_METRICS_TOKEN"),
    ],
)
def test_an_invalid_setting_is_reported_without_pydantic_wording(
    run_cairn: RunCommand, monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str
) -> None:
    monkeypatch.setenv(name, value)
    result = run_cairn("settings")
    assert result.code == 1
    assert message in result.err
    assert "Value error" not in result.err


def test_an_error_names_the_invalid_argument(run_in_wiki: RunCommand) -> None:
    result = run_in_wiki("edit", "entity/austin", "A city", "x", *MARA, "--section", "Not A Slug!")
    assert result.code == 1
    assert "section" in result.err.lower()
    assert run_in_wiki("create", "entity", " ", *MARA).err.lower().count("title") >= 1


def test_the_version_is_that_of_the_package(run_cairn: RunCommand) -> None:
    from importlib.metadata import version

    assert run_cairn("--version").out == f"cairn {version('cairn-wiki')}\n"


@pytest.mark.parametrize(
    ("shell_name", "words", "offered"),
    [
        ("bash", {"COMP_WORDS": "cairn sea", "COMP_CWORD": "1"}, "search"),
        ("zsh", {"_TYPER_COMPLETE_ARGS": "cairn sources l"}, "list"),
        ("fish", {"_TYPER_COMPLETE_ARGS": "cairn pages --ord", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}, "--order"),
    ],
)
def test_a_shell_completes_commands_and_options(shell_name: str, words: dict[str, str], offered: str) -> None:
    result = shell(_CAIRN_COMPLETE=f"complete_{shell_name}", **words)
    assert offered in result.stdout, result.stderr


def test_table_columns_account_for_wide_and_combining_characters(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["a", "b"], [("東京", "x"), ("e\u0301", "y")])
    assert capsys.readouterr().out == "a     b\n東京  x\ne\u0301     y\n"
    assert display_width("東京") == 4
