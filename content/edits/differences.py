"""Compare two texts: removed and added lines, changed words in lines, and deltas by which revisions are stored."""

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

from rapidfuzz.distance import Indel

from ..markdown.prose import lines

# A comparison needs a table of as many bits as the product of the lengths. Above this limit, all that lies between the
# common beginning and the common end counts as one change.
CELLS_MAX = 200_000_000


class SequenceChange(NamedTuple):
    """A change by which `old[old_start:old_end]` became `new[new_start:new_end]`; either may be empty."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def changes(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[SequenceChange]:
    """Return the changes in order. Any two are separated by at least one element that is the same in both."""
    head = common_head(old, new)
    tail = common_head(old[: head - 1 if head else None : -1], new[: head - 1 if head else None : -1])
    rows, columns = len(old) - head - tail, len(new) - head - tail
    if not rows and not columns:
        return []
    if rows * columns > CELLS_MAX:
        return [SequenceChange(head, len(old) - tail, head, len(new) - tail)]
    return merge_adjacent(old[head : head + rows], new[head : head + columns], head)


def common_head(old: Sequence[Hashable], new: Sequence[Hashable]) -> int:
    """Return how many elements both begin with."""
    shorter = min(len(old), len(new))
    return next((n for n in range(shorter) if old[n] != new[n]), shorter)


def merge_adjacent(old: Sequence[Hashable], new: Sequence[Hashable], offset: int) -> list[SequenceChange]:
    """Return the changes, with adjacent insertions and deletions merged into one."""
    numbers: dict[Hashable, int] = {}
    left, right = ([numbers.setdefault(element, len(numbers)) for element in elements] for elements in (old, new))
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


CONTEXT = 3  # lines that are shown before and after a change
LINES_MAX = 5_000  # lines that are shown; further lines are only counted
WORDS_MAX = 2_000  # characters of a line; a longer one is shown as changed as a whole
TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
UNENDED = "\\ No newline at end of file\n"


class DiffPart(NamedTuple):
    """A part of a line that its counterpart does not have. The unit is Unicode code points."""

    start: int
    length: int


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line without its line end, and its number in each text, from 1. `kind` is context, removed or added."""

    kind: str
    text: str
    old_line: int | None
    new_line: int | None
    parts: tuple[DiffPart, ...] = ()
    is_ended: bool = True


@dataclass(frozen=True, slots=True)
class Hunk:
    """Neighbouring changes with the lines around them. A start counts from 1, and is 0 if its text has no lines."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    lines: tuple[DiffLine, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two texts. If `is_truncated`, hunks are left out because there were too many lines.

    `removed` and `added` count all lines, also those of hunks that are left out.
    """

    hunks: tuple[Hunk, ...]
    removed: int
    added: int
    is_truncated: bool = False


def difference(old: str, new: str) -> Difference:
    """Compare two texts line by line."""
    before, after = lines(old), lines(new)
    found = changes(before, after)
    hunks: list[Hunk] = []
    left = LINES_MAX
    groups = list(group_changes(found))
    for group in groups:
        left -= group[-1].old_end - group[0].old_start + group[-1].new_end - group[0].new_start + 2 * CONTEXT
        if left < 0:
            break
        hunks.append(hunk(before, after, group))
    removed = sum(change.old_end - change.old_start for change in found)
    added = sum(change.new_end - change.new_start for change in found)
    return Difference(tuple(hunks), removed, added, is_truncated=len(hunks) < len(groups))


SIGNS = {"context": " ", "removed": "-", "added": "+"}
REST_NOT_SHOWN = "\\ The difference is too long: the rest is not shown.\n"  # `patch` ignores what follows a backslash


def unified_diff(found: Difference, old_name: str, new_name: str) -> str:
    """Return the difference as `diff -u` and `git` write it; "" where nothing changed."""
    if not found.hunks:
        return ""
    return f"--- {old_name}\n+++ {new_name}\n" + "".join(map(format_hunk, found.hunks))


def group_changes(found: Sequence[SequenceChange]) -> Iterator[list[SequenceChange]]:
    """Yield groups of changes. Changes are in one group if the lines around them touch."""
    group: list[SequenceChange] = []
    for change in found:
        if group and change.old_start - group[-1].old_end > 2 * CONTEXT:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def hunk(before: Sequence[str], after: Sequence[str], group: Sequence[SequenceChange]) -> Hunk:
    first, last = group[0], group[-1]
    lead = min(CONTEXT, first.old_start)
    tail = min(CONTEXT, len(before) - last.old_end)
    old_start, new_start = first.old_start - lead, first.new_start - lead
    shown: list[DiffLine] = []
    old_row, new_row = old_start, new_start
    for change in group:
        shown += context(before, old_row, new_row, change.old_start - old_row)
        shown += rewritten(before, after, change)
        old_row, new_row = change.old_end, change.new_end
    shown += context(before, old_row, new_row, tail)
    old_count, new_count = old_row + tail - old_start, new_row + tail - new_start
    return Hunk(old_start + bool(old_count), old_count, new_start + bool(new_count), new_count, tuple(shown))


def context(before: Sequence[str], old_row: int, new_row: int, count: int) -> list[DiffLine]:
    return [line("context", before[old_row + n], old_row + n + 1, new_row + n + 1) for n in range(count)]


