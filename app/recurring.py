"""Requests whose very bytes come again, such as home screens, polls and persisted documents: read once.

Only what the bytes say is remembered, and by the engine what that comes to. Who sends them, whether they may now and
what they pay is asked each time.
"""

from sys import intern
from typing import Any

from selection.kept import Slot
from selection.lru import LRU, Tally

from .comings import Comings
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
        self.comings = Comings(entries)

    def find(self, key: Any) -> Operation | None:
        """Looking for a long one would take long."""
        return super().find(key) if len(key) <= LARGEST else None

    def expected(self, asked: Operation) -> Operation:
        """With a slot, where it comes for the second time: what comes but once would only push out others."""
        if asked.slot is not None or len(asked.sent) > LARGEST or not self.comings.again(hash(asked.sent)):
            return asked
        return asked._replace(slot=Slot())

    def learn(self, asked: Operation) -> None:
        """Once it was executed. Does nothing where it is known, or nothing was kept of it."""
        if asked.slot is None or asked.slot.kept is None or asked.sent in self.entries:
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
