"""The commands of docs/tutorial/first-wiki.md succeed when they are run in order."""

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from tests.app.command_line import environment
from tests.app.service import SECRET, serving
from tests.forked import ROOT

PAGE = ROOT / "docs" / "tutorial" / "first-wiki.md"
COMMANDS = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)
ADDRESS = "http://127.0.0.1:8000"
CAIRN = 'cairn() { "$PYTHON" -c "import sys; from app.cli import main; sys.exit(main())" "$@"; }\n'


async def test_each_command_of_the_first_tutorial_works(dsn: str, tmp_path: Path) -> None:
    install, *steps, serve, ask = COMMANDS.findall(PAGE.read_text(encoding="utf-8"))
    assert "make install" in install
    assert serve.strip() == "cairn serve"
    named = dict(re.findall(r"(CAIRN_\w+)=(\w+)", install))
    settings = {"CAIRN_DATABASE_URL": dsn, "CAIRN_JWT_SECRET": SECRET, "PYTHON": sys.executable}
    env = os.environ | environment(tmp_path / "data") | named | settings

    async def run(script: str) -> str:
        command = ["bash", "-euo", "pipefail", "-c", CAIRN + script]
        result = await asyncio.to_thread(subprocess.run, command, cwd=tmp_path, env=env, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        return result.stdout

    shown = [await run(step) for step in steps]
    assert "entity/barton-springs" in shown[1], "the search corrects a mistake, and the page says what links to it"
    assert "[^2026-02-15]" in shown[2]
    async with serving(dsn, tmp_path) as service:
        answer = json.loads(await run(ask.replace(ADDRESS, service.url)))
    sections = [section for page in answer["data"]["recentWikiPages"] for section in page["sections"]]
    assert {source["ref"] for section in sections for source in section["sources"]["nodes"]} == {
        "2026-02-15",
        "2026-02-16",
    }
