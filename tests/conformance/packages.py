"""The suites' own packages: those of the lock file, installed once."""

import hashlib
import json
import shutil
from collections.abc import Callable

from .running import HERE, run

LOCK, INSTALLED = HERE / "package-lock.json", HERE / "node_modules"
OLDEST = 20


class Lacking(Exception):
    """What this machine must have for the suites; the message says what to do."""


async def check_node() -> None:
    if not (shutil.which("node") and shutil.which("npm")):
        raise Lacking(f"node and npm are not here: the suites need Node {OLDEST} or newer.")
    version = (await run("node", "--version")).text.strip()
    if int(version.removeprefix("v").partition(".")[0]) < OLDEST:
        raise Lacking(f"Node {version} is too old: the suites need Node {OLDEST} or newer.")


async def install(told: Callable[[str], None]) -> None:
    """Nothing, where the packages of this very lock file are there. No package may run a script of its own."""
    mark, wanted = INSTALLED / ".lock-sha256", hashlib.sha256(LOCK.read_bytes()).hexdigest()
    if mark.exists() and mark.read_text() == wanted:
        return
    told("Installing the suites from npm (about half a minute, once)")
    said = await run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", patience=900)
    if said.code != 0:
        raise Lacking(f"npm could not install the suites:\n{said.text[-2000:]}")
    mark.write_text(wanted)


def version(package: str) -> str:
    """As it is locked."""
    locked = json.loads(LOCK.read_text())["packages"][f"node_modules/{package}"]["version"]
    return f"{package} {locked}"
