"""The numbers of one process: in its own memory, or in a file that the other processes of the service read.

An addition is one to a place in an array of floats. With a folder the array is the shared memory of a file, so that
what a process has counted outlives it, however it ends, and counters never go back.
"""

import mmap
import os
import time
from bisect import bisect_left
from collections.abc import Iterator, MutableSequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from .names import BY_NAME, SECONDS, Family

PLACES = 4096
WIDTH = len(SECONDS) + 2  # of a histogram: its buckets, the one without an upper bound, the sum of seconds
LOST = 0  # where the first WIDTH places take what came when all others were taken

Labels = tuple[str, ...]


class Series(NamedTuple):
    """One series of one process: a number, or the WIDTH of them that a histogram has."""

    family: Family
    labels: Labels
    values: list[float]


class Numbers:
    """Written by one process alone, on its event loop."""

    def __init__(self, folder: Path | None = None) -> None:
        self.places: dict[tuple[Family, Labels], int] = {}
        self.next = LOST + WIDTH
        self.values: MutableSequence[float]
        self.names: Any = None
        if folder is None:
            self.values = [0.0] * PLACES
        else:
            folder.mkdir(parents=True, exist_ok=True)
            stem = folder / f"{os.getpid()}-{time.time_ns()}"
            self.values = shared(stem.with_suffix(".numbers"))
            self.names = stem.with_suffix(".names").open("ab", buffering=0)

    def add(self, family: Family, *labels: str, amount: float = 1.0) -> None:
        self.values[self.place(family, labels)] += amount

    def set(self, family: Family, *labels: str, value: float) -> None:
        self.values[self.place(family, labels)] = value

    def observe(self, family: Family, *labels: str, seconds: float) -> None:
        place = self.place(family, labels)
        self.values[place + bisect_left(SECONDS, seconds)] += 1.0
        self.values[place + WIDTH - 1] += seconds

    def place(self, family: Family, labels: Labels) -> int:
        found = self.places.get((family, labels))
        return self.take(family, labels) if found is None else found

    def take(self, family: Family, labels: Labels) -> int:
        width = width_of(family)
        if self.next + width > PLACES:
            return LOST
        place, self.next = self.next, self.next + width
        self.places[family, labels] = place
        if self.names is not None:
            self.names.write(orjson.dumps([place, family.name, labels]) + b"\n")
        return place

    def close(self) -> None:
        """What was counted stays in its file; what is counted from now on stays in memory."""
        if self.names is not None:
            self.names.close()
            self.names = None

    def series(self) -> Iterator[Series]:
        for (family, labels), place in list(self.places.items()):
            yield Series(family, labels, list(self.values[place : place + width_of(family)]))


def width_of(family: Family) -> int:
    return WIDTH if family.kind == "histogram" else 1


def shared(path: Path) -> MutableSequence[float]:
    with path.open("wb+") as file:
        file.truncate(PLACES * 8)
        values: Any = memoryview(mmap.mmap(file.fileno(), PLACES * 8)).cast("d")
    return values  # type: ignore[no-any-return]


def of_all(folder: Path) -> Iterator[Series]:
    """The series of every process that has served from this folder; gauges of those alone that still live."""
    for names in sorted(folder.glob("*.names")):
        with suppress(FileNotFoundError):  # the service is stopping
            lives = is_alive(int(names.stem.partition("-")[0]))
            yield from (series for series in kept(names) if lives or series.family.kind != "gauge")


def kept(names: Path) -> Iterator[Series]:
    values = memoryview(names.with_suffix(".numbers").read_bytes()).cast("d")
    for line in names.read_bytes().splitlines(keepends=True):
        if line.endswith(b"\n"):  # else it is being written
            place, name, labels = orjson.loads(line)
            family = BY_NAME[name]
            yield Series(family, tuple(labels), list(values[place : place + width_of(family)]))


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
