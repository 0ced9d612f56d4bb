"""Heads of requests that came before, byte for byte: read once, by uvicorn, and then known.

A client sends the same head with each request whose body is as long. What it says depends on nothing but its bytes, and
the connection adds who is at its other end.
"""

from typing import Any, NamedTuple

from starlette.types import Scope
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT

from selection.lru import LRU

from .comings import Comings
from .request import KNOWN, WHOLE, named

ENTRIES = 2048
LONGEST = 2048  # bytes of one
END = b"\r\n\r\n"


class Head(NamedTuple):
    """What one says: how many bytes follow, and a request's scope, in which the connection has to set its OWN."""

    length: int
    said: dict[str, Any]

    def scope(self) -> Scope:
        scope = self.said.copy()
        scope["headers"] = scope["headers"].copy()
        return scope


class Heads(LRU[Head]):
    """Of requests that came whole: a head and all of its body in one piece, and nothing else."""

    def __init__(self) -> None:
        super().__init__(ENTRIES)
        self.comings = Comings(ENTRIES)

    def met(self, data: bytes) -> tuple[Head, bytes] | None:
        """A head that is known and the body behind it, where that is all there is."""
        end = ending(data)
        head = self.find(data[:end])
        return (head, data[end:]) if head is not None and head.length == len(data) - end else None

    def learn(self, data: bytes, scope: Scope, body: bytes) -> None:
        """`data` is all that was read for a request which the connection outlives, from the first byte to the last.

        The end that is looked for here is the one that the parser found, and what is behind it came as it is, or the
        body would not be as long.
        """
        end = ending(data)
        is_whole = len(body) == len(data) - end <= HIGH_WATER_LIMIT
        if end and is_whole and self.comings.again(hash(data[:end])):
            named(scope)
            said = {**scope, **OWN, KNOWN: {}, "headers": scope["headers"].copy()}
            self.keep(data[:end], Head(len(body), said))


OWN: dict[str, Any] = dict.fromkeys(("client", "server", "scheme", "state", WHOLE))


def ending(data: bytes) -> int:
    """How long the head is, and 0 where it is too long to be known."""
    found = data.find(END, 0, LONGEST)
    return found + len(END) if found >= 0 else 0
