"""Installs the suites' npm packages of the lock file, once."""

import hashlib
import json
import shutil
from collections.abc import Callable

from .programs import HERE, run

LOCK, INSTALLED = HERE / "package-lock.json", HERE / "node_modules"
OLDEST = 20


class MissingProgram(Exception):
    """This machine lacks a program that the suites need. The message says what to do."""


async def check_node() -> None:
    if not (shutil.which("node") and shutil.which("npm")):
        raise MissingProgram(f"node and npm are not here: the suites need Node {OLDEST} or newer.")
    version = (await run("node", "--version")).text.strip()
    if int(version.removeprefix("v").partition(".")[0]) < OLDEST:
        raise MissingProgram(f"Node {version} is too old: the suites need Node {OLDEST} or newer.")


async def install(report: Callable[[str], None]) -> None:
    """Install the packages unless those of this lock file are installed. Install scripts of packages are not run."""
    mark, wanted = INSTALLED / ".lock-sha256", hashlib.sha256(LOCK.read_bytes()).hexdigest()
    if mark.exists() and mark.read_text() == wanted:
        return
    report("Installing the suites from npm (about half a minute, once)")
    result = await run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", patience=900)
    if result.code != 0:
        raise MissingProgram(f"npm could not install the suites:\n{result.text[-2000:]}")
    mark.write_text(wanted)


def version(package: str) -> str:
    """Return the package's name with its version in the lock file."""
    locked = json.loads(LOCK.read_text())["packages"][f"node_modules/{package}"]["version"]
    return f"{package} {locked}"
