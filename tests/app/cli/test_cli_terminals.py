"""Commands on terminals and pipes whose encoding is not UTF-8."""

import json
import os
import shlex
import subprocess

import pytest

from tests.app.command_line import RunCommand
from tests.forked import COMMAND, ROOT

MARA = ("--tenant", "acme", "--owner", "mara")
TITLE = "Café 日本 🎉"


class Terminal:
    """Runs commands on one database, on a terminal of some encoding."""

    def __init__(self, dsn: str) -> None:
        self.environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "CAIRN_DATABASE_URL": dsn}

    def run(self, *arguments: str, encoding: str = "utf-8", stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        environment = self.environment | {"PYTHONIOENCODING": encoding}
        result = subprocess.run(
            [*COMMAND, *arguments], cwd=ROOT, env=environment, input=stdin, capture_output=True, timeout=60
        )
        assert b"Traceback" not in result.stderr, result.stderr
        return result


@pytest.fixture
def terminal(run_in_acme: RunCommand, dsn: str) -> Terminal:
    assert run_in_acme("create", "topic", TITLE, f"{TITLE} is warm.", "--slug", "cafe", *MARA).code == 0
    return Terminal(dsn)


def test_characters_outside_the_terminal_encoding_are_escaped(terminal: Terminal) -> None:
    assert rb"Caf\xe9 \u65e5" in terminal.run("page", "topic/cafe", *MARA, encoding="ascii").stdout
    assert b"Caf\xe9 \\u65e5" in terminal.run("search", "warm", *MARA, encoding="latin-1").stdout


def test_json_output_is_utf_8_in_every_terminal_encoding(terminal: Terminal) -> None:
    shown = terminal.run("page", "topic/cafe", *MARA, "--json", encoding="latin-1")
    assert json.loads(shown.stdout)["title"] == TITLE
    refused = terminal.run("create", "topic", TITLE, "x", "--slug", "cafe", *MARA, "--json", encoding="ascii")
    assert TITLE in json.loads(refused.stderr)["error"]["message"]
    undecodable = terminal.run("import", "caf\udce9.md", *MARA, "--json")
    assert "There is no caf\udce9.md" in json.loads(undecodable.stderr)["error"]["message"]


def test_commands_run_with_stdin_and_stdout_closed(terminal: Terminal) -> None:
    for command in ("search warm --json", "search warm", "append topic/cafe -"):
        line = f"{shlex.join(COMMAND)} {command} {shlex.join(MARA)} <&- >&-"
        result = subprocess.run(line, shell=True, cwd=ROOT, env=terminal.environment, capture_output=True, timeout=60)
        expected = b"cairn: text: There is nothing to append in this.\n" if "append" in command else b""
        assert result.stderr == expected


def test_stdin_is_read_as_utf_8_in_every_terminal_encoding(terminal: Terminal) -> None:
    append = ("append", "topic/cafe", "-", *MARA)
    assert terminal.run(*append, encoding="ascii", stdin="\ufeffÜber\r\n日本".encode()).returncode == 0
    body = json.loads(terminal.run("page", "topic/cafe", *MARA, "--json").stdout)["bodyMd"]
    assert body == f"{TITLE} is warm.\n\nÜber\n日本"
    for encoding in ("utf-8", "latin-1"):
        result = terminal.run(*append, encoding=encoding, stdin="café".encode("latin-1"))
        assert (result.returncode, result.stderr[:40]) == (1, b"cairn: The input on stdin is not UTF-8: ")
