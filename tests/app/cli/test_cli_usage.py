"""The help of every command, and the messages for wrong usage."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from app.cli.options import TextCommand
from app.cli.program import app, describe_usage_error
from tests.app.command_line import MARA, RunCommand
from tests.app.test_words import PYTHON
from tests.forked import COMMAND, ROOT

HELP = Path(__file__).with_name("cli_help.txt")
SLOW_TO_IMPORT = {"alembic", "asyncpg", "pydantic", "rich", "sqlalchemy", "strawberry", "starlette", "uvicorn"}


def commands() -> Iterator[tuple[str, ...]]:
    """Yield the words of every command, after those of the bare program, which has none."""
    yield ()
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        yield (name,)
        yield from ((name, inner) for inner in getattr(command, "commands", ()))


def test_the_help_of_every_command_is_unchanged(run_cairn: RunCommand) -> None:
    """After an intended change, delete cli_help.txt and run this test twice."""
    text = "\n".join(
        f"$ cairn {' '.join([*words, '--help'])}\n\n{run_cairn(*words, '--help').out}" for words in commands()
    )
    if not HELP.exists():
        HELP.write_text(text, encoding="utf-8")
        pytest.fail("the help was written anew: look at it")
    assert text == HELP.read_text(encoding="utf-8")


@pytest.mark.parametrize("words", list(commands()), ids=lambda words: " ".join(words) or "cairn")
def test_every_command_shows_an_example(run_cairn: RunCommand, words: tuple[str, ...]) -> None:
    result = run_cairn(*words, "--help")
    assert result.code == 0
    assert re.search(r"(Example|Begin with): cairn \w", result.out)


def test_importing_the_cli_imports_no_slow_module() -> None:
    script = f"import sys, app.cli; print(sorted({SLOW_TO_IMPORT} & sys.modules.keys()))"
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    result = subprocess.run([COMMAND[0], "-c", script], cwd=ROOT, env=env, capture_output=True, text=True)
    assert (result.stdout, result.stderr) == ("[]\n", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nope"], "No such command 'nope'. Try: cairn --help"),
        (["tenants", "create"], "Missing argument 'SLUG'. Try: cairn tenants create --help"),
        (
            ["search", "x", "--tenant", "a"],
            "Missing option '--owner' (env var: 'CAIRN_OWNER'). Try: cairn search --help",
        ),
        (["search", "x", *MARA, "--limit", "51"], "'--limit': must be at most 50. Try:"),
        (["page", "austin", *MARA], "write it as TYPE/SLUG"),
        (["page", "city/austin", *MARA], "write it as TYPE/SLUG"),
        (["token", *MARA, "--ttl", "3 years"], "write it as 90s, 15m, 12h, 30d or 2w"),
        (["token", *MARA, "--role", "king"], "'--role': 'king' is not one of 'reader',"),
        (
            ["owners", "create", "x", "--tenant", "a"],
            "Choose from: agent, user, shared. Try: cairn owners create --help",
        ),
        (["owners", "create", "x", "--tenant", "a", "--kind", "robot"], "'robot' is not one of"),
        (["reindex", "--owner", "mara"], "add --tenant SLUG"),
        (["serve", "--port", "70000"], "must be at most 65535"),
        (["keys", "revoke", "cairn_x", "--tenant", "a"], "must be an id: a UUID"),
    ],
)
def test_wrong_usage_is_reported_on_one_line(run_cairn: RunCommand, words: list[str], message: str) -> None:
    result = run_cairn(*words)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert message in result.err
    result = run_cairn(*words, "--json")
    assert result.code == 2
    assert result.error["code"] == "USAGE"


@pytest.mark.parametrize(
    "words",
    [["DIR", "--wal", "2026", "--until", "20261128"], ["--wal", "log", "--replace", "20261128"]],
    ids=" ".join,
)
def test_restore_takes_no_value_of_an_option_for_a_version(run_cairn: RunCommand, words: list[str]) -> None:
    result = run_cairn("restore", *words, "--json")
    assert result.error["code"] == "ARCHIVE_BROKEN", "it is a restore of a backup: only the folder is not there"


def test_restore_takes_a_later_number_for_a_version(run_cairn: RunCommand) -> None:
    for words in (["topic/a", "3", *MARA], [*MARA, "topic/a", "3"], ["topic/a", *MARA, "3", "--expect", "4"]):
        assert run_cairn("restore", *words, "--json").error["code"] == "NOTHING_HERE", words


@pytest.mark.parametrize(
    "words",
    [
        ["append", "topic/a", "- flat white"],
        ["context", "- flat white"],
        ["create", "topic", "-40 degrees", "- flat white"],
        ["edit", "topic/a", "- flat white", "-- cortado"],
        ["lint", "mute", "orphans", "topic/a", "- an entry page"],
        ["search", "-flat white"],
        ["sources", "search", "-flat white"],
        ["wiki", "append", "topic/a", "- flat white", "--source", "daily_note/1"],
        ["wiki", "decision", "- which database?"],
        ["wiki", "query", "-flat white"],
        ["wiki", "resolve", "0199f0c2-5d3e-7c1a-9f00-3a5b8c2d1e4f", "keep-newer", "- the landlord"],
        ["wiki", "stub", "entity", "-40 degrees", "- flat white"],
        ["wiki", "supersede", "topic/a", "- flat white", "- cortado\n- filter"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_a_text_may_begin_with_a_hyphen(run_cairn: RunCommand, words: list[str]) -> None:
    result = run_cairn(*words, *MARA, "--json")
    assert result.error["code"] == "NOTHING_HERE", "it was understood: only the database is not there"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["append", "topic/a", "--summry", "x", "- flat white"],
            "No such option: --summry (Possible options: --summary)",
        ),
        (
            ["append", "topic/a", "--dry-run"],
            "No such option: --dry-run. To pass a text that begins like an option, put it last, after --. Try:",
        ),
        (
            ["wiki", "supersede", "topic/a", "- x", "- y", "--moed=append"],
            "No such option: --moed (Possible options: --mode",
        ),
    ],
)
def test_a_misspelt_option_is_not_taken_as_text(run_cairn: RunCommand, words: list[str], message: str) -> None:
    result = run_cairn(*words, *MARA, "--json")
    assert (result.code, result.error["code"]) == (2, "USAGE")
    assert message in result.error["message"]


def test_a_text_may_look_like_an_option_after_two_hyphens(run_cairn: RunCommand) -> None:
    assert run_cairn("append", *MARA, "--json", "topic/a", "--", "--dry-run").error["code"] == "NOTHING_HERE"


OPEN_QUESTION = "0199f0c2-5d3e-7c1a-9f00-3a5b8c2d1e4f"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["lint", "--json", "--format", "sarif", *MARA], "give --json or --format"),
        (["schema", "--rest", "--admin"], "give one of --rest, --admin and --v0"),
        (["schema", "--rest", "--v0"], "give one of --rest, --admin and --v0"),
        (["wiki", "decision", "Which?", "--supersedes", "old", *MARA], "need --decision"),
        (["wiki", "decision", "Which?", "--withdraw", *MARA], "give the id of an open question"),
        (["wiki", "decision", OPEN_QUESTION, "--consequences", "More.", *MARA], "give the decision"),
        (
            ["wiki", "decision", OPEN_QUESTION, "--decision", "A", "--why", "Because.", *MARA],
            "belong to a new question",
        ),
        (["wiki", "decision", OPEN_QUESTION, "--withdraw", "--option", "B", *MARA], "belong to a new question"),
        (["wiki", "ingest", "kiln.md", "--text", "other.md", *MARA], "it is the saved file of a URL"),
    ],
)
def test_an_option_that_would_have_no_effect_is_refused(run_cairn: RunCommand, words: list[str], message: str) -> None:
    result = run_cairn(*words)
    assert (result.code, result.out) == (2, "")
    assert message in " ".join(result.err.split())


TEXTS = {"FACT", "NEW", "OLD", "QUERY", "QUESTION", "REASON", "REPLACEMENT", "TEXT", "TITLE"}


def test_every_command_with_a_text_argument_is_a_text_command() -> None:
    def commands_of(command: Any) -> Iterator[Any]:
        yield command
        for inner in getattr(command, "commands", {}).values():
            yield from commands_of(inner)

    text_commands = [
        command
        for command in commands_of(typer.main.get_command(app))
        if any(param.param_type_name == "argument" and param.metavar in TEXTS for param in command.params)
    ]
    assert len(text_commands) > 10
    assert [command.name for command in text_commands if not isinstance(command, TextCommand)] == []


def parameters(command: Any, context: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each parameter of a command and of its subcommands, with its context."""
    yield from ((parameter, context) for parameter in command.params)
    for name, inner in getattr(command, "commands", {}).items():
        yield from parameters(inner, type(context)(inner, parent=context, info_name=name))


def test_errors_of_invalid_option_values_have_no_python_wording() -> None:
    group = typer.main.get_command(app)
    messages = []
    for parameter, context in parameters(group, group.make_context("cairn", [], resilient_parsing=True)):
        if getattr(parameter, "is_flag", False):
            continue
        runtime = parameter.get_runtime_param()
        for wrong in ("wrong", "-1", "100000000"):
            given = [wrong] if parameter.multiple or parameter.nargs != 1 else wrong
            try:
                runtime.coerce(given, param=parameter, ctx=context)
            except typer.BadParameter as error:
                messages.append(describe_usage_error(error))
    assert len(messages) > 50
    assert [message for message in messages if PYTHON.search(message)] == []
