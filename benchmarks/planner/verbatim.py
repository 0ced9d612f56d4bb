"""Checks that a quote on a page is verbatim in its source.

The letters and digits of the quote are in the source in the same order. Between them the source has only white space,
punctuation, and markup that a reader does not see: targets of links, marks of footnotes, and tags. A character
reference stands for its character. Inside code nothing is markup.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from html import unescape

LETTERS = re.compile(r"[\W_]+")
UNSEEN = re.compile(
    r"\]\((?:[^()\n]|\([^()\n]*\))*\)"  # [text](target)
    r"|\]\[[^\[\]\n]*\]"  # [text][reference]
    r"|\[\[[^\[\]|\n]*\|"  # [[target|text]]
    r"|\[\^[^\[\]\s]{1,60}\]"  # a footnote's mark
    r"|</?[A-Za-z][^<>\n]*>"
)
CODE = re.compile("(?<!`)(`+)(?!`)([^\n\r\x0b\x0c\u2028\u2029]+?)(?<!`)\\1(?!`)")  # in one line
REFERENCE = re.compile(r"(?<!\\)&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,31});")
DIRECTION = re.compile("[\u202a-\u202e\u2066-\u2069]")
LINE = re.compile(r"^- .*?: “(.*)” \[\^")
BETWEEN = "” “"


def quotes(line: str) -> list[str]:
    """Return the texts that a line of a section quotes."""
    found = LINE.match(line)
    return found[1].split(BETWEEN) if found else []


def letters(text: str) -> str:
    return LETTERS.sub("", text)


def is_verbatim(quote: str, content: str) -> bool:
    wanted = letters(quote)
    if not wanted:
        return True
    read, unseen = _read(content)
    if wanted in read.letters:
        return True
    return any(_stands(wanted, start, read, unseen) for start in read.starting(wanted[0]))


class Letters:
    """The letters of a text and the index of each in the text."""

    def __init__(self, text: str) -> None:
        self.at = [index for index, character in enumerate(text) if not LETTERS.match(character)]
        self.letters = "".join(text[index] for index in self.at)

    def starting(self, letter: str) -> Iterator[int]:
        return (position for position, other in enumerate(self.letters) if other == letter)

    def next(self, index: int) -> int:
        """Return the position of the first letter at or after `index` in the text."""
        return bisect_left(self.at, index)


@lru_cache(maxsize=2_000)
def _read(content: str) -> tuple[Letters, dict[int, frozenset[int]]]:
    """Return the letters of a text, and the jumps over markup from one position in these letters to others."""
    content = DIRECTION.sub("", _dereferenced(content))
    read = Letters(content)
    code = [span.span() for span in CODE.finditer(content)]
    unseen: dict[int, set[int]] = {}
    for start in range(len(content)):
        found = UNSEEN.match(content, start) if content[start] in "][<" else None
        if found and not any(first <= start < last for first, last in code):
            unseen.setdefault(read.next(start), set()).add(read.next(found.end()))
    return read, {position: frozenset(others) for position, others in unseen.items()}


def _dereferenced(content: str) -> str:
    """Return the text with characters in place of the references to them that are outside of code."""
    parts, at = [], 0
    for span in CODE.finditer(content):
        parts += [REFERENCE.sub(lambda found: unescape(found[0]), content[at : span.start()]), span[0]]
        at = span.end()
    return "".join([*parts, REFERENCE.sub(lambda found: unescape(found[0]), content[at:])])


def _stands(wanted: str, start: int, read: Letters, unseen: dict[int, frozenset[int]]) -> bool:
    """Return whether the letters follow from `start` on, each next to the one before or after invisible markup."""
    positions = {start}
    for number, letter in enumerate(wanted):
        if number:
            positions = _beyond(positions, unseen)
        positions = {position + 1 for position in positions if read.letters[position : position + 1] == letter}
        if not positions:
            return False
    return True


def _beyond(positions: set[int], unseen: dict[int, frozenset[int]]) -> set[int]:
    """Return the positions, and those after any markup that begins there or follows it."""
    found, fresh = set(positions), positions
    while fresh := {further for position in fresh for further in unseen.get(position, ())} - found:
        found |= fresh
    return found
