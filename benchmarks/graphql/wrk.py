"""Load by wrk: some connections kept busy with requests from a file."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .requests import Asked

SCRIPT = Path(__file__).with_name("wrk.lua")
FIGURES = re.compile(r"^figures (\d+) (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)$", re.MULTILINE)
LATE = 60  # seconds that wrk may take longer than it was told


@dataclass(frozen=True)
class Load:
    """What came of it. An answer that is no 200, or speaks of errors, is one; so is one that did not come."""

    requests: int
    seconds: float
    errors: int
    bytes: int
    p50_ms: float
    p99_ms: float
    example: str = ""


class LoadFailed(Exception):
    """wrk gave no figures; the message is what it said."""


def write(path: Path, asked: Sequence[Asked]) -> None:
    with path.open("wb") as file:
        for one in asked:
            wire = one.wire()
            file.write(b"%d\n%b" % (len(wire), wire))


async def load(url: str, requests: Path, connections: int, seconds: float) -> Load:
    """Ask again and again, for so long: whole seconds, as wrk counts."""
    process = await asyncio.create_subprocess_exec(
        "wrk", "-t1", f"-c{connections}", f"-d{max(1, round(seconds))}s", "--timeout", "20s",
        "-s", str(SCRIPT), url, "--", str(requests),
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        _, said = await asyncio.wait_for(process.communicate(), seconds + LATE)
    except TimeoutError:
        raise LoadFailed(f"wrk was not done {LATE} seconds after its time.") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return read(said.decode(errors="replace"))


def read(said: str) -> Load:
    """From what wrk.lua writes at the end; wrk counts microseconds."""
    found = FIGURES.search(said)
    if found is None:
        raise LoadFailed(said or "wrk said nothing")
    count, duration, errors, size, p50, p99, _ = map(int, found.groups())
    return Load(count, duration / 1e6, errors, size, p50 / 1e3, p99 / 1e3, said[found.end() :].strip())
