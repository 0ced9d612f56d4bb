"""Unicode normalisation in time that grows with the text: the only place that calls `unicodedata.normalize`.

Python sorts a run of combining marks by insertion, so 80,000 marks behind one letter take seconds. Unicode's
Stream-Safe Text Format (UAX #15, section 13) allows 30 in a row, more than any language needs. The rest is left out.
"""

import re
import unicodedata
from functools import cache
from itertools import takewhile
from typing import Literal

MARKS_MAX = 30
FEW = 9  # so many cannot be more than MARKS_MAX when they and the letter before them are taken apart
FIRST, LAST = 0x300, 0x1F000  # where marks are
# Of combining class 0 themselves, but not what they are taken apart into.
MADE_OF_MARKS = "\u0f73\u0f75\u0f81\uff9e\uff9f"

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]


def normalize(form: Form, text: str) -> str:
    """`unicodedata.normalize`, but for marks that are too many."""
    return unicodedata.normalize(form, text if len(text) <= FEW else bounded(text))


def bounded(text: str) -> str:
    """The text with no more than `MARKS_MAX` marks in a row, counted as NFKD has them."""
    if text.isascii():
        return text
    return long_runs().sub(_cut, text)


def is_mark(character: str) -> bool:
    """Is it a non-starter, or taken apart into some?"""
    return unicodedata.combining(character) != 0 or character in MADE_OF_MARKS


@cache
def long_runs() -> re.Pattern[str]:
    """More than a few marks."""
    others = (character for character in map(chr, range(FIRST, LAST)) if unicodedata.combining(character))
    return re.compile(f"[{''.join(others)}{MADE_OF_MARKS}]{{{FEW + 1},}}")


def _cut(run: re.Match[str]) -> str:
    left = MARKS_MAX - _marks_at_the_end(run.string[run.start() - 1 : run.start()])
    for place, character in enumerate(run[0]):
        left -= _marks_at_the_end(character)
        if left < 0:
            return run[0][:place]
    return run[0]


def _marks_at_the_end(character: str) -> int:
    """How many it ends in when it is taken apart."""
    apart = unicodedata.normalize("NFKD", character)
    return sum(1 for _ in takewhile(unicodedata.combining, reversed(apart)))
