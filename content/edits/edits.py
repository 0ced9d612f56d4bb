"""Replace an old text by a new one within a text, even if the caller quotes the old text with other whitespace.

Five passes search for the old text, each more tolerant than the one before, and the first that finds it is used:
docs/decisions/0016-tolerant-edits.md. Nothing outside of the matches changes.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from .respelling import BREAK, CONTENT, WORD, LineEdit, PieceEdit, Replacement, line_end, respell_pieces, with_line_ends
from .similarity import ComparisonBudget, Nearest, likeness, nearest

LINES_NAMED = 20  # line numbers in an error
BLOCKS_MAX = 100  # matches of the pass `block`
LIKENESS_MIN = 0.6  # likeness from which two lines count as similar


class Edited(NamedTuple):
    """The text after an edit, and the pass that matched.

    `lines` are the lines, from 1, where its replacements begin.
    """

    text: str
    matched_by: str
    lines: tuple[int, ...]
    lines_removed: int
    lines_added: int


class TextEditFailed(ValueError):
    """The old text was not found by any of `passes`. `nearest` is the most similar part, None if the text is empty."""

    def __init__(self, passes: tuple[str, ...], nearest: Nearest | None) -> None:
        where = f" The text nearest to it begins at line {nearest.line}." if nearest else " The text is empty."
        super().__init__(f"The old text was not found.{where} Read the text again and quote it as it stands.")
        self.passes, self.nearest = passes, nearest


class TextEditAmbiguous(ValueError):
    """The old text occurs more than once. `lines` are the lines of its first twenty occurrences, counted from 1."""

    def __init__(self, count: int, lines: tuple[int, ...], matched_by: str) -> None:
        several = tuple(dict.fromkeys(lines))
        shown = ", ".join(map(str, several)) + (", …" if len(lines) < count else "")
        super().__init__(
            f"The old text is there {count} times, in line{'s' if len(several) > 1 else ''} {shown}. "
            "Quote more of what stands around it, or replace all of them."
        )
        self.count, self.lines, self.matched_by = count, lines, matched_by


class NothingToFind(ValueError):
    """The old text is empty."""


Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TextSearch:
    """The places where a pass finds the old text. If `overlapping`, there are two, and they share characters."""

    spans: list[Span]
    overlapping: bool = False

    @property
    def replaceable(self) -> list[Span]:
        """Return the places that do not overlap, so that all of them can be replaced."""
        return self.spans[:1] if self.overlapping else self.spans


def edit(text: str, old: str, new: str, *, replace_all: bool = False) -> Edited:
    """Replace the old text, which must occur once unless `replace_all`, by the new text.

    Raises NothingToFind, TextEditFailed and TextEditAmbiguous.
    """
    if not old:
        raise NothingToFind("The old text is empty: quote what is to be replaced, or append to the text instead.")
    tried: list[str] = []
    for name, find in PASSES.items():
        if not can_match(name, old):
            continue
        tried.append(name)
        found = find(text, old)
        if found.spans:
            refuse_ambiguous(text, name, found, replace_all)
            return replace_spans(text, name, replacements(text, name, found.replaceable, old, new))
    if not old.strip():
        raise NothingToFind(
            "The old text is nothing but whitespace, and that does not stand there: quote the words too."
        )
    raise TextEditFailed(tuple(tried), nearest(text, old))


def can_match(name: str, old: str) -> bool:
    """Return whether a pass can find the old text: only `exact` finds whitespace alone, and `block` needs several
    lines."""
    if name == "exact":
        return True
    return bool(old.strip()) and (name != "block" or bool(BREAK.search(old.strip())))


def refuse_ambiguous(text: str, name: str, found: TextSearch, replace_all: bool) -> None:
    """Raise TextEditAmbiguous if there are several places and not all of them are to be replaced."""
    if len(found.spans) > 1 and not replace_all:
        row = line_finder(text)
        raise TextEditAmbiguous(len(found.spans), tuple(row(start) for start, _ in found.spans[:LINES_NAMED]), name)


def line_finder(text: str) -> Callable[[int], int]:
    """Return a function that returns the line of a position, from 1."""
    starts = [found.end() for found in BREAK.finditer(text)]
    return lambda position: bisect_right(starts, position) + 1


# -- the passes


def exactly(text: str, old: str) -> TextSearch:
    """Find the old text as it is written."""
    return occurrences(text, old)


def by_lines(text: str, old: str) -> TextSearch:
    """Find whole lines, ignoring the whitespace at their ends."""
    shown = BREAK.split(text)
    starts = [0, *(found.end() for found in BREAK.finditer(text))]
    old_lines = [line.strip() for line in BREAK.split(old.removesuffix(final_line_end(old)))]
    stripped = [line.strip() for line in shown]
    found = occurrences("\n" + "\n".join(stripped) + "\n", "\n" + "\n".join(old_lines) + "\n", shared=1)
    offsets = list(accumulate((len(line) + 1 for line in stripped), initial=0))
    spans = []
    for start, _ in found.spans:
        first = bisect_right(offsets, start) - 1
        last = first + len(old_lines) - 1
        spans.append((starts[first], starts[last] + len(shown[last])))
    return TextSearch(spans, found.overlapping)


def by_words(text: str, old: str) -> TextSearch:
    """Find the words of the old text, with any whitespace wherever the old text has some."""
    words = list(WORD.finditer(text))
    haystack = f" {' '.join(word[0] for word in words)} "
    before, after = (" " * character.isspace() for character in (old[0], old[-1]))
    found = occurrences(haystack, f"{before}{' '.join(old.split())}{after}", shared=len(before and after))
    offsets = list(accumulate((len(word[0]) + 1 for word in words), initial=1))

    def place(position: int) -> int:
        word = bisect_right(offsets, position) - 1
        return words[word].start() + position - offsets[word]

    spans = [(place(start + len(before)), place(end - len(after) - 1) + 1) for start, end in found.spans]
    return TextSearch(spans, found.overlapping)


def by_indentation(text: str, old: str) -> TextSearch:
    """Find lines, ignoring their indentation."""
    starts = [0, *(found.end() for found in BREAK.finditer(text))]
    lines = BREAK.split(text)
    bare = [line.lstrip() for line in lines]
    wanted = "\n".join(line.lstrip() for line in BREAK.split(old.removesuffix(final_line_end(old))))
    found = occurrences("\n".join(bare), wanted)
    offsets = list(accumulate((len(line) + 1 for line in bare), initial=0))

    def place(position: int) -> int:
        row = bisect_right(offsets, position) - 1
        return starts[row] + len(lines[row]) - len(bare[row]) + position - offsets[row]

    return TextSearch([(place(start), place(end - 1) + 1) for start, end in found.spans], found.overlapping)


def by_block(text: str, old: str) -> TextSearch:
    """Find as many lines, without blank ones, that are similar: the first, the last, and those between on average."""
    old_lines = CONTENT.findall(old)
    shown = list(CONTENT.finditer(text))
    found = list(blocks([line[0] for line in shown], old_lines))
    starts = [start for n, start in enumerate(found) if not n or start >= found[n - 1] + len(old_lines)]
    overlapping = len(starts) == 1 and len(found) > 1
    spans = [
        (shown[first].start(), shown[first + len(old_lines) - 1].end())
        for first in (found[:2] if overlapping else starts)
    ]
    return TextSearch(spans, overlapping)


def blocks(shown: list[str], old_lines: list[str]) -> Iterator[int]:
    """Yield the indexes of the lines where similar blocks begin, at most BLOCKS_MAX.

    Nothing is yielded if the comparisons exceed their budget.
    """
    budget, found = ComparisonBudget(), []
    for start in range(len(shown) - len(old_lines) + 1):
        if is_block(shown, start, old_lines, budget):
            found.append(start)
        if budget.is_spent:
            return
        if len(found) == BLOCKS_MAX:
            break
    yield from found


def is_block(shown: list[str], start: int, old_lines: list[str], budget: ComparisonBudget) -> bool:
    """Return whether the lines from `start` on are similar to those of the old text."""
    last = len(old_lines) - 1
    if not all(likeness(shown[start + end], old_lines[end], LIKENESS_MIN, budget) for end in (0, last)):
        return False
    missing = (last - 1) * (1 - LIKENESS_MIN)
    for n in range(1, last):
        missing -= 1 - likeness(shown[start + n], old_lines[n], 0.0, budget)
        if missing < -1e-9 or budget.is_spent:
            return False
    return True


PASSES: dict[str, Callable[[str, str], TextSearch]] = {
    "exact": exactly,
    "lines": by_lines,
    "whitespace": by_words,
    "indentation": by_indentation,
    "block": by_block,
}


def final_line_end(old: str) -> str:
    """Return the line end at the end of the old text; "" if it has none."""
    return next((end for end in ("\r\n", "\n", "\r") if old.endswith(end)), "")


def occurrences(haystack: str, needle: str, shared: int = 0) -> TextSearch:
    """Find all occurrences of `needle`, which may overlap only in `shared` characters at their ends."""
    spans, position = [], haystack.find(needle)
    second = haystack.find(needle, position + 1) if position >= 0 else -1
    while position >= 0:
        spans.append((position, position + len(needle)))
        position = haystack.find(needle, position + len(needle) - shared)
    overlapping = len(spans) == 1 and second >= 0
    return TextSearch([*spans, (second, second + len(needle))] if overlapping else spans, overlapping)


# -- replacing what was found


def replacements(text: str, name: str, spans: list[Span], old: str, new: str) -> list[Replacement]:
    """Return the replacements of the places that the pass `name` found.

    An exact match is replaced by the new text as it is, but with the line ends of the text if the old text has none.
    """
    if name == "exact":
        new = new if BREAK.search(old) else with_line_ends(new, line_end(text))
        return [Replacement(start, end, new) for start, end in spans]
    ending = line_end(text)
    if name == "lines":
        line_edit = LineEdit(old, new)
        return [line_edit.respell(text, start, end, ending) for start, end in spans]
    piece_edit = PieceEdit(old, new, CONTENT if name == "block" else WORD)
    return without_overlaps([respell_pieces(text, start, end, piece_edit, ending) for start, end in spans])


def without_overlaps(found: list[Replacement]) -> list[Replacement]:
    """Return the replacements without overlaps, so that the whitespace between two of them is replaced only once."""
    position, cut = 0, []
    for replacement in found:
        if replacement.start < position:
            replacement = Replacement(position, max(replacement.end, position), replacement.text)
        cut.append(replacement)
        position = cut[-1].end
    return cut


def replace_spans(text: str, name: str, found: list[Replacement]) -> Edited:
    parts, position, row, lines = [], 0, 1, []
    removed = added = 0
    breaks_of, lines_of = cache(count_breaks), cache(count_lines)  # many texts are equal
    for start, end, new in found:
        before, old = text[position:start], text[start:end]
        row += breaks_of(before)
        lines.append(row)
        row += breaks_of(new)
        parts += [before, new]
        position = end
        if new != old:
            removed += lines_of(old)
            added += lines_of(new)
    return Edited("".join(parts) + text[position:], name, tuple(lines), removed, added)


def count_breaks(text: str) -> int:
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def count_lines(text: str) -> int:
    """Return the number of lines of a text."""
    return count_breaks(text) + (text[-1] not in "\r\n") if text else 0
