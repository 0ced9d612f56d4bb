"""The one form in which names are stored and looked up."""

import re
import unicodedata

ALIAS_MAX = 200

# Accents proper. Marks that are letters of a script (Thai vowels, kana's dakuten, …) lie in that script's own block.
ACCENTS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
# Joiners, direction marks, soft hyphens, variation selectors, fillers: nobody sees them, so nobody types them.
# The zero-width space stays: it parts words.
INVISIBLE = re.compile(
    "[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
CYRILLIC = re.compile("[\u0400-\u052f]")
# Letters whose stroke or ligature Unicode does not take apart, Cyrillic accents, and the ways to write ' and -.
SPELLINGS = str.maketrans(
    {
        "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ħ": "h", "ŧ": "t", "ı": "i",
        "ё": "е", "ѐ": "е", "ѝ": "и", "’": "'", "‘": "'", "ʼ": "'", "‐": "-", "‑": "-",
    }
)  # fmt: skip
# An apostrophe or hyphen that does not stand between two letters.
OUTER = re.compile(r"(?<![^\s'-])['-]|['-](?![^\s'-])")


def normalise(name: str) -> str:
    """`Café  Mocha!` → `cafe mocha`. May be "": such a name is no alias. Doing it twice changes nothing."""
    words = "".join(character if _in_word(character) else " " for character in _folded(name)).split()
    words = OUTER.sub(" ", " ".join(words)[:ALIAS_MAX]).split()
    return " ".join(word for word in words if any(map(str.isalnum, word)))


def _folded(name: str) -> str:
    """Compatible forms, case and accents folded away; й, が and ไทย keep the marks that make them what they are."""
    text = INVISIBLE.sub("", name)
    for _ in range(2):  # folding case can bring back what NFKC replaces, and the other way round
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", text).casefold())
    return unicodedata.normalize("NFC", ACCENTS.sub("", "".join(map(_taken_apart, text.translate(SPELLINGS)))))


def _taken_apart(character: str) -> str:
    """A letter and its accents. A marked Cyrillic letter (й, ї, ў) is a letter of its own, not an accented one."""
    return character if CYRILLIC.match(character) else unicodedata.normalize("NFD", character)


def _in_word(character: str) -> bool:
    return character.isalnum() or character in "'-" or unicodedata.category(character) in ("Mn", "Mc")
