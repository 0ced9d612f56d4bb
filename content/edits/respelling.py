"""Write a replacement into a text that has the replaced words with other whitespace.

An edit changes `old` into `new`. Only the differences between these two are applied. Elsewhere the text keeps its own
wrapping, indentation and line ends.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from .differences import SequenceChange, changes

WORD = re.compile(r"\S+")
CONTENT = re.compile(r"\S(?:[^\r\n]*\S)?")  # of a line that is not blank
BREAK = re.compile(r"\r\n|\r|\n")
SPACES = re.compile(r"\s*")


@dataclass(frozen=True)
class Pieces:
    """A text as pieces, which are words or lines, and the gaps of whitespace before, between and after them."""

    text: str
    spans: Sequence[tuple[int, int]]

    @classmethod
    def of(cls, text: str, piece: re.Pattern[str]) -> "Pieces":
        return cls(text, [found.span() for found in piece.finditer(text)])

    @cached_property
    def words(self) -> list[str]:
        return [self.text[start:end] for start, end in self.spans]

    @cached_property
    def gaps(self) -> list[str]:
        """Return the gap before each piece, and the gap after the last piece."""
        starts = [0, *(end for _, end in self.spans)]
        ends = [*(start for start, _ in self.spans), len(self.text)]
        return [self.text[start:end] for start, end in zip(starts, ends, strict=True)]


class Shift(NamedTuple):
    """The indentation of a line in the edit and in the text."""

    edit_indent: str = ""
    text_indent: str = ""

    def __call__(self, indent: str) -> str:
        """Return the indentation that a line of the replacement gets in the text."""
        if indent.startswith(self.edit_indent):
            return self.text_indent + indent[len(self.edit_indent) :]
        if self.edit_indent.startswith(indent):
            return self.text_indent[: max(0, len(self.text_indent) - len(self.edit_indent) + len(indent))]
        return indent


class PieceEdit:
    """An edit by pieces. For each new piece, `repeated` has the index of the old piece that it repeats, and
    `counterparts` the index of the old piece that it repeats or replaces. Without such a piece, either is None."""

    def __init__(self, old: str, new: str, piece: re.Pattern[str]) -> None:
        self.old, self.new, self.piece = Pieces.of(old, piece), Pieces.of(new, piece), piece
        self.repeated, self.counterparts = pair_pieces(self.old.words, self.new.words)
        self.spelled = cache(self.spell)  # many places have the same text

    def spell(self, shown: str, shift: Shift, ending: str | None) -> str:
        """Return the replacement as a part of a text would spell it."""
        return spell_pieces(Pieces.of(shown, self.piece), self, shift, ending)


def pair_pieces(old: Sequence[str], new: Sequence[str]) -> tuple[list[int | None], list[int | None]]:
    """Return for each new piece the index of the old piece that it repeats, and of the one that it repeats or
    replaces."""
    repeated: list[int | None] = [None] * len(new)
    counterparts: list[int | None] = [None] * len(new)
    old_place = new_place = 0
    for change in [*changes(old, new), SequenceChange(len(old), len(old), len(new), len(new))]:
        same = range(change.new_start - new_place)
        repeated[new_place : change.new_start] = [old_place + n for n in same]
        counterparts[new_place : change.new_start] = [old_place + n for n in same]
        for n in range(min(change.old_end - change.old_start, change.new_end - change.new_start)):
            counterparts[change.new_start + n] = change.old_start + n
        old_place, new_place = change.old_end, change.new_end
    return repeated, counterparts


class Replacement(NamedTuple):
    """A range [start, end) of a text, and the text that replaces it."""

    start: int
    end: int
    text: str


class Line(NamedTuple):
    """The parts of a line: its content, the whitespace before and after it, and the line end."""

    indent: str
    content: str
    trailing: str
    end: str


def lines_of(text: str) -> list[Line]:
    """Return the lines of a text; the last one has no line end, and may be empty."""
    return [Line(*split(line), end) for line, end in zip(BREAK.split(text), [*BREAK.findall(text), ""], strict=True)]


def split(line: str) -> tuple[str, str, str]:
    """Return the indentation, the content and the trailing whitespace of a line. A blank line is not indented."""
    if not (content := line.strip()):
        return "", "", line
    start = line.index(content)
    return line[:start], content, line[start + len(content) :]


class LineEdit:
    """An edit of whole lines that have other whitespace at their ends in the text.

    A line that the edit does not change stays as it is in the text, with its indentation and its line end. A line that
    gets other words keeps the whitespace around it. A new line is indented like its neighbour.
    """

    def __init__(self, old: str, new: str) -> None:
        old_lines = lines_of(old)
        has_end = len(old_lines) > 1 and old_lines[-1][:3] == ("", "", "")
        wanted = lines_of(new)
        self.removes_end = has_end and wanted[-1][:3] != ("", "", "")
        self.old = old_lines[:-1] if has_end else old_lines
        self.new = wanted[:-1] if has_end and not self.removes_end else wanted
        self.repeated, self.counterparts = pair_pieces(
            [line.content for line in self.old], [line.content for line in self.new]
        )
        self.spelled = cache(self.spell)  # many places have the same text

    def respell(self, text: str, start: int, end: int, ending: str | None) -> Replacement:
        """Return the replacement of the lines in [start, end), a range without the line end of the last line."""
        last = BREAK.match(text, end)
        return Replacement(
            start, last.end() if last else end, self.spelled(text[start:end], last[0] if last else "", ending)
        )

    def spell(self, shown: str, last: str, ending: str | None) -> str:
        """Return the new lines with the indentation and the line ends of the text."""
        lines = lines_of(shown)
        lines[-1] = lines[-1]._replace(end=last)
        usual = ending or next((line.end for line in lines if line.end), "\n")
        shift = next((self.shift(lines, place) for place in self.counterparts if place is not None), Shift())
        spelled_lines: list[Line] = []
        for wanted, repeated, counterpart in zip(self.new, self.repeated, self.counterparts, strict=True):
            if counterpart is not None and self.old[counterpart].content:
                shift = self.shift(lines, counterpart)
            before = spelled_lines[-1].end if spelled_lines else usual
            spelled_lines.append(
                self.line(wanted, lines, counterpart, shift, is_repeated=repeated is not None)._replace(
                    end=(lines[counterpart].end if counterpart is not None else before) or before
                )
            )
        if spelled_lines and (self.removes_end or not last):
            spelled_lines[-1] = spelled_lines[-1]._replace(end="")
        return "".join(map("".join, spelled_lines))

    def shift(self, lines: Sequence[Line], place: int) -> Shift:
        return Shift(edit_indent=self.old[place].indent, text_indent=lines[place].indent)

    def line(
        self, wanted: Line, lines: Sequence[Line], counterpart: int | None, shift: Shift, *, is_repeated: bool
    ) -> Line:
        """Return a line of the replacement. The caller sets its line end."""
        if not wanted.content:
            return lines[counterpart] if counterpart is not None and is_repeated else wanted
        if counterpart is None or not self.old[counterpart].content:
            return wanted._replace(indent=shift(wanted.indent))
        old_line, text_line = self.old[counterpart], lines[counterpart]
        indent = text_line.indent if old_line.indent == wanted.indent else shift(wanted.indent)
        return Line(
            indent,
            wanted.content,
            text_line.trailing if old_line.trailing == wanted.trailing else wanted.trailing,
            text_line.end,
        )


def line_end(text: str) -> str | None:
    """Return the line end of a text; None if it has none, or different ones."""
    ends = set(BREAK.findall(text))
    return ends.pop() if len(ends) == 1 else None


def with_line_ends(text: str, end: str | None) -> str:
    """Return the text with all its line ends replaced by `end`, if there is one."""
    return text if end is None else BREAK.sub(end, text)


def respell_pieces(text: str, start: int, end: int, edit: PieceEdit, ending: str | None) -> Replacement:
    """Return the replacement of the pieces in [start, end), which are as many as the edit has old pieces."""
    region = text[start:end]
    start, end = start + len(region) - len(region.lstrip()), end - len(region) + len(region.rstrip())
    indent = indentation(text, start)
    shift = Shift() if indent is None else Shift(BREAK.split(edit.old.gaps[0])[-1], indent)
    tail = trailing(text, end, edit, ending)
    if not edit.new.spans:
        whole_lines = indent is not None and BREAK.search(edit.old.gaps[-1])
        old_gap = edit.old.gaps[0] or (indent if whole_lines else "")
        return tail._replace(start=start - run_before(text, start, old_gap or ""))
    lead = leading(text, start, edit, shift, ending)
    return Replacement(lead.start, tail.end, lead.text + edit.spelled(text[start:end], shift, ending) + tail.text)


def spell_pieces(shown: Pieces, edit: PieceEdit, shift: Shift, ending: str | None) -> str:
    """Return the replacement from the first piece to the last.

    A gap that the edit does not change is that of the text.
    """
    parts: list[str] = []
    shift_of, respell = cache(line_shift), cache(shift_gap)  # many lines of a text have the same indentation
    for place, word in enumerate(edit.new.words):
        counterpart, repeated = edit.counterparts[place], edit.repeated[place]
        if counterpart and (own := shift_of(shown.gaps[counterpart], edit.old.gaps[counterpart])):
            shift = own
        if place:
            gap = edit.new.gaps[place]
            stays = (
                counterpart and edit.counterparts[place - 1] == counterpart - 1 and edit.old.gaps[counterpart] == gap
            )
            parts.append(shown.gaps[counterpart] if counterpart and stays else respell(gap, shift, ending))
        parts.append(word if repeated is None else shown.words[repeated])
    return "".join(parts)


def line_shift(shown_gap: str, old_gap: str) -> Shift | None:
    """Return the two indentations of a line; None if one of the gaps has no line break."""
    if not (BREAK.search(shown_gap) and BREAK.search(old_gap)):
        return None
    return Shift(edit_indent=BREAK.split(old_gap)[-1], text_indent=BREAK.split(shown_gap)[-1])


def shift_gap(gap: str, shift: Shift, ending: str | None) -> str:
    """Return a gap of the replacement, with the line ends and the indentation of the text."""
    *breaks, indent = BREAK.split(gap)
    if not breaks:
        return gap
    return with_line_ends(gap[: len(gap) - len(indent)], ending) + shift(indent)


def indentation(text: str, start: int) -> str | None:
    """Return the whitespace before a position on its line; None if there is something else before it."""
    row = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    before = text[row:start]
    return before if not before.strip() else None


def leading(text: str, start: int, edit: PieceEdit, shift: Shift, ending: str | None) -> Replacement:
    """Return the replacement of the whitespace before the first piece."""
    old_gap, new_gap = edit.old.gaps[0], edit.new.gaps[0]
    if old_gap == new_gap:
        return Replacement(start, start, "")
    if not old_gap:
        return Replacement(start, start, with_line_ends(new_gap, ending))
    moved = shift_gap(new_gap, shift, ending) if BREAK.search(new_gap) else shift(new_gap)
    return Replacement(start - run_before(text, start, old_gap), start, moved)


def run_before(text: str, end: int, gap: str) -> int:
    """Return the length of the whitespace before `end` that `gap` of the edit stands for.

    It is whitespace of the same line, or also of the lines before if the gap has a line break.
    """
    if not gap:
        return 0
    row = 0 if BREAK.search(gap) else max(text.rfind("\n", 0, end), text.rfind("\r", 0, end)) + 1
    return end - row - len(text[row:end].rstrip())


def trailing(text: str, end: int, edit: PieceEdit, ending: str | None) -> Replacement:
    """Return the replacement of the whitespace after the last piece, with as many line ends as the edit replaces."""
    old_gap = edit.old.gaps[-1]
    new_gap = edit.new.gaps[-1] if edit.new.spans else edit.new.text
    if old_gap == new_gap:
        return Replacement(end, end, "")
    return Replacement(end, end + run_length(text, end, old_gap), with_line_ends(new_gap, ending))


def run_length(text: str, start: int, gap: str) -> int:
    """Return the length of the whitespace from `start` on that `gap` of the edit stands for.

    It has as many line ends as the gap, if there are as many.
    """
    run = SPACES.match(text, start)
    if not gap or run is None:
        return 0
    breaks = list(BREAK.finditer(run[0]))
    wanted = len(BREAK.findall(gap))
    if wanted:
        return breaks[wanted - 1].end() if len(breaks) >= wanted else len(run[0])
    return breaks[0].start() if breaks else len(run[0])
