"""Runs a program of a suite, and turns its output into checks."""

import asyncio
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LINE = re.compile(r"^(ok|not ok) (.+)$", re.MULTILINE)
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Check(NamedTuple):
    """One check of a suite. `detail` says what was wrong, or what was counted."""

    name: str
    passed: bool
    detail: str = ""


class Output(NamedTuple):
    code: int
    text: str


async def run(*command: str, patience: float = 300, cwd: Path = HERE, **environment: str) -> Output:
    """Run a program and return its output. If it takes longer than `patience` seconds, it is killed: code 124."""
    started = await asyncio.create_subprocess_exec(
        *command,
        cwd=cwd,
        env=os.environ | environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(patience):
            output, _ = await started.communicate()
    except TimeoutError:
        started.kill()
        await started.wait()
        return Output(124, f"{command[0]} did not end within {patience:.0f} seconds")
    return Output(started.returncode or 0, COLOURS.sub("", output.decode(errors="replace")))


async def lines(*command: str, environment: Mapping[str, str]) -> list[Check]:
    """Return a check for each line "ok …" or "not ok …". A program that fails without such a line is a failed check."""
    result = await run(*command, **environment)
    checks = [Check(name, kind == "ok") for kind, name in LINE.findall(result.text)]
    if not checks or (result.code != 0 and all(check.passed for check in checks)):
        checks.append(Check(command[-1], False, result.text[-2000:]))
    return checks


async def check_exit_code(name: str, *command: str, cwd: Path = HERE) -> Check:
    """Run a tool that reports success by its exit code."""
    result = await run(*command, cwd=cwd)
    return Check(name, result.code == 0, "" if result.code == 0 else result.text[-2000:])
