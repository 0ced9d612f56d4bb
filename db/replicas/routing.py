"""The route of a request: whether replicas may answer its reads, the log position they need, and the commits it made.

A position is a 64-bit position in the write-ahead log of the primary (an LSN). Without a route, as in jobs and
commands, and with one that is not open, as in streams, every statement runs on the primary.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .replica import Replica

POSITION = re.compile(r"([0-9A-Fa-f]{1,8})/([0-9A-Fa-f]{1,8})", re.ASCII)
UNKNOWN = 2**64 - 1
"""A position that no server ever reaches. A client that sends it reads from the primary."""


def format_position(position: int) -> str:
    """Return a position in the format for clients, like `16/B374D848`."""
    return f"{position >> 32:X}/{position & 0xFFFFFFFF:X}"


def parse_position(text: str) -> int:
    """Return the position that a client sends. Raises ValueError for an invalid one."""
    match = POSITION.fullmatch(text)
    if match is None:
        raise ValueError("it is no position")
    return int(match[1], 16) << 32 | int(match[2], 16)


class Route:
    """The route of one request.

    - `is_open`: whether replicas may answer its reads.
    - `wanted`: the position that the replica must have replayed.
    - `replica`: the replica that answers all its reads, once chosen.
    - `commits`: the number of transactions that the request has committed.
    - `told`: a position of the primary after the first `told_after` commits, which the client is told.
    """

    __slots__ = ("commits", "is_open", "replica", "told", "told_after", "wanted")

    def __init__(self, wanted: int = 0, *, is_open: bool = True) -> None:
        self.wanted = wanted
        self.is_open = is_open
        self.replica: Replica | None = None
        self.commits = 0
        self.told = 0
        self.told_after = 0


ROUTE: ContextVar[Route | None] = ContextVar("route", default=None)


def close_route() -> None:
    """Run all further reads of this request on the primary."""
    if (route := ROUTE.get()) is not None:
        route.is_open = False


def record_commit() -> None:
    """Record that this request has committed a write, or repeats the response of a request that has."""
    if (route := ROUTE.get()) is not None:
        route.is_open = False
        route.commits += 1


@contextmanager
def on_the_primary() -> Iterator[None]:
    """Run a block without a route: its transaction reads from the primary, and does not count as a write."""
    before = ROUTE.set(None)
    try:
        yield
    finally:
        ROUTE.reset(before)
