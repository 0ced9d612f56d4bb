"""The position of the words in a sentence that state a decision."""

from typing import NamedTuple


class Stated(NamedTuple):
    """The position of the words in a sentence that state a decision."""

    start: int
    end: int
    is_sure: bool = False
    """Whether it gets a page without a name or a reason."""
    is_weak: bool = False
    """Whether it gets a page only with both a reason and a name or a contrast."""
    is_whole: bool = False
    """Whether the whole sentence is the decision, also the words before the position."""
    until: int | None = None
    """The end of what was decided, before a label like `（決定）`, or None for the end of the sentence."""
