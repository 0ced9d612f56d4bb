"""Measures whether the memory of Cairn grows with the number of requests that it has answered."""

from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from statistics import linear_regression
from typing import NamedTuple

from ..processes import Server, resident_mb
from . import wrk
from .database import stderr
from .operations import Drawn
from .requests import build_requests

SECONDS_PER_TURN = 2  # seconds of load of one operation, then of the next
WARM_UP_SHARE = 0.25  # the share of all requests before growth is judged: caches fill first
MAX_GROWTH = 10.0  # MB per million requests: less is noise of the memory allocator


class MemorySample(NamedTuple):
    """The memory of the server's processes after a number of requests."""

    requests: int
    memory_mb: float


async def watch_memory(
    server: Server, folder: Path, drawn: Mapping[str, Sequence[Drawn]], requests: int, every: int, connections: int
) -> list[MemorySample]:
    """Put load on each operation in turn, and record the memory after every `every` requests."""
    sources = [wrk.Source(folder / f"{name}.requests") for name in drawn]
    for source, (name, some) in zip(sources, drawn.items(), strict=True):
        source.write(build_requests(server.name, name, some))
    samples, done = [MemorySample(0, resident_mb([server.pid]))], 0
    for turn in count():
        load = await wrk.load(server.url, sources[turn % len(sources)], connections, SECONDS_PER_TURN)
        if load.errors:
            raise wrk.LoadFailed(f"{load.errors} answers were errors, such as {load.example}")
        done += load.requests
        if done - samples[-1].requests >= every or done >= requests:
            samples.append(MemorySample(done, resident_mb([server.pid])))
            stderr.print(f"{done:>12,} requests {samples[-1].memory_mb:8.1f} MB", highlight=False)
        if done >= requests:
            break
    return samples


def growth(samples: Sequence[MemorySample]) -> float:
    """Return the MB that a million requests add: the slope of a line through the figures after the warm-up."""
    settled = [connection for connection in samples if connection.requests >= WARM_UP_SHARE * samples[-1].requests]
    if len(settled) < 2:
        return 0.0
    line = linear_regression(
        [connection.requests / 1e6 for connection in settled], [connection.memory_mb for connection in settled]
    )
    return line.slope
