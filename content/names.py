"""The one form in which names are stored and looked up."""

import re
import unicodedata

from .folding import fold

ALIAS_MAX = 200

NEITHER = re.compile("[^a-z0-9'-]+")  # in ASCII that was folded
# An apostrophe or hyphen that does not stand between two letters.
OUTER = re.compile(r"(?<![^\s'-])['-]|['-](?![^\s'-])")


def normalise(name: str) -> str:
    """`Café  Mocha!` → `cafe mocha`. May be "": such a name is no alias. Doing it twice changes nothing."""
    folded = fold(name)
    words = (NEITHER.sub(" ", folded) if folded.isascii() else parted(folded)).split()
    words = OUTER.sub(" ", " ".join(words)[:ALIAS_MAX]).split()
    return " ".join(word for word in words if any(map(str.isalnum, word)))


def parted(folded: str) -> str:
    """With spaces for all that belongs to no word, character by character."""
    return "".join(character if _in_word(character) else " " for character in folded)


def _in_word(character: str) -> bool:
    return character.isalnum() or character in "'-" or unicodedata.category(character) in ("Mn", "Mc")
