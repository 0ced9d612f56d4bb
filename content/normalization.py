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
    """Return `unicodedata.normalize` of the text, but for marks that are too many."""
    return unicodedata.normalize(form, text if len(text) <= FEW else limit_marks(text))


def limit_marks(text: str) -> str:
    """Return the text with no more than `MARKS_MAX` marks in a row, counted as NFKD has them."""
    if text.isascii():
        return text
    return long_runs().sub(_cut, text)


def is_mark(character: str) -> bool:
    """Return whether it is a non-starter, or is taken apart into some."""
    return unicodedata.combining(character) != 0 or character in MADE_OF_MARKS


@cache
def long_runs() -> re.Pattern[str]:
    """Return a pattern for more than a few marks."""
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
    """Return how many marks the character ends in when it is taken apart."""
    apart = unicodedata.normalize("NFKD", character)
    return sum(1 for _ in takewhile(unicodedata.combining, reversed(apart)))


# Accents proper. Marks that are letters of a script (Thai vowels, kana's dakuten, …) lie in that script's own block.
# Hebrew and Arabic leave most vowels out: those that are written go, and so do a hamza's carrier and the tatweel.
ACCENTS = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
)
# Joiners, direction marks, soft hyphens, variation selectors, fillers: nobody sees them, so nobody types them.
# The zero-width space stays: it parts words.
INVISIBLE = re.compile(
    "[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
JAMO = re.compile("[\u1160-\u11ff\ud7b0-\ud7ff]")  # the middles and ends of Korean syllables
LETTERS_MAX = 20_000  # that are remembered
CYRILLIC = re.compile("[\u0400-\u052f]")
# Letters whose stroke or ligature Unicode does not take apart, Cyrillic accents, and the ways to write ' and -.
SPELLINGS = str.maketrans(
    {
        "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ħ": "h", "ŧ": "t", "ı": "i",
        "ё": "е", "ѐ": "е", "ѝ": "и", "’": "'", "‘": "'", "ʼ": "'", "‐": "-", "‑": "-",
    }
)  # fmt: skip


def fold(text: str) -> str:
    """Fold a text: `Café` → `cafe`, `ﬁ` → `fi`; й, が and ไทย keep the marks that make them what they are."""
    if text.isascii():
        return text.lower()
    try:
        return text.translate(FOLDED)
    except NotAlone:
        pass
    composed = normalize("NFC", text)  # most marks have a letter that they make one with
    try:
        return fold_letters(text) if composed == text else composed.translate(FOLDED)
    except NotAlone:
        return fold_letters(text)


class NotAlone(Exception):
    """A character that may change with the one before it: a mark, or a part of a Korean syllable."""


class Folded(dict[int, str]):
    """A cache from code point to how it is folded, of those met before: texts say the same letters again and again."""

    def __missing__(self, code: int) -> str:
        first = normalize("NFKD", chr(code))[0]
        if unicodedata.category(first)[0] == "M" or JAMO.match(first):
            raise NotAlone
        if len(self) >= LETTERS_MAX:
            self.clear()
        return self.setdefault(code, fold_letters(chr(code)))


FOLDED = Folded()


def fold_letters(text: str) -> str:
    """Fold any text as a whole, as `fold` does letter by letter."""
    text = INVISIBLE.sub("", text)
    for _ in range(2):  # folding case can bring back what NFKC replaces, and the other way round
        text = normalize("NFKC", normalize("NFD", text).casefold())
    return normalize("NFC", ACCENTS.sub("", "".join(map(_taken_apart, text.translate(SPELLINGS)))))


def _taken_apart(character: str) -> str:
    """Return a letter and its accents. A marked Cyrillic letter (й, ї, ў) is one letter, not an accented one."""
    return character if CYRILLIC.match(character) else normalize("NFD", character)
