"""How long a section that is written may be, beside what people wrote."""

from collections.abc import Sequence

CHARACTERS_MAX = 6_000


def bounded(lines: Sequence[str]) -> list[str]:
    """The first lines, as many as there is room for."""
    kept, size = [], 0
    for line in lines:
        size += len(line) + 1
        if size > CHARACTERS_MAX:
            break
        kept.append(line)
    return kept
