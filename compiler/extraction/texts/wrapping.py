"""Joining lines that a program has wrapped, as editors and mail programs do at 72 or 80 characters.

A text is wrapped if most of its lines that another line of prose follows are full: the first word of the next line
would not fit into the longest of them. Lines that end early were ended by their writer, and are kept.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from content.search.words import SPACELESS

WIDTH_MIN, WIDTH_MAX = 50, 100  # characters of the longest line of a wrapped text
FULL_SHARE = 0.7  # share of the lines before another line of prose that are full
SURE_MIN = 3  # full lines, from which on a text is surely wrapped; with fewer, the next line begins in small letters
# The beginnings of lines that do not continue a paragraph: items, quotes, headings, tables, fences, tags, and fields or
# turns of a conversation.
BLOCK = re.compile(
    r"\s*(?:$|[-*+•](?:\s|$)|[>|#~`=<{%:$]|\d{1,3}[.)](?:\s|$)|!?\[\[?[\w-]{0,3}\]|[-*_=]{3,}"
    r"|[^\W\d_][\w .'-]{0,30}: )|\s{8}"
)
NO_PROSE = re.compile(r"\s*(?:$|[>|#~`=<{%:$]|[-*_=]{3,})")  # the beginnings of lines that no line continues
BREAK = ("  ", "\\")  # the ends of a line before a break of markdown
FENCE = re.compile(r" {0,8}(?:```|~~~)")


def unwrapped(lines: Sequence[str]) -> list[str]:
    """Return the lines, with those joined that are the wrapped parts of one."""
    full = _full_lines(lines)
    if not full:
        return list(lines)
    joined: list[str] = []
    for at, line in enumerate(lines):
        if at - 1 in full:
            joined[-1] = f"{joined[-1].rstrip()} {line.lstrip()}"
        else:
            joined.append(line)
    return joined


def _full_lines(lines: Sequence[str]) -> frozenset[int]:
    """Return the indexes of the lines to which the next line belongs."""
    if not any(len(line) >= WIDTH_MIN and following for line, following in pairwise(lines)):
        return frozenset()
    pairs = list(_continued(lines))
    width = max((len(lines[at].rstrip()) for at in pairs if "://" not in lines[at]), default=0)
    if not WIDTH_MIN <= width <= WIDTH_MAX:
        return frozenset()
    full = [at for at in pairs if len(lines[at].rstrip()) + 1 + len(lines[at + 1].split(maxsplit=1)[0]) > width]
    if len(full) < FULL_SHARE * len(pairs):
        return frozenset()
    is_sure = len(full) >= SURE_MIN
    return frozenset(at for at in full if is_sure or lines[at + 1].lstrip()[:1].islower())


def _continued(lines: Sequence[str]) -> Iterator[int]:
    """Yield the indexes of the lines of prose that another line of prose follows."""
    is_code = False
    for at, (line, following) in enumerate(pairwise(lines)):
        if FENCE.match(line):
            is_code = not is_code
        elif is_code or NO_PROSE.match(line) or line.endswith(BREAK) or BLOCK.match(following):
            continue
        elif not SPACELESS.search(line[-1:] + following.lstrip()[:1]):
            yield at
