"""The languages of pages, as names of the Postgres configurations that stem their words, and their rare words."""

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache
from heapq import nlargest
from importlib.resources import files
from operator import itemgetter
from typing import Any
from zlib import MAX_WBITS, decompress

import orjson

from .chinese import load_dictionary
from .normalization import fold

# ISO 639-1 codes, as the frontmatter of notes has them.
CODES = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "et": "estonian", "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi",
    "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "nb": "norwegian",
    "ne": "nepali", "nl": "dutch", "nn": "norwegian", "no": "norwegian", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
LANGUAGES = frozenset(CODES.values()) | {"simple"}
COMPOUNDING = ("danish", "dutch", "estonian", "finnish", "german", "hungarian", "norwegian", "swedish")
KEYS = ("language", "lang")


def language_of(metadata: dict[str, Any] | None, default: str) -> str:
    """Return the language that metadata such as `language: german` or `lang: de-AT` gives, else the default."""
    for key in KEYS:
        if isinstance(value := (metadata or {}).get(key), str) and (language := find_configuration(value)):
            return language
    return default


def find_configuration(text: str) -> str | None:
    """Return the Postgres configuration of a language: `German`, `de`, `de_AT` → `german`.

    Any other code of two letters gives `simple`, which does not stem, and any other text gives None.
    """
    name = text.strip().casefold()
    code = name.replace("_", "-").partition("-")[0]
    if name in LANGUAGES:
        return name
    return CODES.get(code) or ("simple" if code.isalpha() and len(code) == 2 else None)


COMMON = 5_000  # words of a language that count as common
RARE = 1  # occurrences in a million words; a word with fewer is rare
USES = re.compile(rb'("[^"]+"): ?(\d+)')
CODE_OF = {language: code for code, language in reversed(CODES.items())}
# The languages whose lists have all forms of each word. The lists of Spanish and German lack many plurals and verb
# forms.
LISTED = frozenset({"dutch", "english", "french", "italian", "portuguese"})

# Patterns of British spellings and their replacements: the list of English has American spellings.
BRITISH = tuple(
    (re.compile(british), american)
    for british, american in (
        ("our", "or"),
        (r"([iy])s(e[drs]?|ers|ing|ations?)$", r"\1z\2"),
        (r"([btv])re(s?)$", r"\1er\2"),
        ("tred$", "tered"),
        (r"ogue(s?)$", r"og\1"),
        (r"mme(s?)$", r"m\1"),
        (r"ll(ed|ing|ers?)$", r"l\1"),
        ("[ao]e", "e"),
        ("ould", "old"),
        ("ence$", "ense"),
        ("ium$", "um"),
    )
)


def is_rare(word: str, language: str) -> bool:
    """Return whether a word is rare in the texts of a language, and so most likely a name or a technical term.

    A hyphenated word is rare if one of its parts is. No word is rare in a language that is not in LISTED.
    """
    language = CODES.get(language, language)
    if language not in LISTED:
        return False
    usual = usual_words(language)
    return any(usual.isdisjoint(_spellings(part, language)) for part in _parts(word))


def is_unlisted(word: str, language: str) -> bool:
    """Return whether the list of a language lacks a word altogether, so that it is not a rare verb either."""
    language = CODES.get(language, language)
    return language in LISTED and not all(
        any(_is_listed(form, language) for form in _spellings(part, language)) for part in _parts(word)
    )


def load_words(language: str) -> None:
    """Read the word lists of a language that `is_rare`, `is_unlisted` and `common_words` need. This is slow: call it in
    a thread."""
    language = CODES.get(language, language)
    common_words(language)
    if language == "zh":
        load_dictionary()
    if language in ("ja", "zh"):
        _hashes("english")  # to recognise names in Latin letters
    if language in LISTED:
        usual_words(language)
        for listed in (language, "english"):  # `is_unlisted` is also called for English, to recognise terms
            _hashes(listed)


def _parts(word: str) -> Iterator[str]:
    """Yield the parts of a word between hyphens, except numbers, in small letters and without a possessive ending."""
    for part in word.casefold().replace("’", "'").removesuffix("'s").split("-"):
        if part and not part.isdigit():
            yield part


def _spellings(word: str, language: str) -> Iterator[str]:
    """Yield the word, and for English also its American spelling."""
    yield word
    if language == "english":
        yield _american(word)


def _is_listed(word: str, language: str) -> bool:
    hashes = _hashes(language)
    at = bisect_left(hashes, hash(word))
    return at < len(hashes) and hashes[at] == hash(word)


def _american(word: str) -> str:
    """Return the American spelling of a word: `organised` → `organized`, `harbour` → `harbor`."""
    for british, american in BRITISH:
        word = british.sub(american, word)
    return word


@cache
def _hashes(language: str) -> "array[int]":
    """Return the sorted hashes of all words of a list. A set of its 150,000 words would take ten times the memory."""
    return array("q", sorted(hash(word) for word, _ in _word_counts(language)))


@cache
def common_words(language: str) -> frozenset[str]:
    """Return the most frequent words of a language, folded; none for a language without a list.

    The first call for a language reads its list, which is slow: call it in a thread.
    """
    return frozenset(fold(word) for word, _ in nlargest(COMMON, _word_counts(language), key=itemgetter(1)))


@cache
def usual_words(language: str) -> frozenset[str]:
    """Return the words that occur in texts of a language at least once in a million words, in small letters."""
    count_min = RARE * sum(count for _, count in _word_counts(language)) / 1_000_000
    return frozenset(word for word, count in _word_counts(language) if count >= count_min)


def _word_counts(language: str) -> Iterator[tuple[str, int]]:
    """Yield each word of a language with the number of its occurrences; nothing for a language without a list.

    The list is parsed word by word, because reading it as a dictionary would take 20 MB.
    """
    path = files("spellchecker") / "resources" / f"{CODE_OF.get(language)}.json.gz"
    if path.is_file():
        for found in USES.finditer(decompress(path.read_bytes(), MAX_WBITS | 16)):
            yield orjson.loads(found[1]), int(found[2])
