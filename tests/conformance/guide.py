"""Follows docs/tutorial/web-app.md command by command in an empty folder, with the packages of the lock file."""

import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from .programs import HERE, ROOT, Check, run

GUIDE = ROOT / "docs" / "tutorial" / "web-app.md"
FOLDER = HERE / "build" / "guide"
STEP = re.compile(
    r"^`(?P<path>[\w./]+)`[^\n]*:\n\n```\w+\n(?P<text>.*?)^```|^```sh\n(?P<commands>.*?)^```", re.DOTALL | re.MULTILINE
)
START, END = "## Start with graphql-codegen", "### Relay"
PRINTED = "Austin, Texas 2\n"


async def follow_guide(environment: Mapping[str, str]) -> list[Check]:
    """Write each file and run each command up to the check of its documents.

    `npm install` is replaced by the locked packages.
    """
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    (FOLDER / "schema.graphql").write_text((ROOT / "schema" / "schema.graphql").read_text())
    (FOLDER / "node_modules").symlink_to(HERE / "node_modules")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    given = {**environment, "CAIRN_TENANT_ID": environment["CAIRN_TENANT"], "PATH": path}
    checks: list[Check] = []
    text = GUIDE.read_text()
    for step in STEP.finditer(text, text.index(START), text.index(END)):
        if step["path"]:
            write(FOLDER / step["path"], step["text"])
            continue
        for command in filter(is_followed, step["commands"].splitlines()):
            result = await run("bash", "-euc", command, cwd=FOLDER, **given)
            passed = result.code == 0 and (result.text == PRINTED or not command.startswith("node "))
            checks.append(Check(command, passed, "" if passed else result.text[-2000:]))
            if not passed:
                return checks
    return checks


def is_followed(command: str) -> bool:
    """Return whether a command is run: packages are installed and variables set before."""
    return not command.startswith(("npm install", "export "))


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
