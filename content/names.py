"""The one form in which names are stored and looked up, and the slugs that are made from them."""

import re
import unicodedata
from typing import Literal

from .limits import NAME, SLUG, Bound, quoted
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
    words = (NEITHER.sub(" ", folded) if folded.isascii() else separate_words(folded)).split()
    name = " ".join(words)[: NAME.most]
    if name.isascii() and "'" not in name and "-" not in name:
        return name.rstrip()
    words = OUTER.sub(" ", name).split()
    return " ".join(word for word in words if any(map(str.isalnum, word)))


def compose(text: str, bound: Bound, form: Literal["NFC", "NFD"] = "NFC") -> str:
    """Return a slug or a tag with its letters and accents together, as it is compared.

    File systems and keyboards may take them apart. What is far longer than its bound is nobody's, and stays as it is.
    """
    return normalize(form, text) if len(text) <= COMPOSED_FROM * bound.stored else text


def separate_words(folded: str) -> str:
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


class NoSlug(ValueError):
    """A title without anything to make a slug of."""


def slugify(title: str) -> str:
    """Return a slug: `Austin, Texas` → `austin-texas`. Scripts without ASCII letters keep their own."""
    slug = _joined(title, "-")
    if not slug:
        raise NoSlug(f"{quoted(title)} has no letter or digit to make a slug of: give a slug, or another title")
    return "index-page" if slug == "index" else slug


def is_slug(text: str) -> bool:
    """Return whether a given slug may stand as it is: the ones that slugify makes may, and no others."""
    return text != "index" and text != "" and _joined(text, "-") == text


def numbered_slug(slug: str, n: int) -> str:
    """Return the slug to try when it is taken: n is 2, 3, …"""
    return _with_suffix(slug, f"-{n}", "-")


def section_slug(heading: str) -> str:
    """Return a slug: `Food recommendations` → `food_recommendations`; `section` when the heading has no letter."""
    return _joined(heading, "_") or "section"


def numbered_section(slug: str, n: int) -> str:
    """Return a slug for a heading that a page has twice: `notes` → `notes_2`."""
    return _with_suffix(slug, f"_{n}", "_")


def _joined(name: str, separator: str) -> str:
    words = normalise(name).replace("'", " ").replace("-", " ").split()
    return separator.join(words)[: SLUG.most].rstrip(separator)


def _with_suffix(slug: str, suffix: str, separator: str) -> str:
    return slug[: SLUG.most - len(suffix)].rstrip(separator) + suffix
