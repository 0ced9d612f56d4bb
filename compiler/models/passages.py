"""Passages of a section's sources that a writer is shown: the newest first, of a long one what concerns the page."""

from collections.abc import Iterable, Iterator, Sequence

from ..extraction.text import folded, padded
from ..planner import SectionTask, SourceText

SHOWN_MAX = 40_000  # characters of all sources
SOURCE_MAX = 6_000  # of one
READ_MAX = 200_000
GAP = "[…]"


def shown(task: SectionTask) -> list[tuple[SourceText, str]]:
    """Return the newest sources first, as many as there is room for; at least one."""
    newest = sorted(task.sources, key=lambda source: (source.captured_at, str(source.id)), reverse=True)
    found: list[tuple[SourceText, str]] = []
    left = SHOWN_MAX
    for source in newest:
        text = passages(source.content[:READ_MAX], (task.page_title, *sorted(task.page_aliases)))
        left -= len(text)
        if found and left < 0:
            break
        found.append((source, text))
    return found


def passages(text: str, names: Iterable[str]) -> str:
    """Return a long text's beginning and the lines that say one of the names, each with its neighbours."""
    if len(text) <= SOURCE_MAX:
        return text
    lines = text.splitlines()
    wanted = [padded(folded(name).strip()) for name in names if folded(name).strip()]
    saying = [n for n, line in enumerate(lines) if any(name in folded(line) for name in wanted)]
    near = {0} | {n + step for n in saying for step in (-1, 0, 1)}
    return "\n".join(bounded(lines, sorted(near)))


def bounded(lines: Sequence[str], wanted: Sequence[int]) -> Iterator[str]:
    """Yield these lines, with a mark where some are left out, up to the bound."""
    left, last = SOURCE_MAX, -1
    for n in wanted:
        if not 0 <= n < len(lines) or left <= 0:
            continue
        if n != last + 1:
            yield GAP
        yield lines[n][:left]
        left, last = left - len(lines[n]), n
