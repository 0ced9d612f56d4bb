"""Normalise names for storage and lookup, and make slugs from them."""

import re
import unicodedata
from typing import Literal

from .limits import NAME, SLUG, Bound, quoted
from .normalization import LETTERS_MAX, fold, normalize

COMPOSED_FROM = 4  # characters that one character decomposes into at most

NON_WORD = re.compile("[^a-z0-9'-]+")  # characters of folded ASCII that belong to no word
# An apostrophe or hyphen that does not stand between two letters.
OUTER = re.compile(r"(?<![^\s'-])['-]|['-](?![^\s'-])")


def normalise(name: str) -> str:
    """Normalise a name: `Café  Mocha!` → `cafe mocha`.

    The result may be "", and such a name cannot be an alias. The function is idempotent.
    """
    folded = fold(name)
    words = (NON_WORD.sub(" ", folded) if folded.isascii() else separate_words(folded)).split()
    name = " ".join(words)[: NAME.maximum]
    if name.isascii() and "'" not in name and "-" not in name:
        return name.rstrip()
    words = OUTER.sub(" ", name).split()
    return " ".join(word for word in words if any(map(str.isalnum, word)))


def compose(text: str, bound: Bound, form: Literal["NFC", "NFD"] = "NFC") -> str:
    """Return a slug or a tag in a Unicode normal form, by default with composed letters, for comparison.

    File systems and keyboards may write a letter and its accent as two characters. A text far above its limit cannot
    match anything and is returned unchanged.
    """
    return normalize(form, text) if len(text) <= COMPOSED_FROM * bound.stored else text


def separate_words(folded: str) -> str:
    """Replace the characters that belong to no word by spaces."""
    return folded.translate(WORD_TABLE)


class WordTable(dict[int, str]):
    """A translation table, filled on demand: a character of a word maps to itself, any other to a space."""

    def __missing__(self, code: int) -> str:
        if len(self) >= LETTERS_MAX:
            self.clear()
        return self.setdefault(code, chr(code) if _in_word(chr(code)) else " ")


WORD_TABLE = WordTable()


def _in_word(character: str) -> bool:
    return character.isalnum() or character in "'-" or unicodedata.category(character) in ("Mn", "Mc")


class NoSlug(ValueError):
    """A title has no letter and no digit from which a slug could be made."""


def slugify(title: str) -> str:
    """Return the slug of a title: `Austin, Texas` → `austin-texas`. Letters of other scripts than Latin are kept."""
    slug = _join_words(title, "-")
    if not slug:
        raise NoSlug(f"{quoted(title)} has no letter or digit to make a slug of: give a slug, or another title")
    return "index-page" if slug == "index" else slug


def is_slug(text: str) -> bool:
    """Return whether a text is a valid slug, which means that `slugify` would leave it unchanged."""
    return text != "index" and text != "" and _join_words(text, "-") == text


def numbered_slug(slug: str, n: int) -> str:
    """Return the slug to try next if `slug` is taken, for n = 2, 3, …: `slug-2`, `slug-3`."""
    return _with_suffix(slug, f"-{n}", "-")


def section_slug(heading: str) -> str:
    """Return a section's slug: `Food recommendations` → `food_recommendations`; `section` if the heading has no letter
    or digit."""
    return _join_words(heading, "_") or "section"


def numbered_section(slug: str, n: int) -> str:
    """Return the slug of a section whose slug is taken on its page: `notes` → `notes_2`."""
    return _with_suffix(slug, f"_{n}", "_")


def _join_words(name: str, separator: str) -> str:
    words = normalise(name).replace("'", " ").replace("-", " ").split()
    return separator.join(words)[: SLUG.maximum].rstrip(separator)


def _with_suffix(slug: str, suffix: str, separator: str) -> str:
    return slug[: SLUG.maximum - len(suffix)].rstrip(separator) + suffix
