"""Normalise Unicode in linear time, and fold texts. Only this module calls `unicodedata.normalize`.

Python sorts a run of combining marks with an insertion sort, so 80,000 marks after one letter take seconds. Unicode's
Stream-Safe Text Format (UAX #15, section 13) allows 30 in a row, more than any language needs. Further marks are
removed.
"""

import re
import unicodedata
from functools import cache
from itertools import takewhile
from typing import Literal

MARKS_MAX = 30
FEW = 9  # marks that, with the letter before them, never decompose into more than MARKS_MAX
MARK_CODES = range(0x300, 0x1F000)  # the code points between which the marks are
# Characters of combining class 0 that decompose into characters of another class.
MADE_OF_MARKS = "\u0f73\u0f75\u0f81\uff9e\uff9f"

JOINER = "\u200d"
JOINER_AND_TONES = f"{JOINER}\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]


def normalize(form: Form, text: str) -> str:
    """Normalise a text as `unicodedata.normalize` does, after removing excess marks."""
    return unicodedata.normalize(form, text if len(text) <= FEW else limit_marks(text))


def limit_marks(text: str) -> str:
    """Return the text with at most `MARKS_MAX` marks in a row, as counted in NFKD."""
    if text.isascii():
        return text
    return long_runs().sub(_cut, text)


def is_joined(text: str, at: int) -> bool:
    """Return whether the character at this position is shown together with the one before it, as marks, the parts of
    an emoji and skin tones are."""
    if not 0 < at < len(text):
        return False
    is_part = text[at] in JOINER_AND_TONES or text[at - 1] == JOINER
    return is_part or unicodedata.category(text[at])[0] == "M"


def whole_letters(text: str, end: int) -> int:
    """Return where to cut a text at the latest, so that no letter before `end` is parted from its marks."""
    start = end
    while is_joined(text, start) and end - start <= MARKS_MAX:
        start -= 1
    return start if start > 0 and not is_joined(text, start) else end


@cache
def long_runs() -> re.Pattern[str]:
    """Return a pattern that matches a run of more than FEW marks."""
    marks = (character for character in map(chr, MARK_CODES) if unicodedata.combining(character))
    return re.compile(f"[{''.join(marks)}{MADE_OF_MARKS}]{{{FEW + 1},}}")


def _cut(run: re.Match[str]) -> str:
    """Return a run of marks, cut where it and the letter before it have more than MARKS_MAX marks."""
    left = MARKS_MAX - _count_final_marks(run.string[run.start() - 1 : run.start()])
    for place, character in enumerate(run[0]):
        left -= _count_final_marks(character)
        if left < 0:
            return run[0][:place]
    return run[0]


def _count_final_marks(character: str) -> int:
    """Return the number of marks at the end of the character's decomposition."""
    apart = unicodedata.normalize("NFKD", character)
    return sum(1 for _ in takewhile(unicodedata.combining, reversed(apart)))


# The accents that folding removes. Marks that are letters of a script (Thai vowels, kana's dakuten, …) are in that
# script's own block and stay. Hebrew and Arabic texts leave most vowel signs out, so these are removed, and so are a
# hamza on another letter and the tatweel.
ACCENTS = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
)
# Joiners, direction marks, soft hyphens, variation selectors and fillers: they are invisible, so queries do not have
# them. The zero-width space is not among them, because it separates words.
INVISIBLE = re.compile(
    "[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
JAMO = re.compile("[\u1160-\u11ff\ud7b0-\ud7ff]")  # the middles and ends of Korean syllables
LETTERS_MAX = 20_000  # entries of a table that is filled on demand
CYRILLIC = re.compile("[\u0400-\u052f]")
# Letters with a stroke and ligatures that Unicode does not decompose, accented Cyrillic letters, and variants of ' and
# -.
SPELLINGS = str.maketrans(
    {
        "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ħ": "h", "ŧ": "t", "ı": "i",
        "ё": "е", "ѐ": "е", "ѝ": "и", "’": "'", "‘": "'", "ʼ": "'", "‐": "-", "‑": "-",
    }
)  # fmt: skip


def fold(text: str) -> str:
    """Fold case and accents of a text: `Café` → `cafe`, `ﬁ` → `fi`; й, が and ไทย keep the marks that are part of
    them."""
    if text.isascii():
        return text.lower()
    try:
        return text.translate(FOLD_TABLE)
    except NotAlone:
        pass
    composed = normalize("NFC", text)  # most marks compose with the letter before them
    try:
        return fold_letters(text) if composed == text else composed.translate(FOLD_TABLE)
    except NotAlone:
        return fold_letters(text)


class NotAlone(Exception):
    """A character cannot be folded alone: it is a mark or a part of a Korean syllable, and may combine with the one
    before."""


class FoldTable(dict[int, str]):
    """A translation table from code point to folded text, filled on demand, because texts repeat the same letters."""

    def __missing__(self, code: int) -> str:
        first = normalize("NFKD", chr(code))[0]
        if unicodedata.category(first)[0] == "M" or JAMO.match(first):
            raise NotAlone
        if len(self) >= LETTERS_MAX:
            self.clear()
        return self.setdefault(code, fold_letters(chr(code)))


FOLD_TABLE = FoldTable()


def fold_letters(text: str) -> str:
    """Fold a text as a whole.

    `fold` gives the same result letter by letter, which is faster but not always possible.
    """
    text = INVISIBLE.sub("", text)
    for _ in range(2):  # case folding can produce characters that NFKC replaces, and the reverse
        text = normalize("NFKC", normalize("NFD", text).casefold())
    return normalize("NFC", ACCENTS.sub("", "".join(map(_decompose, text.translate(SPELLINGS)))))


def _decompose(character: str) -> str:
    """Return a letter decomposed into its base and its accents. The Cyrillic й, ї and ў are not decomposed."""
    return character if CYRILLIC.match(character) else normalize("NFD", character)
