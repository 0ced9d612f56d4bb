"""The differences of two sequences: the fewest elements that change one into the other."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from rapidfuzz.distance import Indel

# What is compared keeps a table of as many bits as the product of the lengths. Beyond this the whole is one change.
CELLS_MAX = 200_000_000


class SequenceChange(NamedTuple):
    """A change by which `old[old_start:old_end]` became `new[new_start:new_end]`; either may be empty."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def changes(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[SequenceChange]:
    """Return the changes in order, none touching the next. What lies between two of them is the same in both."""
    head = common_head(old, new)
    tail = common_head(old[: head - 1 if head else None : -1], new[: head - 1 if head else None : -1])
    rows, columns = len(old) - head - tail, len(new) - head - tail
    if not rows and not columns:
        return []
    if rows * columns > CELLS_MAX:
        return [SequenceChange(head, len(old) - tail, head, len(new) - tail)]
    return joined(old[head : head + rows], new[head : head + columns], head)


def common_head(old: Sequence[Hashable], new: Sequence[Hashable]) -> int:
    """Return how many elements both begin with."""
    shorter = min(len(old), len(new))
    return next((n for n in range(shorter) if old[n] != new[n]), shorter)


def joined(old: Sequence[Hashable], new: Sequence[Hashable], offset: int) -> list[SequenceChange]:
    """Return the changes, an insertion beside a deletion as one."""
    numbers: dict[Hashable, int] = {}
    left, right = ([numbers.setdefault(one, len(numbers)) for one in each] for each in (old, new))
    found: list[SequenceChange] = []
    for code in Indel.opcodes(left, right):
        if code.tag == "equal":
            continue
        ends = code.src_start, code.src_end, code.dest_start, code.dest_end
        change = SequenceChange(*(end + offset for end in ends))
        if found and (found[-1].old_end, found[-1].new_end) == (change.old_start, change.new_start):
            change = SequenceChange(found[-1].old_start, change.old_end, found.pop().new_start, change.new_end)
        found.append(change)
    return found
