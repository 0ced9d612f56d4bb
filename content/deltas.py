"""A text as what it shares with another one, and what is its own between.

So the revisions of a text are stored beside the first of them: docs/decisions/0013-revisions-as-differences.md.
"""

from collections.abc import Sequence
from typing import NamedTuple

from .blocks import lines
from .sequences import Change, changes, common_head

PIECES_MAX = 200
PIECE_BYTES = 24  # that a piece takes besides its text, about


class Delta(NamedTuple):
    """Each piece is `length` bytes of the base from byte `start` on, in UTF-8, and then a text of its own."""

    starts: list[int]
    lengths: list[int]
    texts: list[str]

    @property
    def size(self) -> int:
        """In bytes, about."""
        return sum(len(text.encode()) + PIECE_BYTES for text in self.texts)


def delta(base: str, text: str) -> Delta | None:
    """How the text differs from the base; None where it would take too many pieces."""
    old, new = lines(base), lines(text)
    found = changes(old, new)
    if len(found) >= PIECES_MAX:
        return None
    starts, lengths, texts = [0], [], []
    end = place = 0
    for change in found:
        end += size(old[place : change.old_start])
        place = change.old_end
        skipped, taken, own = narrowed(old, new, change)
        lengths.append(end + skipped - starts[-1])
        starts.append(end + skipped + taken)
        texts.append(own)
        end += size(old[change.old_start : change.old_end])
    return Delta(starts, [*lengths, end + size(old[place:]) - starts[-1]], [*texts, ""])


def narrowed(old: Sequence[str], new: Sequence[str], change: Change) -> tuple[int, int, str]:
    """Of changed lines what really changed: (bytes that stay before it, bytes that it replaces, its text)."""
    before = "".join(old[change.old_start : change.old_end])
    after = "".join(new[change.new_start : change.new_end])
    head = common_head(before, after)
    tail = common_head(before[head:][::-1], after[head:][::-1])
    own = slice(head, len(after) - tail)
    return size([before[:head]]), size([before[head : len(before) - tail]]), after[own]


def size(texts: Sequence[str]) -> int:
    return sum(len(text.encode()) for text in texts)


def restored(base: str, found: Delta) -> str:
    """The text again. Postgres does the same where it is read."""
    whole = base.encode()
    parts = (whole[start : start + length] + text.encode() for start, length, text in zip(*found, strict=True))
    return b"".join(parts).decode()
