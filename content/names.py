"""The one form in which names are stored and looked up."""

import re
import unicodedata
from typing import Literal

from .limits import NAME, Bound
from .normalization import LETTERS_MAX, fold, normalize

COMPOSED_FROM = 4  # characters that one may be taken apart into

NEITHER = re.compile("[^a-z0-9'-]+")  # in ASCII that was folded
# An apostrophe or hyphen that does not stand between two letters.
OUTER = re.compile(r"(?<![^\s'-])['-]|['-](?![^\s'-])")


def normalise(name: str) -> str:
    """Normalise a name: `Café  Mocha!` → `cafe mocha`.

    The result may be "": such a name is no alias. Doing it twice changes nothing.
    """
    folded = fold(name)
    words = (NEITHER.sub(" ", folded) if folded.isascii() else parted(folded)).split()
    name = " ".join(words)[: NAME.most]
    if name.isascii() and "'" not in name and "-" not in name:
        return name.rstrip()
    words = OUTER.sub(" ", name).split()
    return " ".join(word for word in words if any(map(str.isalnum, word)))


def composed(text: str, bound: Bound, form: Literal["NFC", "NFD"] = "NFC") -> str:
    """Return a slug or a tag with its letters and accents together, as it is compared.

    File systems and keyboards may take them apart. What is far longer than its bound is nobody's, and stays as it is.
    """
    return normalize(form, text) if len(text) <= COMPOSED_FROM * bound.stored else text


def parted(folded: str) -> str:
    """Replace all that belongs to no word by spaces."""
    return folded.translate(PARTED)


class Parted(dict[int, str]):
    """A cache from code point to itself or a space, of those met before."""

    def __missing__(self, code: int) -> str:
        if len(self) >= LETTERS_MAX:
            self.clear()
        return self.setdefault(code, chr(code) if _in_word(chr(code)) else " ")


PARTED = Parted()


def _in_word(character: str) -> bool:
    return character.isalnum() or character in "'-" or unicodedata.category(character) in ("Mn", "Mc")
