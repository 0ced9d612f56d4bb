"""The route of a request: whether replicas may answer its reads, what they must have for that, and what it wrote.

A position is one in the write-ahead log of the primary, as Postgres counts it: 64 bits. Without a route, as in jobs,
commands and subscriptions, every statement goes to the primary.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .replica import Replica

SHOWN = re.compile(r"([0-9A-Fa-f]{1,8})/([0-9A-Fa-f]{1,8})", re.ASCII)
UNKNOWN = 2**64 - 1
"""The position that no server ever reaches: whoever brings it reads on the primary."""


def format_position(position: int) -> str:
    """Return a position as clients are given it."""
    return f"{position >> 32:X}/{position & 0xFFFFFFFF:X}"


def parse_position(given: str) -> int:
    """Return the position that a client brings. Raises ValueError for what is none."""
    found = SHOWN.fullmatch(given)
    if found is None:
        raise ValueError("it is no position")
    return int(found[1], 16) << 32 | int(found[2], 16)


class Route:
    """One request on its way: `is_open` while replicas may answer it, `replica` is the one that does, `wanted` the
    position that it must have, and `commits` the transactions that were committed. `told` is the position that lay
    behind the first `told_after` of them."""

    __slots__ = ("commits", "is_open", "replica", "told", "told_after", "wanted")

    def __init__(self, wanted: int = 0, *, is_open: bool = True) -> None:
        self.wanted, self.is_open = wanted, is_open
        self.replica: Replica | None = None
        self.commits = self.told = self.told_after = 0


ROUTE: ContextVar[Route | None] = ContextVar("route", default=None)


def close_route() -> None:
    """Send what this request reads from now on to the primary."""
    if (route := ROUTE.get()) is not None:
        route.is_open = False


def record_commit() -> None:
    """Record that this request has written, or repeats the answer of one that has."""
    if (route := ROUTE.get()) is not None:
        route.is_open = False
        route.commits += 1


@contextmanager
def on_the_primary() -> Iterator[None]:
    """Read in a transaction, as the primary has it, without that being a write."""
    before = ROUTE.set(None)
    try:
        yield
    finally:
        ROUTE.reset(before)