def rewritten(before: Sequence[str], after: Sequence[str], change: SequenceChange) -> list[DiffLine]:
    """Return the removed and then the added lines of a change.

    The n-th removed line is compared with the n-th added.
    """
    removed, added = before[change.old_start : change.old_end], after[change.new_start : change.new_end]
    pairs = [changed_parts(old, new) if old and new else ((), ()) for old, new in zip_longest(removed, added)]
    return [
        *(line("removed", text, change.old_start + n + 1, None, pairs[n][0]) for n, text in enumerate(removed)),
        *(line("added", text, None, change.new_start + n + 1, pairs[n][1]) for n, text in enumerate(added)),
    ]


def changed_parts(old: str, new: str) -> tuple[tuple[DiffPart, ...], tuple[DiffPart, ...]]:
    """Return the parts that only the old line has, and those that only the new line has.

    There are no parts if the lines have little in common, or if one of them is too long.
    """
    if len(old) > WORDS_MAX or len(new) > WORDS_MAX:
        return (), ()
    left, right = TOKEN.findall(without_line_end(old)), TOKEN.findall(without_line_end(new))
    found = changes(left, right)
    here = tuple(
        diff_part(left, change.old_start, change.old_end) for change in found if change.old_end > change.old_start
    )
    there = tuple(
        diff_part(right, change.new_start, change.new_end) for change in found if change.new_end > change.new_start
    )
    if 2 * sum(part.length for part in here) > len(old) and 2 * sum(part.length for part in there) > len(new):
        return (), ()
    return here, there


def diff_part(tokens: Sequence[str], start: int, end: int) -> DiffPart:
    return DiffPart(len("".join(tokens[:start])), len("".join(tokens[start:end])))


def line(
    kind: str, text: str, old_line: int | None, new_line: int | None, parts: tuple[DiffPart, ...] = ()
) -> DiffLine:
    return DiffLine(kind, without_line_end(text), old_line, new_line, parts, is_ended=without_line_end(text) != text)


def without_line_end(text: str) -> str:
    """Return the line without its end."""
    return text.rstrip("\r\n")


def format_hunk(hunk: Hunk) -> str:
    head = f"@@ -{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@\n"
    return head + "".join(f"{SIGNS[line.kind]}{line.text}\n{'' if line.is_ended else UNENDED}" for line in hunk.lines)


def word_diff(found: Difference) -> str:
    """Return the difference as `unified_diff` does, without names, and with changed words as `[-went-]` and
    `{+came+}`."""
    return "".join(
        f"@@ -{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@\n"
        + "".join(f"{SIGNS[line.kind]}{mark_line(line)}\n" for line in hunk.lines)
        for hunk in found.hunks
    )


def mark_line(line: DiffLine) -> str:
    """Return a line with marks around its changed parts, or around all of it if it has no parts."""
    if line.kind == "context" or not line.text:
        return line.text
    opening, closing = ("[-", "-]") if line.kind == "removed" else ("{+", "+}")
    pieces, end = [], 0
    for part in line.parts or (DiffPart(0, len(line.text)),):
        until = part.start + part.length
        pieces += [line.text[end : part.start], opening, line.text[part.start : until], closing]
        end = until
    return "".join([*pieces, line.text[end:]])


PIECES_MAX = 200  # pieces of a delta
PIECE_BYTES = 24  # bytes that a piece takes besides its text, approximately


class Delta(NamedTuple):
    """The difference of a text from a base. Each piece is `length` bytes of the base from byte `start` on, in UTF-8,
    and then a text of its own."""

    starts: list[int]
    lengths: list[int]
    texts: list[str]

    @property
    def size(self) -> int:
        """Return the approximate number of bytes that the delta takes."""
        return sum(len(text.encode()) + PIECE_BYTES for text in self.texts)


def delta(base: str, text: str) -> Delta | None:
    """Return the delta from the base to the text; None if it would have too many pieces."""
    old, new = lines(base), lines(text)
    found = changes(old, new)
    if len(found) >= PIECES_MAX:
        return None
    starts, lengths, texts = [0], [], []
    end = place = 0
    for change in found:
        end += size(old[place : change.old_start])
        place = change.old_end
        skipped, taken, new_text = narrow(old, new, change)
        lengths.append(end + skipped - starts[-1])
        starts.append(end + skipped + taken)
        texts.append(new_text)
        end += size(old[change.old_start : change.old_end])
    return Delta(starts, [*lengths, end + size(old[place:]) - starts[-1]], [*texts, ""])


def narrow(old: Sequence[str], new: Sequence[str], change: SequenceChange) -> tuple[int, int, str]:
    """Narrow changed lines to the changed characters: (bytes that stay before them, replaced bytes, new text)."""
    before = "".join(old[change.old_start : change.old_end])
    after = "".join(new[change.new_start : change.new_end])
    head = common_head(before, after)
    tail = common_head(before[head:][::-1], after[head:][::-1])
    changed = slice(head, len(after) - tail)
    return size([before[:head]]), size([before[head : len(before) - tail]]), after[changed]


def size(texts: Sequence[str]) -> int:
    return sum(len(text.encode()) for text in texts)


def apply_delta(base: str, found: Delta) -> str:
    """Return the text that a delta makes of its base. Postgres does the same when a stored text is read."""
    whole = base.encode()
    parts = (whole[start : start + length] + text.encode() for start, length, text in zip(*found, strict=True))
    return b"".join(parts).decode()
