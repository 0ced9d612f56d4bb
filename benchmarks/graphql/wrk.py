"""Runs wrk, which keeps some connections busy with requests from a file."""

import asyncio
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from .requests import HttpRequest

SCRIPT = Path(__file__).with_name("wrk.lua")
FIGURES = re.compile(r"^figures (\d+) (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)$", re.MULTILINE)
LATE = 60  # seconds that wrk may take longer than requested


@dataclass(frozen=True)
class Load:
    """The result of a load. An error is a status other than 200, a body with `errors`, or no response."""

    requests: int
    seconds: float
    errors: int
    bytes: int
    p50_ms: float
    p99_ms: float
    example: str = ""


class LoadFailed(Exception):
    """wrk printed no figures. The message is what it printed instead."""


class Source:
    """A file of requests. Each load continues after the last one, at the beginning of a batch."""

    def __init__(self, path: Path, batch: int = 1) -> None:
        self.path, self.batch = path, batch
        self.batches = self.next = 0

    def write(self, requests: Sequence[HttpRequest]) -> None:
        """Replace the requests, and begin with the first request again."""
        with self.path.open("wb") as file:
            for request in requests:
                wire = request.wire()
                file.write(b"%d\n%b" % (len(wire), wire))
        self.batches, self.next = max(1, len(requests) // self.batch), 0

    @property
    def start(self) -> int:
        """The number of requests that the next load skips."""
        return self.next * self.batch

    def advance(self, count: int) -> None:
        """Skip the requests that were sent, and the rest of the last batch."""
        self.next = (self.next + ceil(count / self.batch)) % self.batches


async def load(url: str, source: Source, connections: int, seconds: float) -> Load:
    """Send requests for a number of whole seconds, each with its own traceparent."""
    process = await asyncio.create_subprocess_exec(
        "wrk", "-t1", f"-c{connections}", f"-d{max(1, round(seconds))}s", "--timeout", "20s",
        "-s", str(SCRIPT), url, "--", str(source.path), str(source.start), secrets.token_hex(8),
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        _, output = await asyncio.wait_for(process.communicate(), seconds + LATE)
    except TimeoutError:
        raise LoadFailed(f"wrk was not done {LATE} seconds after its time.") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    found = read(output.decode(errors="replace"))
    source.advance(found.requests + connections)
    return found


def read(output: str) -> Load:
    """Parse the line that wrk.lua prints at the end; wrk counts in microseconds."""
    found = FIGURES.search(output)
    if found is None:
        raise LoadFailed(output or "wrk said nothing")
    count, duration, errors, size, p50, p99, _ = map(int, found.groups())
    return Load(count, duration / 1e6, errors, size, p50 / 1e3, p99 / 1e3, output[found.end() :].strip())
