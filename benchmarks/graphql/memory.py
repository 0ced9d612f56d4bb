"""Measures whether the memory of Cairn grows with the number of requests that it has answered."""

from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from statistics import linear_regression
from typing import NamedTuple

from ..processes import Server, resident_mb
from . import wrk
from .database import notes
from .operations import Drawn
from .requests import asked

SLICE = 2  # seconds of load of one operation, then of the next
WARM = 0.25  # the share of all requests before growth is judged: caches fill first
FLAT = 10.0  # MB per million requests: less is noise of the memory allocator


class Look(NamedTuple):
    """The memory of the server's processes after a number of requests."""

    requests: int
    memory_mb: float


async def watched(
    server: Server, folder: Path, drawn: Mapping[str, Sequence[Drawn]], requests: int, every: int, connections: int
) -> list[Look]:
    """Put load on each operation in turn, and record the memory after every `every` requests."""
    sources = [wrk.Source(folder / f"{name}.requests") for name in drawn]
    for source, (name, some) in zip(sources, drawn.items(), strict=True):
        source.write(asked(server.name, name, some))
    looks, done = [Look(0, resident_mb([server.pid]))], 0
    for turn in count():
        load = await wrk.load(server.url, sources[turn % len(sources)], connections, SLICE)
        if load.errors:
            raise wrk.LoadFailed(f"{load.errors} answers were errors, such as {load.example}")
        done += load.requests
        if done - looks[-1].requests >= every or done >= requests:
            looks.append(Look(done, resident_mb([server.pid])))
            notes.print(f"{done:>12,} requests {looks[-1].memory_mb:8.1f} MB", highlight=False)
        if done >= requests:
            break
    return looks


def growth(looks: Sequence[Look]) -> float:
    """Return the MB that a million requests add: the slope of a line through the figures after the warm-up."""
    settled = [look for look in looks if look.requests >= WARM * looks[-1].requests]
    if len(settled) < 2:
        return 0.0
    line = linear_regression([look.requests / 1e6 for look in settled], [look.memory_mb for look in settled])
    return line.slope
