"""Requests whose very bytes come again, such as home screens, polls and persisted documents: read once.

Only what the bytes say is remembered, and by the engine what that comes to. Who sends them, whether they may now and
what they pay is asked each time.
"""

from collections.abc import Hashable
from sys import intern
from typing import cast

from selection.lru import LRU, Tally

from .request import Operation

ENTRIES = 8192
SIZE = 16_000_000  # bytes of memory in all, about
LARGEST = 8192  # bytes of one
BESIDES = 2500  # bytes of memory that one takes besides its own, about


class Requests(LRU[Operation]):
    """Reads alone that compile: what a write holds is seldom sent twice, and need not stay here."""

    def __init__(self, tally: Tally | None = None, *, entries: int = ENTRIES, size: int = SIZE) -> None:
        super().__init__(entries, "", tally)
        self.most, self.held = size, 0

    def find(self, key: Hashable) -> Operation | None:
        """Looking for a long one would take long."""
        return super().find(key) if len(cast(bytes, key)) <= LARGEST else None

    def learn(self, asked: Operation) -> None:
        """Once it was executed. Does nothing where it is known, too long, or no plan was kept for it."""
        slot = asked.slot
        if slot is None or slot.kept is None or len(asked.sent) > LARGEST or asked.sent in self.entries:
            return
        self.held += weight(asked.sent)
        self.keep(asked.sent, asked._replace(query=intern(asked.query)))
        while self.held > self.most:
            self.evict()

    def evict(self) -> bytes:
        sent: bytes = super().evict()
        self.held -= weight(sent)
        return sent


def weight(sent: bytes) -> int:
    """Of the bytes and the variables in them; the document is shared."""
    return BESIDES + 2 * len(sent)
